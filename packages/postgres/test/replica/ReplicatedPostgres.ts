/** A primary with synchronous commits, and a standby that follows it by streaming replication. */
import { execFile } from "node:child_process"
import { randomBytes } from "node:crypto"
import { appendFileSync, chownSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { join } from "node:path"
import { promisify } from "node:util"
import { inject } from "vitest"

export interface PostgresServer {
  readonly url: string
  readonly start: () => Promise<void>
  /** Ends it at once, with every connection. */
  readonly stop: () => Promise<void>
  /** Keeps its connections open and answers nothing, until the returned function is called. */
  readonly freeze: () => () => void
  /** Makes a standby a primary of its own. */
  readonly promote: () => Promise<void>
}

export interface ReplicatedPostgres {
  readonly primary: PostgresServer
  readonly standby: PostgresServer
  readonly stop: () => Promise<void>
}

const settings = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  fsync: "off",
  wal_level: "replica",
  shared_buffers: "32MB",
  max_parallel_workers_per_gather: 0
}

/** The standby begins as a copy of the stopped primary. */
export const startReplicatedPostgres = async (): Promise<ReplicatedPostgres> => {
  const programs = inject("pgPrograms")
  if (programs === null) throw new Error("The test needs the programs of Postgres.")
  const { directory, initdb, pg_ctl, user } = programs
  const base = mkdtempSync(join(directory, "replicated-"))
  const password = randomBytes(12).toString("hex")
  const own = (path: string) => user === undefined ? undefined : chownSync(path, user.uid, user.gid)
  own(base)
  writeFileSync(join(base, "password"), password, { mode: 0o600 })
  own(join(base, "password"))
  const run = (file: string, ...args: ReadonlyArray<string>) => promisify(execFile)(file, args, { ...user, cwd: base, env: { ...process.env, LC_ALL: "C" } })

  const serverIn = async (data: string): Promise<PostgresServer> => {
    const port = await freePort()
    return {
      url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
      start: async () => {
        const log = `${data}.log`
        await run(pg_ctl, "start", "-D", data, "-w", "-l", log, "-o", `-p ${port}`).catch((cause: unknown) => {
          throw new Error(`A Postgres did not start:\n${readFileSync(log, "utf8")}`, { cause })
        })
      },
      stop: async () => void await run(pg_ctl, "stop", "-D", data, "-w", "-m", "immediate"),
      promote: async () => void await run(pg_ctl, "promote", "-D", data, "-w"),
      freeze: () => {
        const pids = processesOf(Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n", 1)[0]))
        for (const pid of pids) process.kill(pid, "SIGSTOP")
        return () => pids.forEach((pid) => process.kill(pid, "SIGCONT"))
      }
    }
  }

  const [primaryData, standbyData] = [join(base, "primary"), join(base, "standby")]
  mkdirSync(primaryData)
  own(primaryData)
  await run(initdb, `--pgdata=${primaryData}`, "--username=postgres", `--pwfile=${join(base, "password")}`, "--auth=scram-sha-256", "--no-sync", "--encoding=UTF8", "--locale=C")
  appendFileSync(join(primaryData, "postgresql.conf"), Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`).join(""))
  const [primary, standby] = [await serverIn(primaryData), await serverIn(standbyData)]

  mkdirSync(standbyData, { mode: 0o700 })
  cpSync(primaryData, standbyData, { recursive: true })
  const { port } = new URL(primary.url)
  writeFileSync(join(standbyData, "standby.signal"), "")
  appendFileSync(
    join(standbyData, "postgresql.conf"),
    `primary_conninfo = 'host=127.0.0.1 port=${port} user=postgres password=${password}'\nwal_retrieve_retry_interval = '100ms'\n`
  )
  for (const path of [standbyData, ...(readdirSync(standbyData, { recursive: true }) as Array<string>).map((name) => join(standbyData, name))]) own(path)

  await primary.start()
  await standby.start()
  const stop = async () => {
    await Promise.allSettled([standby.stop(), primary.stop()])
    rmSync(base, { recursive: true, force: true })
  }
  return { primary, standby, stop }
}

/** The server's main process and its children. */
const processesOf = (main: number): ReadonlyArray<number> =>
  [main, ...readdirSync("/proc").map(Number).filter((pid) => pid > 0 && parentOf(pid) === main)]

const parentOf = (pid: number): number | undefined => {
  try {
    return Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1])
  } catch {
    return undefined
  }
}

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer().once("error", reject).listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
