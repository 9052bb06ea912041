import { makeCertificate } from "@waybill/conformance/hostile"
import { execFile } from "node:child_process"
import { randomBytes } from "node:crypto"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import pg from "pg"
import { describe, expect, inject, it, onTestFinished } from "vitest"
import { directory, eventually, freePort, leaked, listening, Program, programCommand, receiver, sharedSettings, startProgram, urlOf } from "../program/Program.ts"
import { event, tenantOn } from "../program/Tenant.ts"
import { mailServer } from "../mail/MailServer.ts"
import { jsonLines, run } from "./Cli.ts"
import { sharedSession } from "./sharedSession.ts"

const pgUrl = inject("pgUrl")

/** Its findings, by name of the check. */
const examined = async (env: Readonly<Record<string, string>>) => {
  const ran = await run(["doctor", "--json"], { env })
  const [{ checks, healthy }] = jsonLines(ran.stdout) as [{ checks: ReadonlyArray<{ name: string; result: string; detail: string; todo?: string }>; healthy: boolean }]
  return { ...ran, healthy, found: Object.fromEntries(checks.map((check) => [check.name, check])) }
}

describe("doctor", { timeout: 90_000 }, () => {
  it("finds no problem in a running server, and reports dead letters and secrets that it cannot open", async () => {
    const { env, operatorKey } = sharedSettings(pgUrl)
    const { url } = await startProgram({ env })
    const tenant = await tenantOn(url, operatorKey)
    const well = await examined(env)
    expect(well).toMatchObject({ code: 0, healthy: true, stderr: "" })
    // the tests' own Postgres is not durable
    expect(Object.values(well.found).filter(({ name }) => name !== "durability").map(({ name, result }) => [name, result])).toEqual(
      ["settings", "data directory", "egress", "jwks", "documents", "edi", "database", "writes", "read replica", "migrations", "privileges", "indexes", "locks", "clock", "secrets", "queue", "e-mail"].map((name) => [name, "ok"])
    )
    expect(well.found["database"]!.detail).toMatch(/^Postgres \d+/)
    expect(well.found["secrets"]!.detail).toBe("the one secret can be opened")

    const hook = await receiver((_, response) => void response.writeHead(500).end())
    await tenant.customerAt(url).createSubscription({ endpointUrl: `${hook.url}/hook`, hmacSecretId: "main", delivery: { maxAttempts: 1 } })
    await tenant.intakeAt(url).publishTransitEvents([event("S-1", 1)])
    await eventually(async () => (await tenant.operator.listDeliveries("acme", { state: "dead" })).data[0])
    const dead = await examined(env)
    expect(dead).toMatchObject({ code: 0, found: { queue: { result: "warning", detail: expect.stringContaining("1 dead letter"), todo: expect.stringContaining("waybill recover") } } })

    const closed = await examined({ ...env, WAYBILL_SEALING_KEY: randomBytes(32).toString("base64") })
    expect(closed).toMatchObject({ code: 1, healthy: false, found: { secrets: { result: "failed", detail: expect.stringContaining("main of acme") } } })
    const inWords = await run(["doctor"], { env: { ...env, WAYBILL_SEALING_KEY: randomBytes(32).toString("base64") } })
    expect(inWords.stdout).toMatch(/^FAILED {2}secrets +1 of 1 cannot be opened.*\n +→ Put the key that sealed them behind the new one/m)
    expect(inWords.stderr).toBe("waybill: 1 check failed.\n")
    const secrets = [operatorKey, env["WAYBILL_SEALING_KEY"]!, tenant.secret]
    expect(leaked([well, dead, closed, inWords].map(({ stderr, stdout }) => stdout + stderr).join(""), secrets)).toEqual([])
  })

  it("reports an identity provider that is away or answers no keys, and a place of documents that cannot be used", async () => {
    const { env } = sharedSettings(pgUrl)
    let answer = JSON.stringify({ keys: [{ kty: "EC" }] })
    const provider = await listening((_, response) => void response.writeHead(200).end(answer))
    const jwt = { WAYBILL_JWT_JWKS_URL: `${urlOf(provider)}/jwks`, WAYBILL_JWT_ISSUER: "https://login.example/", WAYBILL_JWT_AUDIENCE: "waybill" }
    expect((await examined({ ...env, ...jwt })).found["jwks"]).toMatchObject({ result: "ok", detail: `1 key at ${jwt.WAYBILL_JWT_JWKS_URL}` })
    answer = "<html>not found</html>"
    expect((await examined({ ...env, ...jwt, WAYBILL_DOCUMENTS: "directory:/dev/null/papers" })).found).toMatchObject({
      jwks: { result: "failed", detail: expect.stringContaining("answers no JSON with keys"), todo: expect.stringContaining("WAYBILL_JWT_JWKS_URL") },
      documents: { result: "failed", detail: expect.stringContaining("/dev/null/papers") }
    })
    const away = await examined({ ...env, ...jwt, WAYBILL_JWT_JWKS_URL: "http://127.0.0.1:9/jwks" })
    expect(away).toMatchObject({ code: 1, found: { jwks: { result: "failed", detail: expect.stringContaining("cannot be fetched: ") } } })
  })

  it("reports a read replica that is away or no standby, with which the server runs", async () => {
    const { env } = sharedSettings(pgUrl)
    const away = await examined({ ...env, WAYBILL_READ_DATABASE_URL: "postgres://waybill:hunter2hunter2@127.0.0.1:9/freight" })
    expect(away).toMatchObject({ code: 0, found: { "read replica": { result: "warning", detail: expect.stringContaining("127.0.0.1:9/freight"), todo: expect.stringContaining("WAYBILL_READ_DATABASE_URL") } } })
    expect(leaked(away.stdout, ["hunter2hunter2"])).toEqual([])
    const same = await examined({ ...env, WAYBILL_READ_DATABASE_URL: pgUrl })
    expect(same).toMatchObject({ code: 0, found: { "read replica": { result: "warning", detail: expect.stringContaining("it is no standby") } } })
  })

  it("says that the database or the read replica offers no TLS, when the URL requires it", async () => {
    const { env } = sharedSettings(pgUrl)
    const url = new URL(pgUrl)
    url.searchParams.set("sslmode", "require")
    for (const [variable, name] of [["WAYBILL_DATABASE_URL", "database"], ["WAYBILL_READ_DATABASE_URL", "read replica"]] as const) {
      const { code, found } = await examined({ ...env, [variable]: url.href })
      expect(code).toBe(1)
      expect(found[name]).toMatchObject({ result: "failed", detail: expect.stringContaining(`does not offer TLS, which ${variable} requires`), todo: expect.stringContaining("ssl = on") })
    }
  })

  it("changes nothing, and reports missing migrations", async () => {
    const { env } = sharedSettings(pgUrl)
    for (let round = 1; round <= 2; round++) {
      const { code, found } = await examined(env)
      expect(code).toBe(0)
      expect(found).toMatchObject({ migrations: { result: "warning", detail: expect.stringContaining("transit_events") }, secrets: { result: "skipped" }, queue: { result: "skipped" } })
    }
    expect((await run(["migrate", "--check"], { env })).code).toBe(1)
  })

  it("names every invalid setting, and forbidden destinations of webhooks", async () => {
    const wrong = await run(["doctor"], { env: { WAYBILL_PORT: "x", WAYBILL_ROLE: "master" } })
    expect(wrong.code).toBe(1)
    expect(wrong.stdout).toContain("WAYBILL_PORT is \"x\"")
    expect(wrong.stdout).toContain("WAYBILL_ROLE is \"master\"")
    const { env } = sharedSettings(pgUrl)
    expect((await examined({ ...env, WAYBILL_EGRESS_ALLOW: "169.254.169.254" })).found["egress"]!.result).toBe("failed")
    expect((await examined({ ...env, WAYBILL_EGRESS_ALLOW: "0.0.0.0/0" })).found["egress"]!.result).toBe("warning")
  })

  it("distinguishes an unreachable database from one that refuses", async () => {
    const { env } = sharedSettings(pgUrl)
    const away = await examined({ ...env, WAYBILL_DATABASE_URL: `postgres://waybill:hunter2hunter2@127.0.0.1:${await freePort()}/freight` })
    expect(away).toMatchObject({ code: 1, found: { database: { result: "failed", detail: expect.stringContaining("does not answer") }, queue: { result: "skipped" } } })
    const wrong = new URL(pgUrl)
    wrong.password = "hunter2hunter2"
    wrong.username = "nobody-here"
    const refusing = await examined({ ...env, WAYBILL_DATABASE_URL: wrong.href })
    expect(refusing).toMatchObject({ code: 1, found: { database: { result: "failed", detail: expect.stringContaining("refuses") } } })
    expect(leaked(away.stdout + refusing.stdout, ["hunter2hunter2"])).toEqual([])
  })

  it("says what to do about a database without a free connection", async () => {
    const { env } = sharedSettings(pgUrl)
    const name = `crowded_${randomBytes(4).toString("hex")}`
    const owner = new pg.Client({ connectionString: pgUrl })
    await owner.connect()
    await owner.query(`CREATE ROLE ${name} LOGIN PASSWORD 'x' CONNECTION LIMIT 0`)
    const url = Object.assign(new URL(pgUrl), { username: name, password: "x" })
    const { code, found } = await examined({ ...env, WAYBILL_DATABASE_URL: url.href })
    await owner.query(`DROP ROLE ${name}`)
    await owner.end()
    expect(code).toBe(1)
    expect(found["database"]).toMatchObject({ detail: expect.stringContaining("has no free connection: too many connections"), todo: expect.stringContaining("max_connections") })
  })

  it("reports a pooler that shares connections between transactions", async () => {
    const { env } = sharedSettings(pgUrl)
    const { code, found } = await examined({ ...env, WAYBILL_DATABASE_URL: await sharedSession(pgUrl) })
    expect(code).toBe(0)
    expect(found["database"]).toMatchObject({ result: "warning", detail: expect.stringContaining("shares connections between transactions"), todo: expect.stringContaining("session mode") })
  })

  it("reports a database whose commits are not on disk", async () => {
    const { env } = sharedSettings(pgUrl)
    const url = new URL(pgUrl)
    url.searchParams.set("options", "-c synchronous_commit=off")
    const { code, found } = await examined({ ...env, WAYBILL_DATABASE_URL: url.href })
    expect(code).toBe(0)
    expect(found["durability"]).toMatchObject({ result: "warning", detail: expect.stringContaining("synchronous_commit"), todo: expect.stringContaining("lost") })
  })

  it("reports a database that can be read and not written", async () => {
    const { env } = sharedSettings(pgUrl)
    const readOnly = new URL(pgUrl)
    readOnly.searchParams.set("options", "-c default_transaction_read_only=on")
    expect(await examined({ ...env, WAYBILL_DATABASE_URL: readOnly.href })).toMatchObject({
      code: 1,
      found: { database: { result: "ok" }, writes: { result: "failed", detail: expect.stringContaining("read-only transaction"), todo: expect.stringContaining("disk") } }
    })
  })

  it("names indexes that are missing or invalid, with the statements that repair them", async () => {
    const { env } = sharedSettings(pgUrl)
    await run(["migrate"], { env })
    const schema = env["WAYBILL_SCHEMA"]!
    const owner = new pg.Client({ connectionString: pgUrl })
    await owner.connect()
    onTestFinished(() => owner.end())
    await owner.query(`DROP INDEX ${schema}.transit_events_id, ${schema}.deliveries_by_state`)
    await owner.query(`UPDATE pg_index SET indisvalid = false WHERE indexrelid = '${schema}.mails_due'::regclass`)
    const { code, found } = await examined(env)
    expect(code).toBe(0)
    expect(found["indexes"]).toMatchObject({
      result: "warning",
      detail: "transit_events_id is missing, deliveries_by_state is missing, mails_due is invalid: statements that use them are slow or fail"
    })
    const repair = found["indexes"]!.todo!.replace("As the owner of the tables: ", "")
    for (const statement of repair.split(/(?<=;) /)) await owner.query(statement)
    expect((await examined(env)).found["indexes"]).toMatchObject({ result: "ok", detail: "all are there" })
  })

  it("names the privilege that the user lacks, and how to get the tables", async () => {
    const { env } = sharedSettings(pgUrl)
    await startProgram({ env })
    const admin = new pg.Client({ connectionString: pgUrl })
    await admin.connect()
    onTestFinished(() => admin.end())
    const role = `limited_${env["WAYBILL_SCHEMA"]}`
    await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'limited-password'`)
    onTestFinished(() => admin.query(`DROP ROLE ${role}`).then(() => {}))
    const url = Object.assign(new URL(pgUrl), { username: role, password: "limited-password" }).href
    expect((await examined({ ...env, WAYBILL_DATABASE_URL: url })).found["database"]).toMatchObject({
      result: "failed",
      detail: expect.stringMatching(/^the user in WAYBILL_DATABASE_URL lacks a privilege at .*: permission denied for schema/),
      todo: expect.stringContaining("waybill migrate --print")
    })
    for (const args of [["migrate"], ["migrate", "--check"]]) {
      expect(await run(args, { env: { ...env, WAYBILL_DATABASE_URL: url } })).toMatchObject({ code: 1, stderr: expect.stringMatching(/^waybill: The user in WAYBILL_DATABASE_URL lacks a privilege at .*permission denied for schema .*waybill migrate --print/) })
    }
  })

  it("names the tables that the user may not read or write, with the statement that grants it", async () => {
    const { env } = sharedSettings(pgUrl)
    await startProgram({ env })
    const schema = env["WAYBILL_SCHEMA"]!
    const admin = new pg.Client({ connectionString: pgUrl })
    await admin.connect()
    onTestFinished(() => admin.end())
    const role = `limited_${schema}`
    await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'limited-password'`)
    onTestFinished(async () => {
      await admin.query(`DROP OWNED BY ${role}`)
      await admin.query(`DROP ROLE ${role}`)
    })
    const all = `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "${schema}" TO ${role};`
    for (const statement of [`GRANT USAGE ON SCHEMA "${schema}" TO ${role}`, all, `REVOKE INSERT, UPDATE, DELETE ON "${schema}".migrations FROM ${role}`]) await admin.query(statement)
    const limited = { ...env, WAYBILL_DATABASE_URL: Object.assign(new URL(pgUrl), { username: role, password: "limited-password" }).href }
    expect((await examined(limited)).found["privileges"]).toMatchObject({ result: "ok" })
    // as after a migration that another user applied
    await admin.query(`REVOKE ALL ON "${schema}".secrets FROM ${role}`)
    await admin.query(`REVOKE INSERT ON "${schema}".mails FROM ${role}`)
    const { found } = await examined(limited)
    expect(found).toMatchObject({
      database: { result: "ok" },
      privileges: {
        result: "failed",
        detail: "the user in WAYBILL_DATABASE_URL lacks INSERT on mails, SELECT, INSERT, UPDATE, DELETE on secrets",
        todo: expect.stringContaining(all)
      },
      secrets: { result: "skipped" }
    })
    await admin.query(all)
    expect((await examined(limited)).found).toMatchObject({ privileges: { result: "ok" }, secrets: { result: "ok" } })
  })

  it("reports a mail server that refuses the login, whose certificate nobody trusts, or that is away", async () => {
    const { env } = sharedSettings(pgUrl)
    await startProgram({ env })
    const login: Parameters<typeof mailServer>[0] = {
      authOptional: false,
      onAuth: ({ password, username }, _, done) => username === "acme" && password === "a secret" ? done(null, { user: username }) : done(new Error("Wrong."))
    }
    const { port, received } = await mailServer(login)
    const { port: securePort } = await mailServer({ ...login, disabledCommands: [], ...makeCertificate({ name: "mail", hosts: ["127.0.0.1"] }) })
    const found = async (url: string) => {
      const { code, found, stdout } = await examined({ ...env, WAYBILL_SMTP_URL: url, WAYBILL_MAIL_FROM: "webhooks@acme.example" })
      expect(leaked(stdout, ["a secret", "a%20secret", "other secret", "other%20secret"])).toEqual([])
      return { code, ...found["e-mail"] }
    }
    const refused = (why: string) => ({ code: 1, result: "failed", detail: expect.stringContaining(`the mail server cannot be used: ${why}`), todo: expect.stringContaining("WAYBILL_SMTP_URL") })
    expect(await found(`smtp://acme:a%20secret@127.0.0.1:${port}`)).toMatchObject({ code: 0, result: "ok" })
    expect(await found(`smtp://acme:other%20secret@127.0.0.1:${port}`)).toMatchObject(refused("Invalid login"))
    expect(await found(`smtp://acme:a%20secret@127.0.0.1:${port}?requireTLS=true`)).toMatchObject(refused("Error upgrading connection with STARTTLS"))
    expect(await found(`smtp://acme:a%20secret@127.0.0.1:${securePort}`)).toMatchObject(refused("self-signed certificate"))
    expect(await found(`smtp://acme:a%20secret@127.0.0.1:${await freePort()}`)).toMatchObject(refused("connect ECONNREFUSED"))
    expect(received).toEqual([])
  })

  it("names the session that others wait for, and why the queue could not be read", async () => {
    const { env, operatorKey } = sharedSettings(pgUrl)
    const { url } = await startProgram({ env })
    const tenant = await tenantOn(url, operatorKey)
    const owner = new pg.Client({ connectionString: pgUrl, application_name: "psql of a DBA" })
    await owner.connect()
    const { rows: [{ pid }] } = await owner.query("SELECT pg_backend_pid() AS pid")
    await owner.query(`BEGIN; LOCK TABLE ${env["WAYBILL_SCHEMA"]}.transit_events, ${env["WAYBILL_SCHEMA"]}.deliveries IN ACCESS EXCLUSIVE MODE`)
    const published = tenant.intakeAt(url).publishTransitEvents([event("S-1", 1)])
    await eventually(async () => {
      const { rows } = await owner.query("SELECT FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid)) AND query_start < clock_timestamp() - interval '6 seconds'", [pid])
      return rows[0]
    })
    const { found } = await examined(env)
    expect(found["locks"]!.detail).toMatch(new RegExp(`^\\d+ sessions? waited up to \\d+ s for session ${pid} \\(psql of a DBA, role \\w+\\)$`))
    expect(found["locks"]!.todo).toContain(`SELECT pg_terminate_backend(${pid});`)
    expect(found["queue"]).toMatchObject({ result: "failed", detail: expect.stringContaining("could not be read: canceling statement due to statement timeout") })
    await owner.query("COMMIT")
    await owner.end()
    await published
  })

  it("names a prepared transaction that keeps its locks", async ({ skip }) => {
    const { env } = sharedSettings(pgUrl)
    const owner = new pg.Client({ connectionString: pgUrl })
    await owner.connect()
    onTestFinished(() => owner.end())
    const { rows: [most] } = await owner.query("SHOW max_prepared_transactions")
    if (most.max_prepared_transactions === "0") skip("this Postgres prepares no transactions")
    const gid = `forgotten's ${env["WAYBILL_SCHEMA"]}`
    await owner.query(`BEGIN; SELECT txid_current(); PREPARE TRANSACTION '${gid.replace("'", "''")}'`)
    await eventually(async () => (await owner.query("SELECT FROM pg_prepared_xacts WHERE gid = $1 AND prepared < clock_timestamp() - interval '5 seconds'", [gid])).rows[0])
    const { found } = await examined(env)
    expect(found["locks"]).toMatchObject({ result: "warning", detail: expect.stringMatching(new RegExp(`transaction ${gid} of role \\w+ has been prepared for \\d+ s and holds its locks`)) })
    await owner.query(/ROLLBACK PREPARED '.*';$/.exec(found["locks"]!.todo!)![0])
    expect((await examined(env)).found["locks"]!.detail).not.toContain(gid)
  })

  it("checks the embedded database while its server runs, and reports when there is none", async () => {
    const dir = directory()
    const env = { WAYBILL_DATA_DIR: join(dir, "data") }
    expect(await examined(env)).toMatchObject({ code: 0, found: { "data directory": { result: "ok" }, database: { result: "warning", detail: expect.stringContaining("never started") } } })
    const program = new Program({ env: { ...env, WAYBILL_PORT: "0", WAYBILL_DEMO: "off" } })
    await program.ready()
    expect(await examined(env)).toMatchObject({ code: 0, found: { database: { result: "ok", detail: expect.stringContaining("the embedded one") }, durability: { result: "ok" }, queue: { result: "ok" } } })
    expect(await program.kill("SIGTERM")).toEqual({ code: 0, signal: null })
    expect(await examined(env)).toMatchObject({ code: 0, found: { database: { result: "warning", detail: expect.stringContaining("does not run") } } })
  })

  it("reports a data directory that is not writable", async () => {
    const file = join(directory(), "file")
    writeFileSync(file, "")
    const { code, found } = await examined({ WAYBILL_DATA_DIR: join(file, "data") })
    expect(code).toBe(1)
    expect(found["data directory"]).toMatchObject({ result: "failed", todo: expect.stringContaining("WAYBILL_DATA_DIR") })
  })
})

