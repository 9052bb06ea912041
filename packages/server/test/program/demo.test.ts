import { execFile } from "node:child_process"
import { chmodSync, existsSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { describe, expect, it, onTestFinished } from "vitest"
import { directory, eventually, leaked, Program } from "./Program.ts"

const started = (dataDir: string, more: { readonly uid?: number; readonly gid?: number } = {}) =>
  new Program({ args: [], env: { WAYBILL_PORT: "0", WAYBILL_DATA_DIR: dataDir }, ...more })

const delivered = (program: Program) =>
  eventually(() => program.stdout.match(/✓ signed delivery .*/g) ?? undefined, { what: () => `a delivery:\n${program.output}` })

const curlOf = (program: Program) => program.stdout.split("\n").find((line) => line.trim().startsWith("curl "))!.trim()

interface EventsPage {
  readonly data: ReadonlyArray<{ readonly eventId: string }>
  readonly totalCount: number
}

/** Runs the command as a person would, by a shell. */
const eventsBy = async (curl: string): Promise<EventsPage> => JSON.parse((await promisify(execFile)("sh", ["-c", curl])).stdout)

const databaseOf = (dataDir: string) => Number(readFileSync(join(dataDir, "postgres/data/postmaster.pid"), "utf8").split("\n")[0])

const lives = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe("the demo on the embedded database", { timeout: 90_000 }, () => {
  it("prints a command that works, delivers signed events, and goes on after a restart with the same keys", async () => {
    const dataDir = join(directory(), "data")
    const first = started(dataDir)
    const url = await first.ready()
    await delivered(first)
    expect(first.stdout).toContain(url)
    const page = await eventsBy(curlOf(first))
    expect(page.data.length).toBeGreaterThan(0)
    expect(await first.kill("SIGTERM")).toEqual({ code: 0, signal: null })
    expect(existsSync(join(dataDir, "postgres/data/postmaster.pid"))).toBe(false)

    const second = started(dataDir)
    await second.ready()
    await delivered(second)
    const key = (program: Program) => /API key: (wb\.\S+)/.exec(program.stdout)![1]!
    expect(key(second)).toBe(key(first))
    const after = await eventsBy(curlOf(second).replace("pageSize=3", "pageSize=500"))
    expect(new Set(after.data.map(({ eventId }) => eventId)).size).toBe(after.data.length)
    expect(after.data.map(({ eventId }) => eventId)).toEqual(expect.arrayContaining(page.data.map(({ eventId }) => eventId)))
    expect(await second.kill("SIGINT")).toEqual({ code: 0, signal: null })

    const demo = JSON.parse(readFileSync(join(dataDir, "demo.json"), "utf8"))
    const secrets = [
      ...["operator-key", "sealing-key", "postgres/password"].map((name) => readFileSync(join(dataDir, name), "utf8").trim()),
      demo.secret,
      demo.carrierKey
    ]
    expect(leaked(first.output + second.output, secrets)).toEqual([])
    // the customer's is there to be shown, but only to people
    expect(leaked(first.stderr + second.stderr, [demo.customerKey])).toEqual([])
    expect(second.log.filter(({ level }) => level !== "info")).toEqual([])
  })

  it("leaves no Postgres behind when it is killed, and starts again", async () => {
    const dataDir = join(directory(), "data")
    const first = started(dataDir)
    await first.ready()
    const database = databaseOf(dataDir)
    await first.kill("SIGKILL")
    const second = started(dataDir)
    await second.ready()
    await delivered(second)
    await eventually(() => lives(database) ? undefined : true, { what: () => "the end of the first Postgres" })
    expect(databaseOf(dataDir)).not.toBe(database)
    expect(await second.kill("SIGTERM")).toEqual({ code: 0, signal: null })
  })

  it("starts its Postgres again when that is killed", async () => {
    const dataDir = join(directory(), "data")
    const program = started(dataDir)
    const url = await program.ready()
    const database = databaseOf(dataDir)
    process.kill(database, "SIGKILL")
    await eventually(() => program.log.find(({ message }) => String(message).includes("ended by itself")))
    await eventually(async () => (await fetch(`${url}/readyz`)).status === 200 && databaseOf(dataDir) !== database ? true : undefined)
    expect(await program.kill("SIGTERM")).toEqual({ code: 0, signal: null })
  })

  it("refuses a second server on one data directory", async () => {
    const dataDir = join(directory(), "data")
    const first = started(dataDir)
    await first.ready()
    const second = started(dataDir)
    expect(await second.end()).toEqual({ code: 1, signal: null })
    expect(second.stderr).toContain("Another Waybill runs on the embedded database in")
    expect(second.stderr).toContain("WAYBILL_DATA_DIR")
    expect(await first.kill("SIGTERM")).toEqual({ code: 0, signal: null })
  })

  it.runIf(process.getuid?.() === 0)("runs as an ordinary user", async () => {
    const id = async (flag: string) => Number((await promisify(execFile)("id", [flag, "nobody"])).stdout)
    const nobody = { uid: await id("-u"), gid: await id("-g") }
    const dataDir = join(directory(nobody), "data")
    for (let round = 1; round <= 2; round++) {
      const program = started(dataDir, nobody)
      await program.ready()
      await delivered(program)
      expect(await program.kill("SIGTERM")).toEqual({ code: 0, signal: null })
    }
  })

  it.runIf(process.getuid?.() === 0)("finds a place for its Postgres when root's directory keeps everybody else out", async () => {
    const closed = directory()
    chmodSync(closed, 0o700)
    const dataDir = join(closed, "data")
    const program = started(dataDir)
    await program.ready()
    const home = readFileSync(join(dataDir, "postgres-home"), "utf8").trim()
    onTestFinished(() => rmSync(home, { recursive: true, force: true }))
    expect(home).toMatch(/^\/var\/lib\/waybill\/[0-9a-f]{8}$/)
    const told = await eventually(() => program.log.find(({ message }) => String(message).includes(home)))
    expect(told["message"]).toContain("Postgres refuses to run as root")
    await delivered(program)
    expect(await program.kill("SIGTERM")).toEqual({ code: 0, signal: null })
  })
})
