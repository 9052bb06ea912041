/** A Postgres of this run, started like the embedded one: durable, and restarted as by operators or accidents. */
import { PgClient } from "@waybill/postgres"
import { Effect, ManagedRuntime, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { execFile, spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { appendFileSync, chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { findBinaries } from "../../src/database/Binaries.ts"
import { place, type Placement } from "../../src/database/Placement.ts"
import { type Postmaster, startPostmaster } from "../../src/database/Postmaster.ts"
import { pause } from "./Plan.ts"

/** `killed`: one of its processes is killed, after which it recovers and goes on by itself. */
export type RestartMode = "fast" | "immediate" | "killed"

const user = "waybill"

export class Cluster {
  readonly port: number
  readonly password: string
  private readonly base: string
  private readonly placement: Placement
  private readonly artifacts: string
  private readonly unwatch: () => void
  private postmaster: Postmaster | undefined
  private stopping = false
  /** It exited unexpectedly. */
  endedByItself = false

  private constructor(given: { base: string; placement: Placement; password: string; port: number; artifacts: string }) {
    this.base = given.base
    this.placement = given.placement
    this.password = given.password
    this.port = given.port
    this.artifacts = given.artifacts
    this.unwatch = removeWhenThisProcessEnds(given.base)
  }

  static async start(artifacts: string): Promise<Cluster> {
    const base = mkdtempSync(join(tmpdir(), "waybill-chaos-"))
    chmodSync(base, 0o755)
    const password = randomBytes(24).toString("hex")
    try {
      const placement = await Effect.runPromise(Effect.flatMap(findBinaries, (binaries) => place(base, binaries)))
      await initialize(placement, password)
      const cluster = new Cluster({ base, placement, password, port: await freePort(), artifacts })
      await cluster.begin()
      return cluster
    } catch (error) {
      rmSync(base, { recursive: true, force: true, maxRetries: 5 })
      throw error
    }
  }

  urlAt(port: number): string {
    return `postgres://${user}:${this.password}@127.0.0.1:${port}/postgres`
  }

  private async begin(): Promise<void> {
    for (let attempt = 1;; attempt++) {
      try {
        this.postmaster = await startPostmaster(this.placement, this.port)
        break
      } catch (error) {
        if (attempt === 20) throw error
        await pause(100)
      }
    }
    this.stopping = false
    const { postmaster } = this
    void postmaster.exited.then(() => {
      if (!this.stopping && this.postmaster === postmaster) this.endedByItself = true
    })
  }

  /** Stops it for that long and starts it again. */
  async restart(mode: Exclude<RestartMode, "killed">, downMillis: number): Promise<void> {
    const { postmaster } = this
    if (postmaster === undefined) throw new Error("The cluster is not running.")
    this.stopping = true
    process.kill(postmaster.pid, mode === "fast" ? "SIGINT" : "SIGQUIT")
    await postmaster.exited
    this.keepLog(mode)
    await pause(downMillis)
    await this.begin()
  }

  private keepLog(title: string): void {
    try {
      appendFileSync(join(this.artifacts, "postgres.log"), `--- ${title}\n${readFileSync(join(this.placement.home, "log"), "utf8")}`)
    } catch {
      // The run continues without it.
    }
  }

  async remove(): Promise<void> {
    this.stopping = true
    await this.postmaster?.stop()
    this.keepLog("end")
    rmSync(this.base, { recursive: true, force: true, maxRetries: 5 })
    this.unwatch()
  }
}

/** SQL of the test itself, without any proxy. Fails while the database is down. */
export class Console {
  private readonly runtime: ManagedRuntime.ManagedRuntime<PgClient.PgClientService | SqlClient.SqlClient, unknown>

  constructor(url: string, connections: number) {
    this.runtime = ManagedRuntime.make(PgClient.layer({ url: Redacted.make(url), maxConnections: connections, applicationName: "chaos", idleTimeout: "1 second" }))
  }

  run<Row extends object>(text: string, values: ReadonlyArray<unknown> = []): Promise<ReadonlyArray<Row>> {
    return this.runtime.runPromise(Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe<Row>(text, values)))
  }

  close(): Promise<void> {
    return this.runtime.dispose()
  }
}

const initialize = async ({ account, bin, cluster, home }: Placement, password: string): Promise<void> => {
  const passwordFile = join(home, "initial-password")
  mkdirSync(cluster, { mode: 0o700 })
  writeFileSync(passwordFile, password, { mode: 0o600 })
  if (account !== undefined) for (const path of [cluster, passwordFile]) chownSync(path, account.uid, account.gid)
  await promisify(execFile)(join(bin, "initdb"), [
    `--pgdata=${cluster}`, `--username=${user}`, `--pwfile=${passwordFile}`, "--auth=scram-sha-256",
    "--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"
  ], {
    cwd: cluster,
    env: { PATH: process.env["PATH"] ?? "", LC_ALL: "C", TZ: "UTC" },
    ...(account === undefined ? {} : { uid: account.uid, gid: account.gid })
  })
}

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer().once("error", reject).listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })

/** A separate process that removes the directory even when this one is killed. Postgres has its own watch that stops it. */
const removeWhenThisProcessEnds = (base: string): () => void => {
  const watch = `
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {})
    const { existsSync, rmSync } = require("node:fs")
    const base = process.argv[1]
    process.stdin.resume().on("close", () => {
      const until = Date.now() + 30_000
      const look = setInterval(() => {
        if (existsSync(base + "/postgres/data/postmaster.pid") && Date.now() < until) return
        clearInterval(look)
        rmSync(base, { recursive: true, force: true, maxRetries: 5 })
      }, 100)
    })`
  const child = spawn(process.execPath, ["-e", watch, base], { cwd: "/", detached: true, stdio: ["pipe", "ignore", "ignore"] })
  child.unref()
  child.stdin.on("error", () => {})
  return () => child.stdin.end()
}