/** Runs a command that may write files of so many KiB, so that larger ones fail as on a full disk. */
const runLimited = (kib: number, args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) =>
  promisify(execFile)("bash", ["-c", `trap "" XFSZ; ulimit -f ${kib}; exec "$@"`, "bash", process.execPath, ...programCommand().args, ...args], {
    env: { PATH: process.env["PATH"] ?? "", HOME: directory(), ...env }
  }).then(({ stderr, stdout }) => ({ stdout, stderr }), ({ stderr, stdout }: { readonly stdout: string; readonly stderr: string }) => ({ stdout, stderr }))

describe("a disk without space", { timeout: 90_000 }, () => {
  it("is found by doctor where only an empty file can be written", async () => {
    const { stdout } = await runLimited(1, ["doctor", "--json"], { WAYBILL_DATA_DIR: directory() })
    expect(jsonLines(stdout)[0].checks).toContainEqual(expect.objectContaining({ name: "data directory", result: "failed", detail: expect.stringContaining("EFBIG") }))
  })

  it("ends the start of the embedded database without the command line of initdb", async () => {
    const { stderr } = await runLimited(8, ["serve"], { WAYBILL_DATA_DIR: join(directory(), "data"), WAYBILL_PORT: "0", WAYBILL_LOG_FORMAT: "pretty" })
    expect(stderr).toMatch(/^waybill: The embedded database could not be created: (?:could not .*File too large|the program ended with SIGXFSZ)\.$/m)
  })
})

