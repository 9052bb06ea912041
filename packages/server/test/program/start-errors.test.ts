import { makeCertificate } from "@waybill/conformance/hostile"
import { createServer } from "node:net"
import { describe, expect, inject, it, onTestFinished } from "vitest"
import pg from "pg"
import { runProcess } from "../commands/Cli.ts"
import { tlsDatabase } from "../database/TlsDatabase.ts"
import { directory, leaked, Program, sharedSettings } from "./Program.ts"

const pgUrl = inject("pgUrl")

/** Why a server does not start: its last log entry. */
const reasonOf = async (program: Program): Promise<string> => {
  expect(await program.end()).toEqual({ code: 1, signal: null })
  expect(program.stderr.trim().split("\n").filter((line) => !line.startsWith("{"))).toEqual([])
  const last = program.log.at(-1)!
  expect(last).toMatchObject({ level: "error", time: expect.any(String) })
  return last["message"]
}

describe("a server that cannot start", { timeout: 90_000 }, () => {
  it("says why in one entry of its JSON log, or in plain text in a pretty log", async () => {
    const { env } = sharedSettings(pgUrl)
    expect(await reasonOf(new Program({ env: { ...env, WAYBILL_PORT: "http" } }))).toMatch(/^WAYBILL_PORT is "http"/)
    const pretty = new Program({ env: { ...env, WAYBILL_PORT: "http", WAYBILL_LOG_FORMAT: "pretty" } })
    await pretty.end()
    expect(pretty.stderr).toMatch(/^waybill: WAYBILL_PORT is "http"/)
  })

  it("refuses a database certificate that nobody signed at once, and says how to name its authority", async () => {
    const port = await tlsDatabase(makeCertificate({ name: "db", hosts: ["localhost", "127.0.0.1"] }))
    const at = (mode: string) => sharedSettings(`postgres://waybill:not-the-password@localhost:${port}/freight?sslmode=${mode}`).env
    const program = new Program({ env: at("verify-full") })
    const reason = await reasonOf(program)
    expect(reason).toMatch(/^The database at localhost:\d+\/freight has a certificate that is refused: self-signed certificate.*sslmode=verify-full&sslrootcert=/)
    expect(leaked(program.output, ["not-the-password"])).toEqual([])
  })

  it("says at once that the database offers no TLS, when the URL requires it", async () => {
    const url = new URL(pgUrl)
    url.searchParams.set("sslmode", "require")
    const program = new Program({ env: { ...sharedSettings(pgUrl).env, WAYBILL_DATABASE_URL: url.href } })
    expect(await reasonOf(program)).toMatch(/^The database at .* does not offer TLS, which WAYBILL_DATABASE_URL requires\. Switch it on there \(ssl = on\), or remove sslmode from the URL\.$/)
    expect(program.log.filter(({ message }) => /does not answer/.test(message))).toEqual([])
  })

  it("says at once that the read replica offers no TLS, when the URL requires it", async () => {
    const url = new URL(pgUrl)
    url.searchParams.set("sslmode", "require")
    const program = new Program({ env: { ...sharedSettings(pgUrl).env, WAYBILL_READ_DATABASE_URL: url.href } })
    expect(await reasonOf(program)).toMatch(/^The read replica at .* does not offer TLS, which WAYBILL_READ_DATABASE_URL requires\. Switch it on there \(ssl = on\), or remove sslmode from the URL\.$/)
  })

  it("says at once what to set in a pooler that refuses the settings of connections", async () => {
    const fields = ["SFATAL", "VFATAL", "C08P01", "Munsupported startup parameter: options"].map((field) => `${field}\0`).join("")
    const head = Buffer.alloc(5)
    head.write("E")
    head.writeUInt32BE(4 + fields.length + 1, 1)
    const pooler = createServer((socket) => socket.on("error", () => {}).once("data", () => socket.end(Buffer.concat([head, Buffer.from(`${fields}\0`)]))))
    await new Promise<void>((resolve) => pooler.listen(0, "127.0.0.1", resolve))
    onTestFinished(() => void pooler.close())
    const { port } = pooler.address() as { readonly port: number }
    const program = new Program({ env: sharedSettings(`postgres://waybill@127.0.0.1:${port}/freight`).env })
    expect(await reasonOf(program)).toMatch(/is a pooler that refuses the settings of connections: unsupported startup parameter: options\. In PgBouncer, set ignore_startup_parameters = options/)
    expect(program.log.filter(({ message }) => /does not answer/.test(message))).toEqual([])
  })

  it("names the missing permission in the database, and who may help", async () => {
    const admin = new pg.Client({ connectionString: pgUrl })
    await admin.connect()
    onTestFinished(() => admin.end())
    const { env } = sharedSettings(pgUrl)
    const role = `limited_${env["WAYBILL_SCHEMA"]}`
    await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'limited-password'`)
    onTestFinished(() => admin.query(`DROP ROLE ${role}`).then(() => {}))
    const url = new URL(pgUrl)
    url.username = role
    url.password = "limited-password"
    const reason = await reasonOf(new Program({ env: { ...env, WAYBILL_DATABASE_URL: url.href } }))
    expect(reason).toContain("permission denied")
    expect(reason).toContain("waybill migrate --print")
  })

  it.runIf(process.getuid?.() === 0)("names the user that may not write to the data directory", async () => {
    const { env } = sharedSettings(pgUrl)
    const { WAYBILL_SEALING_KEY: _, ...without } = env
    const locked = directory()
    const program = new Program({ env: { ...without, WAYBILL_DATA_DIR: `${locked}/data` }, uid: 65534, gid: 65534 })
    expect(await reasonOf(program)).toMatch(/permission denied.*User 65534 may not write there: make it the owner \(chown\)/)
  })
})

describe("a mistyped command line", { timeout: 60_000 }, () => {
  it("is answered in a few lines: what is wrong, what may be meant, and where the help is", async () => {
    for (const [args, said] of [[["secrts"], /"secrts"[^]*secrets[^]*See waybill --help/], [["secrets", "lst"], /"lst"[^]*list[^]*See waybill secrets --help/], [["serve", "--prt"], /--prt[^]*See waybill serve --help/]] as const) {
      const { code, stderr, stdout } = await runProcess(args)
      expect([code, stdout]).toEqual([2, ""])
      expect(stderr).toMatch(said)
      expect(stderr.trim().split("\n").length).toBeLessThan(9)
    }
    expect((await runProcess(["--help"])).stdout).toContain("WAYBILL_DATABASE_URL")
  })
})
