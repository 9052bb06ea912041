import { assert, describe, it } from "@effect/vitest"
import { FreightChargeIntake, ShipmentJourneys, type ShipmentJourney, Tenants } from "@waybill/core"
import { InvoiceDocuments, Invoices } from "@waybill/core/invoices"
import { Pickups } from "@waybill/core/pickups"
import { documentsSample, freightCharge, invoiceSample, pickupRequest, requestedShipment, TestWaybill } from "@waybill/testkit"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { inService } from "../inService.ts"
import { faultsOf, makeCarrier, tagOf } from "../shipment-status/Carrier.ts"
import { untyped } from "../untyped.ts"
import { journeyLimits } from "../../src/journey/ShipmentJourneys.ts"

const hour = 3_600_000

/** A carrier, and the services for searching shipments. */
const setup = Effect.gen(function*() {
  const carrier = yield* makeCarrier
  const journeys = yield* ShipmentJourneys
  const charges = yield* FreightChargeIntake
  const invoices = yield* Invoices
  const documents = yield* InvoiceDocuments
  const pickups = yield* Pickups
  const find = (reference: string) => Effect.map(journeys.find("acme", { reference }), ({ data }) => data)
  const found = (reference: string) => Effect.map(find(reference), (data) => data.map((each) => each.shipmentId))
  const get = (shipmentId: string) => journeys.get("acme", shipmentId)
  const bill = (change: string, uniqueID: string, more: object = {}) =>
    charges.report(carrier.tenant.carrier, untyped({ charges: [{ change, accounts: ["A"], pfc: freightCharge(uniqueID, more) }] }))
  const order = (proNumber: string) =>
    pickups.create(carrier.customer, pickupRequest({ more: { shipmentDetails: [requestedShipment({ proNumber })] } }))
  return { ...carrier, journeys, invoices, documents, pickups, find, found, get, bill, order }
})

const kinds = ({ entries }: ShipmentJourney) => entries.map((each) => `${each.area} ${each.kind}`)