describe("migrate", { timeout: 60_000 }, () => {
  it("reports what is missing, applies it, and reports that nothing is missing", async () => {
    const { env } = sharedSettings(pgUrl)
    const missing = await run(["migrate", "--check", "--json"], { env })
    expect(missing.code).toBe(1)
    expect(jsonLines(missing.stdout)).toEqual([{ schema: env["WAYBILL_SCHEMA"], missing: expect.arrayContaining(["transit_events"]) }])
    expect(missing.stderr).toContain("Run: waybill migrate")
    const applied = await run(["migrate", "--json"], { env })
    expect(jsonLines(applied.stdout)).toEqual([{ schema: env["WAYBILL_SCHEMA"], applied: jsonLines(missing.stdout)[0].missing }])
    expect(await run(["migrate", "--check"], { env })).toEqual({ code: 0, stdout: `Schema ${env["WAYBILL_SCHEMA"]} is up to date.\n`, stderr: "" })
    expect(await run(["migrate"], { env })).toMatchObject({ code: 0, stdout: `Schema ${env["WAYBILL_SCHEMA"]} is up to date.\n` })
  })

  it("refuses to distribute the tables of a database without Citus, which are migrated", async () => {
    const { env } = sharedSettings(pgUrl)
    const refused = await run(["migrate", "--citus"], { env })
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain("CREATE EXTENSION citus")
    expect((await run(["migrate", "--check"], { env })).code).toBe(0)
    expect((await run(["migrate", "--check", "--citus"], { env })).stderr).toContain("Run: waybill migrate --citus")
    expect((await run(["migrate", "--print", "--citus"], { env })).code).toBe(2)
  })

  it("prints plain SQL without a database, all of it or from a version on", async () => {
    const env = { WAYBILL_DATABASE_URL: "postgres://nobody@127.0.0.1:1/none", WAYBILL_SCHEMA: "freight" }
    const all = await run(["migrate", "--print"], { env })
    expect(all).toMatchObject({ code: 0, stderr: "" })
    expect(all.stdout).toContain("CREATE TABLE \"freight\".tenants")
    const later = await run(["migrate", "--print", "--after", "1"], { env })
    expect(later.stdout).not.toContain("CREATE TABLE \"freight\".tenants")
    expect(later.stdout.length).toBeLessThan(all.stdout.length)
    for (const args of [["--print", "--check"], ["--after", "1"], ["--print", "--after", "999"]]) expect((await run(["migrate", ...args], { env })).code).toBe(2)
  })
})
