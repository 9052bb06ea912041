import { assert, describe, it } from "@effect/vitest"
import { Tenants } from "@waybill/core"
import { parseEgressAllow, WebhookSenderHttp } from "@waybill/http"
import { TestWaybill } from "@waybill/testkit"
import { Effect, Logger, References, Result } from "effect"
import { TestClock } from "effect/testing"
import { mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { onTestFinished } from "vitest"
import { dueExchanges, type PartnerStates } from "../../src/edi/EdiExchange.ts"
import { defaultEdiLimits } from "../../src/edi/EdiPartners.ts"
import { pollPartners } from "../../src/edi/EdiWorker.ts"
import { directory, receiver } from "../program/Program.ts"
import { noSshd, startSshd, transportTo } from "./Sshd.ts"

const profile = { partner: "acme", them: { qualifier: "02", id: "ABCD" }, us: { qualifier: "ZZ", id: "WAYBILL" }, version: "004010", sets: ["214"] }

const file = "ISA*00*          *00*          *02*ABCD           *ZZ*WAYBILL        *261120*1415*U*00401*000000007*0*P*>~GS*QM*ABCD*WAYBILL*20261120*1415*7*X*004010~ST*214*0001~B10*0123456789**ABCD~LX*1~AT7*X4*NS***20261120*0815*UT~SE*5*0001~GE*1*7~IEA*1*000000007~"

const partnerFolder = (root: string, tenantId: string, transport: unknown) => {
  const folder = join(root, tenantId, "acme")
  for (const name of ["inbox", "outbox"]) mkdirSync(join(folder, name), { recursive: true })
  writeFileSync(join(folder, "profile.json"), JSON.stringify({ ...profile, transport }))
  return folder
}

const names = (...path: ReadonlyArray<string>) => readdirSync(join(...path)).sort()

/** Runs every exchange that is due, and returns their number. */
const exchange = Effect.fnUntraced(function*(root: string, states: PartnerStates) {
  const due = yield* dueExchanges(root, states)
  yield* Effect.all(due, { concurrency: 8 })
  return due.length
})

const isProblem = (line: string) => !line.startsWith("EDI file exchanged.")

/** The log, with fields. */
const logOf = () => {
  const lines: Array<string> = []
  const layer = Logger.layer([Logger.make(({ fiber, message }) => {
    const { error, file, problem, reason } = fiber.getRef(References.CurrentLogAnnotations) as Record<string, string | undefined>
    lines.push([[message].flat().join(" "), problem, file, error, reason].filter((each) => each !== undefined).join(" "))
  })])
  return { lines, layer }
}

const senderLayer = WebhookSenderHttp.layer({ egress: Result.getOrThrow(parseEgressAllow("127.0.0.1")) })

/** The partner's address, which answers with these statuses and then 200. */
const partnerServer = async (...statuses: Array<number>) => {
  const { receptions, url } = await receiver((_, response) => void response.writeHead(statuses.shift() ?? 200).end())
  return { posted: receptions, url: `${url}/edi` }
}

const test = (name: string, scenario: (log: ReadonlyArray<string>) => Effect.Effect<void, any, any>, skip = false) =>
  it.effect.skipIf(skip)(name, () => {
    const { layer, lines } = logOf()
    return scenario(lines).pipe(
      Effect.provide(layer),
      Effect.provide(senderLayer),
      Effect.provide(TestWaybill.layer()),
      Effect.provide(TestClock.layer()),
      Effect.scoped
    ) as Effect.Effect<void>
  }, 30_000)

describe("exchanges of EDI files with partners", () => {
  test(`fetch files from an SFTP server, and send acknowledgements there${noSshd ?? ""}`, (log) => Effect.gen(function*() {
    const sshd = yield* Effect.promise(startSshd)
    const tenant = yield* TestWaybill.tenant()
    const root = directory()
    const folder = partnerFolder(root, tenant.tenantId, transportTo(sshd))
    writeFileSync(join(folder, "key"), sshd.privateKey)
    writeFileSync(join(sshd.root, "from-partner/a.edi"), file)
    mkdirSync(join(sshd.root, "from-partner/archive"))
    const states: PartnerStates = new Map()
    assert.strictEqual(yield* exchange(root, states), 1)
    assert.deepStrictEqual([names(folder, "inbox"), names(sshd.root, "taken")], [["a.edi"], ["a.edi"]])
    // its writer has finished
    utimesSync(join(folder, "inbox/a.edi"), 0, 0)
    yield* pollPartners(root, new Map())
    assert.deepStrictEqual(names(folder, "outbox"), ["acme-000000001.edi"])
    assert.strictEqual(yield* exchange(root, states), 0)
    yield* TestClock.adjust(60_000)
    assert.strictEqual(yield* exchange(root, states), 1)
    assert.include(readFileSync(join(sshd.root, "to-partner/acme-000000001.edi"), "utf8"), "AK9*A*1*1*1")
    assert.deepStrictEqual(log.filter((line) => line.startsWith("EDI file exchanged.")), ["EDI file exchanged. a.edi", "EDI file exchanged. acme-000000001.edi"])
    writeFileSync(join(folder, "inbox/b.edi"), file)
    writeFileSync(join(sshd.root, "from-partner/c.edi"), file)
    yield* TestClock.adjust(60_000)
    yield* Effect.all(yield* dueExchanges(root, states, { ...defaultEdiLimits, maxWaitingFiles: 1 }))
    assert.deepStrictEqual(names(sshd.root, "from-partner"), ["archive", "c.edi"], "with a full inbox")
    assert.deepStrictEqual(log.filter((line) => line.startsWith("EDI file skipped.")), ["EDI file skipped. archive It is a directory. Ask the partner to put its files into the folder itself."])
  }), noSshd !== undefined)

  test("are tried later and later while the partner cannot be reached, with one log line", (log) => Effect.gen(function*() {
    const tenant = yield* TestWaybill.tenant()
    const root = directory()
    // port 1 of this machine: nobody listens
    const folder = partnerFolder(root, tenant.tenantId, { kind: "sftp", host: "127.0.0.1", port: 1, user: "waybill", hostKeys: [`SHA256:${"A".repeat(43)}`], password: { file: "password" }, sendTo: "/in" })
    writeFileSync(join(folder, "password"), "hunter2-hunter2\n")
    writeFileSync(join(folder, "outbox/acme-1.edi"), file)
    const states: PartnerStates = new Map()
    // a clock that is set back by hours changes no pause
    yield* TestClock.setTime(3 * 3_600_000)
    let tries = 0
    for (let minute = 0; minute < 15; minute++) {
      tries += yield* exchange(root, states)
      yield* TestClock.setTime(0)
      yield* TestClock.adjust(60_000)
    }
    // at 0, 2, 6 and 14 minutes
    assert.strictEqual(tries, 4)
    assert.deepStrictEqual(names(folder, "outbox"), ["acme-1.edi"])
    assert.lengthOf(log, 1)
    assert.match(log[0]!, /^EDI partner not reachable, trying again\. connection sftp:\/\/127\.0\.0\.1:1: /u)
    assert.notInclude(log.join(), "hunter2")
    rmSync(join(folder, "password"))
    yield* TestClock.adjust(15 * 60_000)
    yield* exchange(root, states)
    assert.match(log[1]!, /^EDI partner not reachable, trying again\. settings The secret .*password cannot be read/u)
    rmSync(folder, { recursive: true })
    yield* exchange(root, states)
    assert.strictEqual(states.size, 0)
  }))

  test("are made one at a time, at the latest after 15 minutes, and no sooner than the profile says", (log) => Effect.gen(function*() {
    const tenant = yield* TestWaybill.tenant()
    const root = directory()
    for (const [everySeconds, expected] of [[60, [0, 2, 6, 14, 29, 44, 59]], [1_800, [0, 30, 60]]] as const) {
      const folder = partnerFolder(root, tenant.tenantId, { kind: "http", sendTo: "https://example.com/", authorization: { file: "empty" }, everySeconds })
      writeFileSync(join(folder, "empty"), "\n")
      const states: PartnerStates = new Map()
      const minutes: Array<number> = []
      for (let minute = 0; minute <= 60; minute++) {
        const due = yield* dueExchanges(root, states)
        assert.lengthOf(yield* dueExchanges(root, states), 0, "while one runs")
        yield* Effect.all(due)
        if (due.length > 0) minutes.push(minute)
        yield* TestClock.adjust(60_000)
      }
      assert.deepStrictEqual(minutes, [...expected])
    }
    const line = "EDI partner not reachable, trying again. settings empty has no secret."
    assert.deepStrictEqual(log, [line, line])
  }))

  test("post files to a partner's address, with its authorization", (log) => Effect.gen(function*() {
    const tenant = yield* TestWaybill.tenant()
    const partner = yield* Effect.promise(() => partnerServer(200, 422, 503))
    const root = directory()
    const folder = partnerFolder(root, tenant.tenantId, { kind: "http", sendTo: partner.url, authorization: { env: "WAYBILL_EDI_SECRET_ACME" }, everySeconds: 5 })
    process.env["WAYBILL_EDI_SECRET_ACME"] = "Bearer hunter2"
    onTestFinished(() => void delete process.env["WAYBILL_EDI_SECRET_ACME"])
    for (const [index, name] of ["1.edi", "2.edi", "3.edi"].entries()) {
      writeFileSync(join(folder, "outbox", name), `${file}${name}`)
      utimesSync(join(folder, "outbox", name), index, index)
    }
    const states: PartnerStates = new Map()
    yield* exchange(root, states)
    // the partner took the first, refused the second, and then could not answer
    assert.deepStrictEqual([names(folder, "sent"), names(folder, "outbox"), names(folder, "sending")], [["1.edi"], ["2.edi", "3.edi"], []])
    assert.include(partner.posted[0]!, { body: `${file}1.edi` })
    assert.include(partner.posted[0]!.headers, { "authorization": "Bearer hunter2", "content-type": "application/edi-x12", "idempotency-key": "1.edi" })
    yield* TestClock.adjust(10_000)
    yield* exchange(root, states)
    assert.deepStrictEqual([names(folder, "sent"), names(folder, "outbox")], [["1.edi", "2.edi", "3.edi"], []])
    const host = new URL(partner.url).host
    assert.deepStrictEqual(log.filter(isProblem), [
      `EDI file not exchanged, trying again. 2.edi ${host} answered 422.`,
      `EDI partner not reachable, trying again. connection ${host} answered 503.`,
      "EDI partner reachable again."
    ])
    process.env["WAYBILL_EDI_SECRET_ACME"] = "Bearer rotated"
    writeFileSync(join(folder, "outbox/4.edi"), file)
    yield* TestClock.adjust(10_000)
    yield* exchange(root, states)
    assert.include(partner.posted.at(-1)!.headers, { "authorization": "Bearer rotated", "idempotency-key": "4.edi" })
  }))

  test("fetch nothing into a full inbox, with one log line, and go on sending", (log) => Effect.gen(function*() {
    const tenant = yield* TestWaybill.tenant()
    const partner = yield* Effect.promise(() => partnerServer())
    const root = directory()
    const folder = partnerFolder(root, tenant.tenantId, { kind: "http", sendTo: partner.url, everySeconds: 5 })
    writeFileSync(join(folder, "inbox/a.edi"), file)
    const states: PartnerStates = new Map()
    for (const name of ["1.edi", "2.edi"]) {
      writeFileSync(join(folder, "outbox", name), file)
      yield* Effect.all(yield* dueExchanges(root, states, { ...defaultEdiLimits, maxWaitingFiles: 1 }))
      yield* TestClock.adjust(5_000)
    }
    assert.deepStrictEqual(names(folder, "sent"), ["1.edi", "2.edi"])
    assert.deepStrictEqual(log.filter(isProblem), ["EDI files not fetched from a partner, inbox full."])
  }))

  test("post nothing to addresses that webhooks may not reach, nor to where a partner redirects", (log) => Effect.gen(function*() {
    const tenant = yield* TestWaybill.tenant()
    const partner = yield* Effect.promise(() => partnerServer(307))
    const root = directory()
    const inner = partnerFolder(root, tenant.tenantId, { kind: "http", sendTo: "https://169.254.169.254/latest/meta-data" })
    writeFileSync(join(inner, "outbox/1.edi"), file)
    yield* exchange(root, new Map())
    assert.match(log[0]!, /^EDI partner not reachable, trying again\. settings 169\.254\.169\.254: This address is not allowed/u)
    writeFileSync(join(inner, "profile.json"), JSON.stringify({ ...profile, transport: { kind: "http", sendTo: partner.url } }))
    yield* exchange(root, new Map())
    assert.lengthOf(partner.posted, 1)
    assert.deepStrictEqual(names(inner, "outbox"), ["1.edi"])
  }))

  test("find no partner as long as the directory is not there", () => Effect.gen(function*() {
    assert.strictEqual(yield* exchange(join(directory(), "not-yet"), new Map()), 0)
  }))

  test("are made for active tenants only", () => Effect.gen(function*() {
    const tenant = yield* TestWaybill.tenant()
    const tenants = yield* Tenants
    const root = directory()
    for (const tenantId of ["nobody", tenant.tenantId]) partnerFolder(root, tenantId, { kind: "http", sendTo: "https://example.com/" })
    yield* tenants.suspend(tenant.tenantId)
    assert.strictEqual(yield* exchange(root, new Map()), 0)
    yield* tenants.resume(tenant.tenantId)
    assert.strictEqual(yield* exchange(root, new Map()), 1)
  }))
})
