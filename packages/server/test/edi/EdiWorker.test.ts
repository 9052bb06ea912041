import { assert, describe, it } from "@effect/vitest"
import { AuditLog, Retention, ShipmentIntake, Tenants, TransitEventIntake } from "@waybill/core"
import { ShipmentStatuses } from "@waybill/core/shipment-status"
import { TransitEvents } from "@waybill/core/transit-events"
import { postedShipment, TestWaybill } from "@waybill/testkit"
import { Deferred, Effect, Fiber, Layer, Logger, References } from "effect"
import { TestClock } from "effect/testing"
import { execFileSync } from "node:child_process"
import { cpSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { openEdiCarrier } from "../../src/demo/DemoEdi.ts"
import { defaultEdiLimits } from "../../src/edi/EdiPartners.ts"
import { pollPartners, duePolls, type PartnerStates } from "../../src/edi/EdiWorker.ts"
import { journeyFrom } from "../../src/demo/DemoJourney.ts"
import { directory } from "../program/Program.ts"
import { fileOf, makePartner, partnerFolder, profile, put, reportOf } from "./EdiFolder.ts"

const status = fileOf("QM", "214", ["B10*0123456789**ABCD", "LX*1", "AT7*X4*NS***20261120*0815*UT"])
const invoice = (amount: string) => fileOf("IM", "210", [`B3**4711****20261120*${amount}****ABCD`])

describe("the EDI worker", () => {
  const test = <A, E>(name: string, scenario: Effect.Effect<A, E, any>) =>
    it.effect(name, () => scenario.pipe(Effect.provide(TestWaybill.layer()), Effect.provide(TestClock.layer()), Effect.scoped) as Effect.Effect<A, E>)

  test("stores the events and invoices of a partner's files, updates statuses, and writes the audit log", Effect.gen(function*() {
    const { folder, root, tenant } = yield* makePartner({ ...profile, carrier: { dot: "1234567" } })
    yield* (yield* ShipmentIntake).report({ ...tenant.carrier, dot: "1234567" }, postedShipment("0123456789"))
    put(folder, "a.edi", status)
    put(folder, "b.edi", invoice("26378"))
    yield* pollPartners(root, new Map())
    assert.deepStrictEqual(readdirSync(join(folder, "done")).sort(), ["a.edi", "a.edi.report.jsonl", "b.edi", "b.edi.report.jsonl"])
    assert.lengthOf(readdirSync(join(folder, "outbox")), 2)
    const page = yield* (yield* TransitEvents).list(tenant.carrier, {})
    assert.strictEqual(page.totalCount, 1)
    const record = yield* (yield* ShipmentStatuses).record(tenant.carrier, "0123456789")
    assert.include(new TextDecoder().decode(record.shipment.bytes), "In Transit")
    yield* TestClock.adjust("2 seconds")
    const { data } = yield* (yield* AuditLog).list({ tenant: tenant.tenantId })
    assert.deepStrictEqual(data.filter(({ action }) => action === "edi.receive").map(({ actor, object, result }) => [actor.name, object.id, result]).sort(), [["key:edi-acme", "a.edi", "ok"], ["key:edi-acme", "b.edi", "ok"]])
  }))

  test("reports a repeated invoice as a duplicate, and refuses one that exists with other content", Effect.gen(function*() {
    const { folder, root } = yield* makePartner()
    put(folder, "a.edi", invoice("26378"))
    yield* pollPartners(root, new Map())
    put(folder, "again.edi", invoice("26378"))
    put(folder, "b.edi", invoice("26379"))
    yield* pollPartners(root, new Map())
    assert.include(reportOf(join(folder, "done"), "again.edi"), "\"duplicates\":1")
    assert.include(reportOf(join(folder, "failed"), "b.edi"), "exists already with other content")
  }))

  test("stores nothing again of files that are read again when everything that ends has ended", Effect.gen(function*() {
    yield* TestClock.setTime(Date.UTC(2026, 10, 20, 12))
    const { folder, root, tenant } = yield* makePartner()
    yield* (yield* ShipmentIntake).report({ ...tenant.carrier, dot: "1234567" }, postedShipment("0123456789"))
    const read = Effect.suspend(() => {
      put(folder, "a.edi", status)
      put(folder, "b.edi", invoice("26378"))
      return pollPartners(root, new Map())
    })
    yield* read
    yield* TestWaybill.pass("800 days")
    yield* (yield* Retention).sweep
    yield* read
    // the kept files were removed, too: these are reports of the second time
    for (const name of ["a.edi", "b.edi"]) assert.include(reportOf(join(folder, "done"), name), "\"accepted\":0,\"duplicates\":1")
    assert.strictEqual((yield* (yield* TransitEvents).list(tenant.carrier, {})).totalCount, 1)
  }))

  test("reads nothing of a suspended tenant, and all of it afterwards", Effect.gen(function*() {
    const { folder, root, tenant } = yield* makePartner()
    const tenants = yield* Tenants
    put(folder, "a.edi", status)
    yield* tenants.suspend(tenant.tenantId)
    yield* pollPartners(root, new Map())
    assert.deepStrictEqual(readdirSync(join(folder, "inbox")), ["a.edi"])
    yield* tenants.resume(tenant.tenantId)
    yield* pollPartners(root, new Map())
    assert.deepStrictEqual(readdirSync(join(folder, "inbox")), [])
  }))

  test("reads other partners when a profile is wrong, and notes the problem once", Effect.gen(function*() {
    const tenant = yield* TestWaybill.tenant()
    const root = directory()
    partnerFolder(root, "nobody")
    const wrong = partnerFolder(join(root), `${tenant.tenantId}-x`, { partner: "acme" })
    const folder = partnerFolder(root, tenant.tenantId)
    put(folder, "a.edi", status)
    const states: PartnerStates = new Map()
    yield* pollPartners(root, states)
    assert.deepStrictEqual(readdirSync(join(folder, "inbox")), [])
    assert.include(states.get(wrong)?.problem, "/them: This field is required.")
    assert.lengthOf([...states.values()].filter(({ problem }) => problem !== undefined), 2)
  }))

  test("reads the partners of other tenants when the folder of one cannot be read, and logs that once, and once what fails at every look", Effect.gen(function*() {
    const tenant = yield* TestWaybill.tenant()
    // the path of one tenant's folder is longer than a path may be
    const root = join(directory(), ...Array.from({ length: 19 }, () => "d".repeat(200)))
    const folder = partnerFolder(root, tenant.tenantId)
    execFileSync("sh", ["-c", `cd "$0" && mkdir "$1"`, root, "t".repeat(250)])
    put(folder, "a.edi", status)
    const lines: Array<string> = []
    const logger = Logger.layer([Logger.make(({ message }) => void lines.push(String([message].flat()[0])))])
    const states: PartnerStates = new Map()
    yield* Effect.provide(pollPartners(root, states), logger)
    assert.deepStrictEqual(readdirSync(join(folder, "inbox")), [])
    assert.include(lines[0], "EDI partners of a tenant not read: ")
    lines.length = 0
    const broken = Layer.succeed(TransitEvents, TransitEvents.of({ ...yield* TransitEvents, since: () => Effect.die("the feed is broken") }))
    writeFileSync(join(folder, "profile.json"), JSON.stringify({ ...profile, writes: ["214"], accounts: ["A-1"] }))
    for (let n = 0; n < 3; n++) yield* pollPartners(root, states).pipe(Effect.provide([logger, broken]))
    assert.deepStrictEqual(lines, ["EDI folder of a partner not checked, trying again."])
  }))

  test("warns of what a partner refused, and keeps its acknowledgements", Effect.gen(function*() {
    const { folder, root } = yield* makePartner()
    const [isa] = status.split("~")
    put(folder, "997.edi", fileOf("FA", "997", ["AK1*QM*41", "AK2*214*0001", "AK5*R*5", "AK9*R*1*1*0"], 8))
    put(folder, "ta1.edi", `${isa}~TA1*000000041*261120*1415*R*006~IEA*0*000000007~`)
    put(folder, "taken.edi", `${isa}~TA1*000000042*261120*1415*A*000~IEA*0*000000007~`)
    const lines: Array<unknown> = []
    const logger = Logger.layer([Logger.make(({ fiber, message }) => void lines.push([[message].flat()[0], fiber.getRef(References.CurrentLogAnnotations)["partnerRefused"]]))])
    yield* Effect.provide(pollPartners(root, new Map()), logger)
    assert.deepStrictEqual(lines, [
      ["EDI file read, with refusals by the partner.", "group 41 (QM): R, refused 0001"],
      ["EDI file read, with refusals by the partner.", "interchange 000000041: R, 006"],
      ["EDI file read.", undefined]
    ])
    assert.deepStrictEqual(readdirSync(join(folder, "done")).filter((name) => name.endsWith(".edi")).sort(), ["997.edi", "ta1.edi", "taken.edi"])
    assert.include(reportOf(join(folder, "done"), "ta1.edi"), "\"interchange\":\"000000041\",\"verdict\":\"R\"")
  }))

  test("reads a partner's files while those of another one take long", Effect.gen(function*() {
    const tenant = yield* TestWaybill.tenant()
    const root = directory()
    const slow = partnerFolder(root, tenant.tenantId)
    const folder = join(root, tenant.tenantId, "other")
    cpSync(slow, folder, { recursive: true })
    writeFileSync(join(folder, "profile.json"), JSON.stringify({ ...profile, partner: "other" }))
    put(slow, "a.edi", status)
    put(folder, "a.edi", status)
    const intake = yield* TransitEventIntake
    const released = yield* Deferred.make<void>()
    const hanging = TransitEventIntake.of({
      ...intake,
      report: (principal, events) => principal.client === "key:edi-acme" ? Effect.andThen(Deferred.await(released), intake.report(principal, events)) : intake.report(principal, events)
    })
    const states: PartnerStates = new Map()
    yield* Effect.gen(function*() {
      const polls = yield* duePolls(root, states)
      assert.lengthOf(polls, 2)
      const first = yield* Deferred.make<void>()
      const fibers = yield* Effect.forEach(polls, (look) => Effect.forkScoped(Effect.ensuring(look, Deferred.succeed(first, undefined))))
      yield* Deferred.await(first)
      assert.deepStrictEqual([readdirSync(join(slow, "inbox")), readdirSync(join(folder, "inbox"))], [["a.edi"], []])
      yield* Deferred.succeed(released, undefined)
      yield* Effect.forEach(fibers, Fiber.join)
      assert.deepStrictEqual(readdirSync(join(slow, "inbox")), [])
    }).pipe(Effect.provideService(TransitEventIntake, hanging))
  }))

  test("gives a tenant with many partners a part of the places only", Effect.gen(function*() {
    const root = directory()
    const [many, other] = [yield* TestWaybill.tenant("many"), yield* TestWaybill.tenant("other")]
    const source = partnerFolder(root, other.tenantId)
    for (let count = 0; count < 20; count++) {
      const folder = join(root, many.tenantId, `p-${count}`)
      cpSync(source, folder, { recursive: true })
      writeFileSync(join(folder, "profile.json"), JSON.stringify({ ...profile, partner: `p-${count}` }))
    }
    const states: PartnerStates = new Map()
    const looked = new Set<string>()
    for (let count = 0; count < 5; count++) {
      const polls = yield* duePolls(root, states)
      const running = [...states].filter(([, { isRunning }]) => isRunning)
      assert.deepStrictEqual(running.map(([, { tenantId }]) => tenantId).sort(), ["many", "many", "many", "many", "other"])
      for (const [folder] of running) looked.add(folder)
      // while they run, no other look is due
      assert.lengthOf(yield* duePolls(root, states), 0)
      yield* Effect.all(polls)
      yield* TestClock.adjust("2 seconds")
    }
    // each had its turn
    assert.strictEqual(looked.size, 21)
  }))

  test("reads a file that fails again later and later, although the clock was set back, and what comes after it at once", Effect.gen(function*() {
    yield* TestClock.setTime(3 * 3_600_000)
    const { folder, root } = yield* makePartner()
    const intake = yield* TransitEventIntake
    let tries = 0
    const failing = TransitEventIntake.of({ ...intake, report: () => Effect.suspend(() => Effect.die(new Error(`failure ${tries += 1}`))) })
    const states: PartnerStates = new Map()
    put(folder, "a.edi", status)
    yield* Effect.gen(function*() {
      for (let seconds = 0; seconds < 60; seconds += 2) {
        yield* pollPartners(root, states)
        if (seconds === 0) yield* TestClock.setTime(0)
        yield* TestClock.adjust("2 seconds")
      }
    }).pipe(Effect.provideService(TransitEventIntake, failing))
    // after 2, 4, 8, 16 seconds
    assert.strictEqual(tries, 5)
    put(folder, "b.edi", invoice("26378"))
    yield* pollPartners(root, states)
    assert.deepStrictEqual(readdirSync(join(folder, "inbox")), ["a.edi"])
    yield* TestClock.adjust("1 minute")
    yield* pollPartners(root, states)
    assert.deepStrictEqual([readdirSync(join(folder, "inbox")), [...states.get(folder)!.unread]], [[], []])
  }))

  test("reads no files of a partner whose outbox is full, and all of them when there is room", Effect.gen(function*() {
    const { folder, root } = yield* makePartner()
    const states: PartnerStates = new Map()
    const look = pollPartners(root, states, { ...defaultEdiLimits, maxWaitingFiles: 1 })
    put(folder, "a.edi", status)
    yield* look
    const [acknowledgement] = readdirSync(join(folder, "outbox"))
    put(folder, "b.edi", invoice("26378"))
    yield* look
    assert.deepStrictEqual([readdirSync(join(folder, "inbox")), states.get(folder)!.isFull], [["b.edi"], true])
    rmSync(join(folder, "outbox", acknowledgement!))
    yield* look
    assert.deepStrictEqual([readdirSync(join(folder, "inbox")), states.get(folder)!.isFull], [[], false])
  }))

  test("removes files that were read, with their reports, after their days", Effect.gen(function*() {
    const { folder, root } = yield* makePartner()
    const states: PartnerStates = new Map()
    put(folder, "a.edi", status)
    yield* TestClock.setTime(Date.now())
    yield* pollPartners(root, states)
    yield* TestClock.adjust("364 days")
    yield* pollPartners(root, states)
    assert.deepStrictEqual(readdirSync(join(folder, "done")), ["a.edi", "a.edi.report.jsonl"])
    yield* TestClock.adjust("2 days")
    yield* pollPartners(root, states)
    assert.deepStrictEqual(readdirSync(join(folder, "done")), [])
    assert.lengthOf(readdirSync(join(folder, "outbox")), 1)
  }))

  test("reads every event that the demo's carrier writes, once", Effect.gen(function*() {
    const tenant = yield* TestWaybill.tenant("demo")
    const root = directory()
    const publish = yield* openEdiCarrier(root, () => {})
    const journey = journeyFrom(Date.UTC(2026, 10, 20, 7, 15))
    const events = journey.flatMap((writes) => writes.events)
    const inbox = join(root, "demo/demo-carrier/inbox")
    for (let count = 0; count < 2; count++) {
      yield* Effect.promise(() => publish(events))
      for (const [index, name] of readdirSync(inbox).sort().entries()) utimesSync(join(inbox, name), 1_000 + index, 1_000 + index)
      yield* pollPartners(root, new Map())
    }
    const page = yield* (yield* TransitEvents).list(tenant.carrier, { pageSize: 500 })
    assert.strictEqual(page.totalCount, events.length)
    const stored = page.data.map((event) => JSON.parse(new TextDecoder().decode(event)) as { readonly type: string; readonly shipment: { readonly shipmentId: string } })
    assert.deepStrictEqual(stored.map(({ shipment, type }) => `${shipment.shipmentId} ${type}`).sort(), events.map(({ shipment, type }) => `${shipment.shipmentId} ${type}`).sort())
  }))
})
