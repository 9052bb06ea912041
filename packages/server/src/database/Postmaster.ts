/** The main process of a Postgres cluster: find, start and stop it. */
import { Effect } from "effect"
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { closeSync, openSync, rmSync } from "node:fs"
import { readFile, rm } from "node:fs/promises"
import { createServer, type AddressInfo } from "node:net"
import { join } from "node:path"
import { promisify } from "node:util"
import { EmbeddedPostgresFailed } from "./Binaries.ts"
import type { Placement } from "./Placement.ts"

/** Command line settings take precedence over the files of the cluster. */
const settings = (port: number): Readonly<Record<string, string>> => ({
  port: String(port),
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "200",
  fsync: "on",
  full_page_writes: "on",
  log_checkpoints: "off",
  // /dev/shm may be tiny in a container.
  max_parallel_workers_per_gather: "0",
  max_parallel_maintenance_workers: "0"
})

const startMillis = 60_000
const stopMillis = 30_000
const pollMillis = 20

/** A running cluster. */
export interface Postmaster {
  readonly pid: number
  /** Resolves when the process exits. */
  readonly exited: Promise<void>
  readonly stop: () => Promise<void>
}

/** A separate error, because another port can be tried. */
export class PortInUse extends Error {
  constructor(port: number) {
    super(`port ${port} is in use`)
  }
}

/** Starts the cluster and waits until it accepts connections. */
export const startPostmaster = async (placement: Placement, port: number): Promise<Postmaster> => {
  const { account, bin, cluster, home } = placement
  const logFile = join(home, "log")
  // a new file: sessions of a Postgres that was killed may still write into its own
  rmSync(logFile, { force: true })
  const log = openSync(logFile, "wx", 0o600)
  const args = ["-D", cluster, ...Object.entries(settings(port)).flatMap(([name, value]) => ["-c", `${name}=${value}`])]
  const child = spawn(join(bin, "postgres"), args, {
    cwd: cluster,
    env: { PATH: process.env["PATH"] ?? "", LC_ALL: "C", TZ: "UTC" },
    stdio: ["ignore", log, log],
    // Ctrl-C goes to this process, which stops Postgres after its own shutdown.
    detached: true,
    ...(account === undefined ? {} : { uid: account.uid, gid: account.gid })
  })
  closeSync(log)
  const exited = once(child, "exit").then(() => {}, () => {})
  const failed = await untilReady(child, cluster, exited)
  if (failed) {
    const logText = await readFile(logFile, "utf8").catch(() => "")
    if (/Address already in use/i.test(logText)) throw new PortInUse(port)
    const why = logText.split("\n").filter((line) => /FATAL|ERROR|HINT|error/.test(line)).slice(-3).join(" ") || logText.trim().split("\n").slice(-2).join(" ")
    throw new Error(why === "" ? `it exited without a message in ${logFile}` : `${why} (full log: ${logFile})`)
  }
  const pid = child.pid!
  const watch = stopWhenThisProcessEnds(cluster, pid)
  void exited.then(() => watch.stdin?.end())
  return {
    pid,
    exited,
    stop: async () => {
      await stopProcess(pid, exited)
      watch.stdin?.end()
    }
  }
}

/** Returns whether it failed. */
const untilReady = async (child: ChildProcess, cluster: string, exited: Promise<void>): Promise<boolean> => {
  let hasExited = false
  void exited.then(() => {
    hasExited = true
  })
  for (const until = performance.now() + startMillis; performance.now() < until;) {
    if (hasExited) return true
    const found = await readPidFile(cluster)
    if (found !== undefined && found.pid === child.pid && found.ready) return false
    await pause()
  }
  child.kill("SIGQUIT")
  return true
}

const pause = () => new Promise<void>((resolve) => setTimeout(resolve, pollMillis))

/** Fast shutdown: ends sessions and writes all commits. Escalates if that does not work. */
const stopProcess = async (pid: number, exited: Promise<void>): Promise<void> => {
  for (const signal of ["SIGINT", "SIGQUIT", "SIGKILL"] as const) {
    if (!sendSignal(pid, signal)) return
    const timeout = new Promise<"timeout">((resolve) => setTimeout(resolve, signal === "SIGINT" ? stopMillis : 5_000, "timeout").unref())
    if (await Promise.race([exited, timeout]) !== "timeout") return
  }
}

const sendSignal = (pid: number, signal: NodeJS.Signals | 0): boolean => {
  try {
    return process.kill(pid, signal)
  } catch (error) {
    return (error as { readonly code?: unknown }).code === "EPERM"
  }
}

interface PidFile {
  readonly pid: number
  readonly ready: boolean
}

/** Reads postmaster.pid: process id in line 1, status in line 8. */
const readPidFile = async (cluster: string): Promise<PidFile | undefined> => {
  const lines = (await readFile(join(cluster, "postmaster.pid"), "utf8").catch(() => "")).split("\n")
  const pid = Number(lines[0])
  return Number.isInteger(pid) && pid > 0 ? { pid, ready: lines[7]?.trim() === "ready" } : undefined
}

/**
 * A killed server may have left its Postgres running, or a pid file whose id now belongs to another process. The data
 * directory is locked, so no other server uses the cluster: the process is stopped, or the file removed.
 */
export const stopLeftover = async (cluster: string): Promise<"none" | "stopped" | "stale"> => {
  const found = await readPidFile(cluster)
  if (found === undefined) return "none"
  if (!sendSignal(found.pid, 0)) return "none"
  if (!await servesCluster(found.pid, cluster)) {
    await rm(join(cluster, "postmaster.pid"), { force: true })
    return "stale"
  }
  const exited = (async () => {
    while (sendSignal(found.pid, 0)) await pause()
  })()
  await stopProcess(found.pid, exited)
  await exited
  return "stopped"
}

/** Whether this process is the main process of this cluster. */
const servesCluster = async (pid: number, cluster: string): Promise<boolean> => {
  const command = process.platform === "linux"
    ? (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).split("\0").join(" ")
    : await promisify(execFile)("ps", ["-ww", "-o", "command=", "-p", String(pid)]).then(({ stdout }) => stdout, () => "")
  return command.includes(` -D ${cluster} `)
}

/**
 * Starts a shell whose input ends when this process does, even if killed. It then stops Postgres, if the process id
 * still belongs to this cluster.
 */
const stopWhenThisProcessEnds = (cluster: string, pid: number): ChildProcess => {
  const script = "trap '' INT TERM HUP; cat >/dev/null; [ \"$(head -n 1 \"$0/postmaster.pid\" 2>/dev/null)\" = \"$1\" ] && kill -INT \"$1\""
  const watch = spawn("/bin/sh", ["-c", script, cluster, String(pid)], {
    cwd: "/",
    env: { PATH: process.env["PATH"] ?? "" },
    stdio: ["pipe", "ignore", "ignore"],
    detached: true
  })
  // Without a shell, the next start stops the leftover process.
  watch.on("error", () => {})
  watch.stdin?.on("error", () => {})
  watch.unref()
  return watch
}

export const freePort: Effect.Effect<number, EmbeddedPostgresFailed> = Effect.callback((resume) => {
  const server = createServer()
  server.once("error", (cause) => resume(Effect.fail(new EmbeddedPostgresFailed({ message: `No port is free on 127.0.0.1: ${cause.message}.` }))))
  server.listen(0, "127.0.0.1", () => {
    const { port } = server.address() as AddressInfo
    server.close(() => resume(Effect.succeed(port)))
  })
})