describe("ShipmentJourneys", () => {
  it.effect("return the entries of all areas, in order of time", Effect.fnUntraced(function*() {
    const { bill, customer, documents, get, invoices, order, post, tenant, update } = yield* setup
    yield* order("123-4567890")
    yield* TestClock.adjust(hour)
    yield* post("S1", { ProNumber: "1234567890" })
    yield* TestClock.adjust(hour)
    yield* update({ shipmentId: "S1", shipmentMilestoneStatus: "Picked-up" })
    yield* TestClock.adjust(hour)
    yield* bill("created", "1234567890WAYB20261120", { total: 100 })
    yield* TestClock.adjust(hour)
    yield* bill("updated", "1234567890WAYB20261120", { total: 120.5 })
    yield* TestClock.adjust(hour)
    yield* invoices.create(tenant.carrier, invoiceSample({ shipmentID: "S1", uniqueID: "INV-7" }))
    yield* TestClock.adjust(hour)
    yield* documents.upload(tenant.carrier, documentsSample({ shipmentID: "S1", invoiceNumber: "4711" }))

    const journey = yield* get("S1")
    assert.deepStrictEqual(kinds(journey), [
      "pickups pickup requested",
      "shipment-status shipment",
      "shipment-status Picked-up",
      "transit-events PICKED_UP",
      "freight-charges created",
      "freight-charges updated",
      "invoices invoice created",
      "invoices documents added"
    ])
    assert.deepStrictEqual(journey.entries.map((each) => each.at), journey.entries.map((each) => each.at).toSorted())
    assert.deepStrictEqual(
      [journey.shipmentId, journey.proNumber, journey.accounts, journey.truncated, journey.deliveries, journey.deliveriesSince],
      ["S1", "1234567890", ["A"], false, [], null]
    )
    const titles = journey.entries.map((each) => each.title)
    assert.deepStrictEqual(titles[0], `Pickup requested by ${customer.client}: Accepted`)
    assert.deepStrictEqual(titles.slice(4), [
      "Freight charges created, PFC1",
      "Freight charges updated, PFC2, 120.50 USD",
      "Invoice INV-7 created, 263.78 USD",
      "POD added to invoice 4711"
    ])
    assert.deepStrictEqual(journey.entries.map((each) => each.reference).slice(4), ["1234567890WAYB20261120", "1234567890WAYB20261120", "INV-7", "4711"])
    assert.strictEqual((journey.entries[3]!.document as { readonly type: string }).type, "PICKED_UP")
    const [first, second] = journey.entries.slice(4).map((each) => each.document as Record<string, any>)
    assert.deepStrictEqual([first!["pfc"], second!["pfc"].charges.preliminaryTotalCharges], [undefined, 120.5])
  }, inService))

  it.effect("return deliveries about the shipment, of every area, newest first", Effect.fnUntraced(function*() {
    const { bill, customer, follow, get, post, tenant, notified, update } = yield* setup
    yield* TestWaybill.subscribe(tenant, customer, { endpointUrl: "https://client.example/events" })
    yield* TestWaybill.subscribeToCharges(tenant.customer("client", ["A"]), {
      webhookUrl: "https://client.example/charges",
      accounts: ["A"],
      dataOptions: { shipmentDataType: "all_monitored_events" }
    })
    yield* follow("1234567890")
    yield* post("S1", { ProNumber: "1234567890" })
    yield* post("S2", { ProNumber: "2222222222" })
    yield* update({ shipmentId: "S1", shipmentMilestoneStatus: "Picked-up" })
    yield* notified
    yield* TestClock.adjust(hour)
    yield* bill("created", "1234567890WAYB20261120")
    yield* notified
    const { deliveries } = yield* get("S1")
    assert.deepStrictEqual(deliveries.map((each) => each.area).toSorted(), ["freight-charges", "shipment-status", "transit-events"])
    assert.strictEqual(deliveries[0]!.area, "freight-charges")
    assert.deepStrictEqual(deliveries.map((each) => each.createdAt), deliveries.map((each) => each.createdAt).toSorted().toReversed())
    assert.deepStrictEqual([...new Set(deliveries.map((each) => each.state))], ["delivered"])
    assert.deepStrictEqual((yield* get("S2")).deliveries, [])
  }, inService))

  it.effect("are found by any number of the shipment, in any spelling", Effect.fnUntraced(function*() {
    const { find, found, post } = yield* setup
    const references = { bolNumber: "BOL-77", poNumber: "PO 5, PO 6" }
    yield* post("S1", { ProNumber: "123-456", ReferenceNumbers: references, references: [{ type: "PRO", value: "999" }], ShipmentMilestoneStatus: "Picked-up" })
    for (const reference of ["S1", " S1 ", "123456", "123-456", "bol77", "BOL-77", "po 5", "PO6", "999"]) {
      assert.deepStrictEqual(yield* found(reference), ["S1"], reference)
    }
    const [shown] = yield* find("123456")
    assert.deepStrictEqual(shown, {
      shipmentId: "S1",
      proNumber: "123-456",
      bolNumber: "BOL-77",
      carrier: null,
      status: "Picked-up",
      lastAt: "2026-11-20T14:00:00.000Z"
    })
    for (const reference of ["", "   ", "12345", "1234567", "BOL", "s1", "\u0000", "x".repeat(300), "%", "'; DROP TABLE x"]) {
      assert.deepStrictEqual(yield* found(reference), [], JSON.stringify(reference))
    }
  }, inService))

  it.effect("are found for every shipment that shares a number, latest pickup first, at most 20", Effect.fnUntraced(function*() {
    const { found, post } = yield* setup
    for (let n = 10; n < 35; n++) yield* post(`S${n}`, { ProNumber: String(n), pickupDate: `2026-10-${n - 9}`.replace(/-(\d)$/, "-0$1"), ReferenceNumbers: { bolNumber: "N/A" } })
    const all = yield* found("N/A")
    assert.lengthOf(all, 20)
    assert.strictEqual(all[0], "S34")
  }, inService))

  it.effect("include shipments that only the event log knows", Effect.fnUntraced(function*() {
    const { find, get, happen } = yield* setup
    const shipment = { shipmentId: "S1", scac: "WAYB", references: [{ type: "PRO Number", value: "555-1" }, { type: "bol", value: "B9" }, {}], origin: {}, destination: {} }
    yield* happen("S1", { type: "PICKED_UP", accounts: ["A"], more: { shipment } })
    yield* happen("S1", { type: "ARRIVED_AT_TERMINAL", occurredAt: "2026-11-20T20:00:00-06:00", more: { shipment, location: { city: "Joliet", state: "IL" }, status: "X1" } })
    assert.deepStrictEqual(yield* find("S1"), [
      { shipmentId: "S1", proNumber: "555-1", bolNumber: "B9", carrier: "WAYB", status: "ARRIVED_AT_TERMINAL", lastAt: "2026-11-21T02:00:00.000Z" }
    ])
    const journey = yield* get("S1")
    assert.deepStrictEqual([journey.proNumber, journey.bolNumber, journey.accounts], ["555-1", "B9", ["A"]])
    assert.deepStrictEqual(journey.entries.map((each) => each.title), ["Picked up", "Arrived at terminal, Joliet, IL (X1)"])
  }, inService))

  it.effect("include shipments that only have a bill or a pickup, by PRO, or an invoice, by shipmentId", Effect.fnUntraced(function*() {
    const { bill, find, get, invoices, order, tenant } = yield* setup
    yield* bill("created", "7777777777WAYB20261120", { total: 10 })
    yield* bill("created", "7777777777-9WAYB20261120", { more: { referenceNumbers: { pro: "7777777777-9" } } })
    yield* order("888-1")
    yield* invoices.create(tenant.carrier, invoiceSample({ shipmentID: "S9" }))
    const [charged, ...others] = yield* find("777-7777777")
    assert.deepStrictEqual(others, [])
    assert.deepStrictEqual([charged!.shipmentId, charged!.proNumber, charged!.status], ["777-7777777", "7777777777", "charges created"])
    const byPro = yield* get("777-7777777")
    assert.deepStrictEqual([kinds(byPro), byPro.accounts, byPro.proNumber, byPro.bolNumber], [["freight-charges created"], ["A"], "7777777777", "BOL-7777777777WAYB20261120"])
    assert.deepStrictEqual((yield* find("8881")).map((each) => [each.shipmentId, each.proNumber, each.status]), [["8881", "8881", "pickup Accepted"]])
    assert.deepStrictEqual(kinds(yield* get("8881")), ["pickups pickup requested"])
    assert.deepStrictEqual((yield* find("S9")).map((each) => [each.shipmentId, each.proNumber, each.status]), [["S9", null, "invoice created"]])
    assert.deepStrictEqual(kinds(yield* get("S9")), ["invoices invoice created"])
  }, inService))

  it.effect("find a shipment once, even if its PRO also has a bill and a pickup", Effect.fnUntraced(function*() {
    const { bill, find, happen, order, post } = yield* setup
    yield* bill("created", "1234567890WAYB20261120")
    yield* order("1234567890")
    yield* post("S1", { ProNumber: "1234567890" })
    yield* happen("S1", { type: "PICKED_UP", occurredAt: "2026-11-20T20:00:00Z" })
    // the carrier is in its events, not in its status
    assert.deepStrictEqual((yield* find("1234567890")).map((each) => [each.shipmentId, each.carrier, each.status, each.lastAt]), [
      ["S1", "WAYB", "Picked-up", "2026-11-20T20:00:00.000Z"]
    ])
  }, inService))

  it.effect("do not return other tenants' shipments, and refuse an unknown shipment", Effect.fnUntraced(function*() {
    const { get, journeys, order, post } = yield* setup
    yield* (yield* Tenants).put("other", { name: "Other" })
    yield* post("S1", { ProNumber: "123" })
    yield* order("123")
    assert.deepStrictEqual(yield* journeys.find("other", { reference: "123" }), { data: [] })
    assert.strictEqual(yield* tagOf(journeys.get("other", "S1")), "ShipmentNotFound")
    for (const shipmentId of ["S2", "", " ", "\u0000", "\ud800", "x".repeat(100_000), "'; DROP TABLE x"]) {
      assert.strictEqual(yield* tagOf(get(shipmentId)), "ShipmentNotFound", JSON.stringify(shipmentId))
    }
    assert.deepStrictEqual(yield* faultsOf(journeys.find("acme", untyped({}))), ["/reference required"])
    assert.deepStrictEqual(yield* faultsOf(journeys.find("acme", untyped({ reference: "S1", colour: "red" }))), ["/colour unknown_field"])
  }, inService))

  it.effect("leave out the oldest entries beyond the limit, and set truncated", Effect.fnUntraced(function*() {
    const { events, get, tenant } = yield* setup
    const more = { shipment: { shipmentId: "S1", origin: {}, destination: {} } }
    const event = (n: number) => ({ eventId: `e${n}`, type: "IN_TRANSIT", occurredAt: new Date(Date.UTC(2026, 10, 20, 0, 0, n)).toISOString(), ...more })
    yield* events.report(tenant.carrier, untyped({ events: Array.from({ length: journeyLimits.entries + 1 }, (_, n) => event(n)) }))
    const { entries, truncated } = yield* get("S1")
    assert.deepStrictEqual([entries.length, entries[0]!.reference, entries.at(-1)!.reference, truncated], [500, "e1", "e500", true])
  }, inService))
})
