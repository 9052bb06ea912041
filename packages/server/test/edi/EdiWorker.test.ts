import { assert, describe, it } from "@effect/vitest"
import { AuditLog, ShipmentIntake, Tenants } from "@waybill/core"
import { ShipmentStatuses } from "@waybill/core/shipment-status"
import { TransitEvents } from "@waybill/core/transit-events"
import { postedShipment, TestWaybill } from "@waybill/testkit"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { openEdiCarrier } from "../../src/demo/DemoEdi.ts"
import { receiveAll } from "../../src/edi/EdiWorker.ts"
import { journeyFrom } from "../../src/demo/DemoJourney.ts"
import { directory } from "../program/Program.ts"

const profile = { partner: "acme", them: { qualifier: "02", id: "ABCD" }, us: { qualifier: "ZZ", id: "WAYBILL" }, version: "004010", sets: ["214", "210"], carrier: { dot: "1234567" } }

const isa = "ISA*00*          *00*          *02*ABCD           *ZZ*WAYBILL        *261120*1415*U*00401*000000007*0*P*>~"
const status = `${isa}GS*QM*ABCD*WAYBILL*20261120*1415*7*X*004010~ST*214*0001~B10*0123456789**ABCD~LX*1~AT7*X4*NS***20261120*0815*UT~SE*5*0001~GE*1*7~IEA*1*000000007~`
const invoice = (amount: string) => `${isa}GS*IM*ABCD*WAYBILL*20261120*1415*7*X*004010~ST*210*0001~B3**4711****20261120*${amount}****ABCD~SE*3*0001~GE*1*7~IEA*1*000000007~`

/** A file whose writer has finished. */
const put = (folder: string, name: string, text: string) => {
  mkdirSync(join(folder, "inbox"), { recursive: true })
  const path = join(folder, "inbox", name)
  writeFileSync(path, text)
  const before = Date.now() / 1000 - 60
  utimesSync(path, before, before)
}

const partnerFolder = (root: string, tenantId: string, written: unknown = profile) => {
  const folder = join(root, tenantId, "acme")
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, "profile.json"), JSON.stringify(written))
  return folder
}

const reportOf = (folder: string, name: string) => readFileSync(join(folder, `${name}.report.jsonl`), "utf8")

describe("the EDI worker", () => {
  const test = <A, E>(name: string, scenario: Effect.Effect<A, E, any>) =>
    it.effect(name, () => scenario.pipe(Effect.provide(TestWaybill.layer()), Effect.provide(TestClock.layer()), Effect.scoped) as Effect.Effect<A, E>)

  test("stores the events and invoices of a partner's files, updates statuses, and writes the audit log", Effect.gen(function*() {
    const tenant = yield* TestWaybill.tenant()
    const root = directory()
    const folder = partnerFolder(root, tenant.tenantId, { ...profile, carrier: { dot: "1234567" } })
    yield* (yield* ShipmentIntake).report({ ...tenant.carrier, dot: "1234567" }, postedShipment("0123456789"))
    put(folder, "a.edi", status)
    put(folder, "b.edi", invoice("26378"))
    yield* receiveAll(root, new Map())
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

  test("refuses an invoice that exists with other content, and names it in the report", Effect.gen(function*() {
    const tenant = yield* TestWaybill.tenant()
    const root = directory()
    const folder = partnerFolder(root, tenant.tenantId)
    put(folder, "a.edi", invoice("26378"))
    yield* receiveAll(root, new Map())
    put(folder, "b.edi", invoice("26379"))
    yield* receiveAll(root, new Map())
    assert.include(reportOf(join(folder, "failed"), "b.edi"), "exists already with other content")
  }))

  test("reads nothing of a suspended tenant, and all of it afterwards", Effect.gen(function*() {
    const tenant = yield* TestWaybill.tenant()
    const tenants = yield* Tenants
    const root = directory()
    const folder = partnerFolder(root, tenant.tenantId)
    put(folder, "a.edi", status)
    yield* tenants.suspend(tenant.tenantId)
    yield* receiveAll(root, new Map())
    assert.deepStrictEqual(readdirSync(join(folder, "inbox")), ["a.edi"])
    yield* tenants.resume(tenant.tenantId)
    yield* receiveAll(root, new Map())
    assert.deepStrictEqual(readdirSync(join(folder, "inbox")), [])
  }))

  test("reads other partners when a profile is wrong, and notes the problem once", Effect.gen(function*() {
    const tenant = yield* TestWaybill.tenant()
    const root = directory()
    partnerFolder(root, "nobody")
    const wrong = partnerFolder(join(root), `${tenant.tenantId}-x`, { partner: "acme" })
    const folder = partnerFolder(root, tenant.tenantId)
    put(folder, "a.edi", status)
    const problems = new Map<string, string>()
    yield* receiveAll(root, problems)
    assert.deepStrictEqual(readdirSync(join(folder, "inbox")), [])
    assert.include(problems.get(wrong), "/them: This field is required.")
    assert.lengthOf([...problems.keys()], 2)
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
      yield* receiveAll(root, new Map())
    }
    const page = yield* (yield* TransitEvents).list(tenant.carrier, { pageSize: 500 })
    assert.strictEqual(page.totalCount, events.length)
    const stored = page.data.map((event) => JSON.parse(new TextDecoder().decode(event)) as { readonly type: string; readonly shipment: { readonly shipmentId: string } })
    assert.deepStrictEqual(stored.map(({ shipment, type }) => `${shipment.shipmentId} ${type}`).sort(), events.map(({ shipment, type }) => `${shipment.shipmentId} ${type}`).sort())
  }))
})
