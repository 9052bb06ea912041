import { assert, describe, it } from "@effect/vitest"
import { FreightChargeIntake, ShipmentIntake, TransitEventIntake } from "@waybill/core"
import { BillChangeReport, ChargeSubscriptions } from "@waybill/core/freight-charges"
import { type DocumentsUpload, InvoiceDocuments, Invoices } from "@waybill/core/invoices"
import { Pickups } from "@waybill/core/pickups"
import { PostedShipment, ShipmentStatuses } from "@waybill/core/shipment-status"
import { ReportedEvent } from "@waybill/core/transit-events"
import { pickupRequest, type SeededTenant, ScriptedReceivers, TestWaybill } from "@waybill/testkit"
import { Effect, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { demoAccount, type DemoShipment, invoiceNumberOf, shipmentsOf } from "../../src/demo/DemoFreight.ts"
import { journeyFrom, journeyMillis, mergedWrites, tickMillis, type TimedWrites } from "../../src/demo/DemoJourney.ts"
import { chargeVersions } from "../../src/demo/DemoPosts.ts"

const startedAt = Date.UTC(2026, 10, 20, 7, 15)

const decoder = new TextDecoder()

/** The writes of the demo's shipper and carrier for single shipments. Returns the pickup numbers of the orders. */
const writeAround = Effect.fnUntraced(function*(tenant: SeededTenant, writes: TimedWrites, numbers: Map<string, string>) {
  const pickups = yield* Pickups
  const shipper = tenant.customer("shipper", [demoAccount])
  for (const { key, order } of writes.orders) {
    const [answer] = yield* pickups.create(shipper, pickupRequest({ more: { ...order } }), { idempotencyKey: key })
    assert.strictEqual(answer!.pickupStatus, "Accept")
    numbers.set(key, answer!.carrierPickupNumber!)
  }
  for (const { key, report } of writes.pickups) yield* pickups.report(tenant.carrier, numbers.get(key)!, report)
  for (const { invoice, proof } of writes.invoices) {
    assert.deepStrictEqual((yield* (yield* Invoices).create(tenant.carrier, invoice)).warnings, [])
    yield* (yield* InvoiceDocuments).upload(tenant.carrier, proof as DocumentsUpload)
  }
})

/** The carrier's list calls. */
const report = Effect.fnUntraced(function*({ carrier }: SeededTenant, { charges, events, shipments }: TimedWrites) {
  const results = [
    ...(shipments.length === 0 ? [] : (yield* (yield* ShipmentIntake).report(carrier, { shipments })).results),
    ...(events.length === 0 ? [] : (yield* (yield* TransitEventIntake).report(carrier, events as ReadonlyArray<ReportedEvent>)).results),
    ...(charges.length === 0 ? [] : (yield* (yield* FreightChargeIntake).report(carrier, { charges })).results)
  ]
  return results.map(({ result }) => result)
})

describe("the demo's journey", () => {
  it("has numbers of its own, even when another begins a millisecond later", () => {
    const all = Array.from({ length: 1000 }, (_, millis) => shipmentsOf(startedAt + millis)).flat()
    for (const numberOf of [({ proNumber }: DemoShipment) => proNumber, ({ shipmentId }: DemoShipment) => shipmentId]) {
      assert.strictEqual(new Set(all.map(numberOf)).size, all.length)
    }
  })

  it("leads three shipments from the pickup order to the invoice, after the first one event at a time", () => {
    const [first, ...schedule] = journeyFrom(startedAt)
    assert.lengthOf(first!.orders, 3)
    assert.deepStrictEqual(first!.shipments.map(({ shipmentId }) => shipmentId), shipmentsOf(startedAt).slice(0, 2).map(({ shipmentId }) => shipmentId))
    assert.lengthOf(schedule.flatMap(({ shipments }) => shipments), 1)
    assert.deepStrictEqual(schedule.at(-1)!.at, startedAt + journeyMillis)
    const whole = mergedWrites(startedAt, [first!, ...schedule])
    for (const { proNumber, shipmentId } of shipmentsOf(startedAt)) {
      assert.deepStrictEqual(whole.pickups.filter(({ key }) => key === shipmentId).map(({ report }) => report.status), [
        "En Route",
        "Arrived",
        "Departed with Exact Match"
      ])
      const [billed] = whole.invoices.filter(({ invoice }) => invoice.shipmentID === shipmentId)
      assert.strictEqual(billed!.invoice.invoiceHeader.invoiceNumber, `W${proNumber}`)
      assert.strictEqual(billed!.proof.invoiceNumber, `W${proNumber}`)
      const own = [first!, ...schedule].flatMap(({ events }) => events).filter((event) => event.shipment.shipmentId === shipmentId)
      assert.strictEqual(own[0]!.type, "PICKUP_SCHEDULED")
      assert.strictEqual(own.at(-1)!.type, "PROOF_OF_DELIVERY")
    }
    assert.deepStrictEqual(schedule.map(({ at }) => at), schedule.map((_, index) => startedAt + (index + 1) * tickMillis))
    assert.deepStrictEqual(schedule.map(({ events }) => events.length), schedule.map(() => 1))
  })

  it("creates each bill at pickup, changes it once, and ends it at delivery", () => {
    const charges = journeyFrom(startedAt).flatMap((writes) => writes.charges)
    for (const { proNumber } of shipmentsOf(startedAt)) {
      const own = charges.filter(({ pfc }) => pfc.referenceNumbers.pro === proNumber)
      assert.deepStrictEqual(own.map(({ change }) => change), [...chargeVersions])
      assert.deepStrictEqual(own.map(({ pfc }) => pfc.pfc.header.function), ["PFC1", "PFC2", "PFC3"])
      const totals = own.map(({ pfc }) => pfc.charges.preliminaryTotalCharges)
      assert.isAbove(totals[1]!, totals[0]!)
      assert.strictEqual(totals[2], totals[1])
      const [{ invoice }] = journeyFrom(startedAt).flatMap(({ invoices }) => invoices).filter(({ proof }) => proof.invoiceNumber === `W${proNumber}`) as [
        TimedWrites["invoices"][number]
      ]
      assert.strictEqual(Number(invoice.invoiceHeader.invoiceAmount.value), totals[2])
    }
  })

  it("contains only what the service accepts", () => {
    const { charges, events, shipments } = mergedWrites(startedAt, journeyFrom(startedAt))
    for (const written of [charges, events, shipments]) assert.isNotEmpty(written)
    for (const shipment of shipments) Schema.decodeUnknownSync(PostedShipment)(shipment)
    for (const event of events) Schema.decodeUnknownSync(ReportedEvent)(event)
    for (const charge of charges) Schema.decodeUnknownSync(BillChangeReport)(charge)
  })

  it("is the same for the same start, and different for another", () => {
    assert.deepStrictEqual(journeyFrom(startedAt), journeyFrom(startedAt))
    const ids = (beginning: number) => {
      const { charges, events, invoices, orders, shipments } = mergedWrites(beginning, journeyFrom(beginning))
      return [
        ...orders.map(({ key }) => `order ${key}`),
        ...invoices.map(({ invoice }) => `invoice ${invoice.uniqueID}`),
        ...events.map(({ eventId }) => eventId),
        ...shipments.map(({ shipmentId }) => shipmentId),
        ...charges.map(({ pfc }) => `${pfc.pfc.uniqueID} ${pfc.pfc.header.function}`)
      ]
    }
    const all = [...ids(startedAt), ...ids(startedAt + 60_000)]
    assert.strictEqual(new Set(all).size, all.length)
  })

  it.effect("updates every view with one write, and changes nothing when it is written again", Effect.fnUntraced(function*() {
    yield* TestClock.setTime(startedAt)
    const tenant = yield* TestWaybill.tenant()
    const customer = tenant.customer("customer", [demoAccount])
    const statusUrl = "https://customer.example/statuses"
    const chargeUrl = "https://customer.example/charges"
    yield* TestWaybill.run
    yield* TestWaybill.follow(customer, { webhookUrl: statusUrl, referenceNumbers: shipmentsOf(startedAt).map(({ proNumber }) => proNumber) })
    const statuses = yield* ShipmentStatuses
    const [{ proNumber }] = shipmentsOf(startedAt) as [ReturnType<typeof shipmentsOf>[number]]
    const milestone = Effect.map(statuses.verified(customer, { kind: "pro", proNumber }), (found) =>
      JSON.parse(decoder.decode(found.body.bytes))["ShipmentMilestoneStatus"])

    const [first, ...schedule] = journeyFrom(startedAt)
    const numbers = new Map<string, string>()
    yield* writeAround(tenant, first!, numbers)
    const following = shipmentsOf(startedAt).at(-1)!
    const truck = Effect.flatMap(Pickups, (pickups) =>
      pickups.visibility(customer, { lookupValue: following.proNumber, lookupType: "PRO", requestType: "PickupStatus", isTest: "false" }))
    assert.strictEqual((yield* truck).status, "En Route")
    assert.deepStrictEqual([...new Set(yield* report(tenant, first!))], ["accepted"])
    assert.strictEqual(yield* milestone, "Picked-up")
    const { subscriptionId } = yield* TestWaybill.subscribeToCharges(customer, { webhookUrl: chargeUrl })
    const inFlight = yield* (yield* ChargeSubscriptions).inFlight(customer, subscriptionId)
    assert.lengthOf(yield* Stream.runCollect(inFlight), 2)

    for (const writes of schedule) {
      yield* writeAround(tenant, writes, numbers)
      assert.deepStrictEqual([...new Set(yield* report(tenant, writes))], ["accepted"])
    }
    assert.strictEqual((yield* truck).status, "Departed with Exact Match")
    const proofs = yield* (yield* InvoiceDocuments).get(customer, invoiceNumberOf(following))
    assert.deepStrictEqual(proofs.documents.map(({ documentType, files }) => [documentType, files.map(({ mediaType }) => mediaType)]), [["POD", ["application/pdf"]]])
    assert.strictEqual(yield* milestone, "Delivered")
    yield* TestWaybill.pass("1 minute")
    const receivers = yield* ScriptedReceivers
    const deliveredTo = (url: string) => Effect.map(receivers.delivered(url), (bodies) => bodies as ReadonlyArray<any>)
    const notified = (yield* deliveredTo(statusUrl)).filter((notice) => notice.proNumber === proNumber)
    assert.deepStrictEqual([...new Set(notified.flatMap((notice) => notice.shipmentMilestoneStatus ?? []))], [
      "Picked-up",
      "In Transit",
      "Out for Delivery",
      "Delivered"
    ])
    assert.deepStrictEqual(notified.flatMap((notice) => notice.countsToDelivery ?? []), [3, 2, 1])
    assert.strictEqual(notified.at(-1)!.deliveryInformation_messages, "POD available")
    const versions = (yield* deliveredTo(chargeUrl)).flat().filter((pfc) => pfc.referenceNumbers.pro === proNumber)
    assert.deepStrictEqual(versions.map((pfc) => pfc.pfc.header.function), ["PFC2", "PFC3"])

    const before = (yield* receivers.requests(statusUrl)).length + (yield* receivers.requests(chargeUrl)).length
    const whole = mergedWrites(startedAt, journeyFrom(startedAt))
    const again = new Map<string, string>()
    yield* writeAround(tenant, { ...whole, pickups: [], invoices: [] }, again)
    assert.deepStrictEqual(again, numbers)
    for (const { invoice } of whole.invoices) yield* (yield* Invoices).create(tenant.carrier, invoice)
    assert.deepStrictEqual([...new Set(yield* report(tenant, whole))], ["duplicate"])
    yield* TestWaybill.pass("1 minute")
    assert.strictEqual((yield* receivers.requests(statusUrl)).length + (yield* receivers.requests(chargeUrl)).length, before)
  }, Effect.provide(TestWaybill.layer())))
})
