import { assert, describe, it } from "@effect/vitest"
import { AuditLog, Tenants, TransitEventIntake } from "@waybill/core"
import { type Invoice, Invoices } from "@waybill/core/invoices"
import type { EventType } from "@waybill/core/transit-events"
import { invoiceSample, reportedEvent, TestWaybill } from "@waybill/testkit"
import { Effect, Logger, References } from "effect"
import { TestClock } from "effect/testing"
import { pollPartners } from "../../src/edi/EdiWorker.ts"
import { makePartner, profile, segmentsIn, sentTo } from "./EdiFolder.ts"

const buyer = { ...profile, carrier: undefined, sets: ["204"], writes: ["214", "210"], accounts: ["A-1"], scac: "ABCD" }

describe("the server writes for an EDI partner", () => {
  const test = <A, E>(name: string, scenario: Effect.Effect<A, E, any>) =>
    it.effect(name, () => scenario.pipe(Effect.provide(TestWaybill.layer()), Effect.provide(TestClock.layer()), Effect.scoped) as Effect.Effect<A, E>)

  const partner = Effect.fnUntraced(function*(written: object = buyer) {
    const { folder, root, tenant } = yield* makePartner(written)
    const events = yield* TransitEventIntake
    const invoices = yield* Invoices
    const look = pollPartners(root, new Map())
    const report = (shipmentId: string, type: EventType, accounts = ["A-1"]) =>
      events.report(tenant.carrier, [reportedEvent(shipmentId, { type, accounts, eventId: `${shipmentId} ${type}`, more: { shipment: { shipmentId, scac: "WAYB", references: [{ type: "PRO", value: shipmentId }], origin: {}, destination: {} } } })])
    const bill = (uniqueID: string, accounts = ["A-1"], secondCharge?: string) => {
      const invoice = invoiceSample({ uniqueID, accounts })
      const [first, second] = invoice.invoiceCharges
      return invoices.create(tenant.carrier, secondCharge === undefined ? invoice : { ...invoice, invoiceCharges: [first!, { ...second!, chargeCode: secondCharge }] })
    }
    return { bill, events, folder, invoices, look, report, root, tenant }
  })

  test("a status of its accounts as 214, each event once and in order, none of before and none of others", Effect.gen(function*() {
    const { folder, look, report, tenant } = yield* partner()
    yield* report("0", "PICKED_UP")
    yield* look
    yield* report("1", "PICKED_UP")
    yield* report("2", "PICKED_UP", ["A-2"])
    yield* report("1", "ARRIVED_AT_TERMINAL")
    yield* look
    yield* look
    yield* report("1", "DELIVERED")
    yield* look
    const files = sentTo(folder, "214")
    assert.deepStrictEqual(segmentsIn(files, "AT7").map((segment) => segment.slice(0, 6)), ["AT7*AF", "AT7*X4", "AT7*D1"])
    assert.deepStrictEqual([...new Set(segmentsIn(files, "B10"))], ["B10*1**WAYB"])
    assert.deepStrictEqual(segmentsIn(files, "ISA").map((segment) => segment.slice(-13)), ["000000001*0*P*>", "000000002*0*P*>"].map((end) => end.slice(-13)))
    yield* TestClock.adjust("2 seconds")
    const { data } = yield* (yield* AuditLog).list({ tenant: tenant.tenantId })
    assert.deepStrictEqual(data.filter(({ action }) => action === "edi.send").map(({ actor, object, result }) => [actor.name, object.id, result]).sort(), [["key:edi-acme", "acme-000000001.edi", "ok"], ["key:edi-acme", "acme-000000002.edi", "ok"]])
  }))

  test("an invoice on its accounts as 210, once, and again when it is replaced", Effect.gen(function*() {
    const { bill, folder, invoices, look, tenant } = yield* partner()
    yield* look
    yield* bill("I-1")
    yield* bill("I-2", ["A-2"])
    yield* look
    yield* look
    assert.lengthOf(segmentsIn(sentTo(folder, "210"), "B3"), 1)
    const stored = yield* invoices.get(tenant.carrier, "I-1")
    const invoice = JSON.parse(new TextDecoder().decode(stored.body)) as Invoice
    yield* invoices.replace(tenant.carrier, "I-1", { ...invoice, invoiceHeader: { ...invoice.invoiceHeader, invoiceAmount: { ...invoice.invoiceHeader.invoiceAmount, value: "1.00" } } })
    yield* look
    assert.deepStrictEqual(segmentsIn(sentTo(folder, "210"), "B3").map((segment) => segment.split("*")[7]).at(-1), "100")
  }))

  test("an invoice with a charge that has no code for the partner, and a warning that names the charge", Effect.gen(function*() {
    const lines: Array<readonly [level: string, message: string, withoutCode: unknown, fault: unknown]> = []
    const log = Logger.layer([Logger.make(({ fiber, logLevel, message }) => {
      const { fault, withoutCode } = fiber.getRef(References.CurrentLogAnnotations)
      lines.push([logLevel, [message].flat().join(" "), withoutCode, fault])
    })])
    const { bill, folder, look } = yield* partner()
    yield* look
    yield* bill("I-1")
    yield* Effect.provide(look, log)
    yield* bill("I-2", ["A-1"], "RESIDENTIAL")
    yield* Effect.provide(look, log)
    assert.deepStrictEqual(segmentsIn(sentTo(folder, "210"), "L1").map((segment) => segment.split("*")[8]), [undefined, "FUE", undefined, undefined])
    assert.deepStrictEqual(lines, [
      ["Info", "EDI file written.", undefined, undefined],
      ["Warn", "EDI file written, with charges without a code. The partner takes them for the freight itself.", 1, "invoiceCharges.1.chargeCode: \"RESIDENTIAL\" has no code; name one in the partner profile, codes.charges"]
    ])
  }))

  test("only what its profile names", Effect.gen(function*() {
    const { bill, folder, look, report } = yield* partner({ ...buyer, writes: ["210"] })
    yield* look
    yield* report("1", "PICKED_UP")
    yield* bill("I-1")
    yield* look
    assert.deepStrictEqual([sentTo(folder, "214").length, sentTo(folder, "210").length], [0, 1])
  }))

  test("everything that was new while the server was down, once", Effect.gen(function*() {
    const { folder, look, report, root } = yield* partner()
    yield* look
    for (let count = 0; count < 250; count++) yield* report(`S${count}`, "PICKED_UP")
    yield* pollPartners(root, new Map())
    yield* pollPartners(root, new Map())
    const pros = segmentsIn(sentTo(folder, "214"), "B10").map((segment) => segment.split("*")[1])
    assert.deepStrictEqual([pros.length, new Set(pros).size], [250, 250])
  }))

  test("nothing for a suspended tenant, and all of it afterwards", Effect.gen(function*() {
    const { folder, look, report, tenant } = yield* partner()
    const tenants = yield* Tenants
    yield* look
    yield* report("1", "PICKED_UP")
    yield* tenants.suspend(tenant.tenantId)
    yield* look
    assert.deepStrictEqual(sentTo(folder, "214"), [])
    yield* tenants.resume(tenant.tenantId)
    yield* look
    assert.lengthOf(sentTo(folder, "214"), 1)
  }))
})
