import { assert, describe, it } from "@effect/vitest"
import { applyReport, type KnownShipment, registerShipment, VerifiedShipment } from "@waybill/core/shipment-status"
import { type EventType, eventTypes, type Location } from "@waybill/core/transit-events"
import { arbitraryReportedEvent, type EventOverrides, postedShipment, reportedEvent } from "@waybill/testkit"
import { Schema } from "effect"
import { readFileSync } from "node:fs"
import { json } from "../arbitraries.ts"
import { meaningOfEvent, statusAttributeNames, statusFromTransitEvent } from "../../src/intake/StatusFromTransitEvent.ts"

const page = readFileSync(new URL("../../../../docs/areas/shipment-status.md", import.meta.url), "utf8")

const report = (type: EventType, attributes: Readonly<Record<string, unknown>> = {}, more: EventOverrides["more"] = {}) =>
  statusFromTransitEvent(reportedEvent("S", { type, more: { attributes, ...more } }), "e1")

const known = (): KnownShipment => {
  const registered = registerShipment(postedShipment("S", { ShipmentMilestoneStatus: "Picked-up" }), [], 0)
  assert(registered.result === "accepted")
  return registered.known
}

describe("the mapping of events", () => {
  it("equals the table in docs/areas/shipment-status.md (SPEC-GAP-A15)", () => {
    const listed = Array.from(
      page.matchAll(/^\| `([A-Z_]+)` \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$/gm),
      ([, type, ...cells]) => [type, ...cells.map((cell) => cell.trim())]
    )
    const effects = { delay: "by `delayReasonCode`, `updatedEta`", exception: "by `exception`" }
    const meant = eventTypes.map((type) => {
      const { customs, information, milestone, reads, terminal } = meaningOfEvent[type]
      const effect = information === undefined ? reads === undefined ? "–" : effects[reads] : customs === undefined ? information : `${information}: ${customs}`
      return [type, milestone ?? "–", terminal ?? "–", effect]
    })
    assert.deepStrictEqual(listed, meant)
  })

  it("reads exactly the attributes on that page", () => {
    const paragraph = page.split("These attributes are read;")[1]!.split("\n\n")[0]!
    assert.deepStrictEqual(Array.from(paragraph.matchAll(/`(\w+)`/g), ([, name]) => name), [...statusAttributeNames])
  })

  it("is empty for events that do not change the status", () => {
    for (const type of ["PICKUP_SCHEDULED", "PICKUP_ATTEMPTED", "CANCELLED", "OTHER"] as const) {
      const { outcome, notifications } = applyReport(known(), report(type))
      assert.deepStrictEqual([outcome, notifications], ["unchanged", []])
    }
  })

  it.prop("accepts arbitrary attributes, and always leaves a valid status", [arbitraryReportedEvent, json], ([event, garbage]) => {
    const attributes = Object.fromEntries(statusAttributeNames.map((name) => [name, garbage]))
    for (const each of [event, { ...event, attributes }]) {
      const { known: { view }, outcome } = applyReport(known(), statusFromTransitEvent(each, "e"))
      assert.notStrictEqual(outcome, "refused")
      assert.isTrue(Schema.is(VerifiedShipment)(view))
    }
  })
})

describe("attributes", () => {
  it("that are invalid are ignored (SPEC-GAP-A16)", () => {
    const result = report("OUT_FOR_DELIVERY", { stopsAway: "two", updatedEta: "soon", timeZone: 7, trailerNumber: "T-1", unknown: true })
    assert.deepInclude(result, { milestone: "Out for Delivery", trailerNumber: "T-1" })
    assert.notProperty(result, "stopsAway")
    assert.notProperty(result, "updatedEta")
    assert.notProperty(result, "timeZone")
    const blank = report("IN_TRANSIT", { message: " ", updatedPro: "", partnerCarrierName: "", partnerCarrierScac: " " })
    for (const name of ["message", "updatedPro", "partner"]) assert.notProperty(blank, name)
  })

  it("set stops away, delay reason and freight exceptions", () => {
    assert.strictEqual(report("OUT_FOR_DELIVERY", { stopsAway: 3 }).stopsAway, 3)
    assert.notProperty(report("IN_TRANSIT", { stopsAway: 3 }), "stopsAway")
    assert.deepInclude(report("DELAY", { delayReasonCode: "390-1", updatedEta: "2026-11-26" }), { delayReasonCode: "390-1", updatedEta: "2026-11-26" })
    assert.deepStrictEqual(report("EXCEPTION", { exception: "Damaged" }).exceptions, ["Damaged"])
    assert.notProperty(report("EXCEPTION", { exception: "wet" }), "exceptions")
  })

  it("set customs and appointment information", () => {
    assert.deepStrictEqual(report("CUSTOMS_HOLD", { customsStatus: "Bond", customsEntryNumber: "E-1" }).information, [
      { deliveryInformation_messages: "Customs information", customsStatus: "Bond", customsEntryNumber: "E-1" }
    ])
    assert.deepStrictEqual(report("CUSTOMS_CLEARED").information, [{ deliveryInformation_messages: "Customs information", customsStatus: "Cleared Customs" }])
    assert.deepStrictEqual(report("OTHER", { appointmentStatus: "appointment scheduled", appointmentDate: "2026-11-24" }).information, [
      { deliveryInformation_messages: "Appointment Update", appointmentStatus: "appointment scheduled", appointmentDate: "2026-11-24" }
    ])
  })
})

describe("DELIVERED", () => {
  type Place = Partial<typeof Location.Type>
  const milestoneAfter = (attributes: Readonly<Record<string, unknown>>, location?: Place) =>
    applyReport(known(), report("DELIVERED", attributes, location === undefined ? {} : { location })).known.view.ShipmentMilestoneStatus

  it("maps to Delivered in the consignee's custody, stated or not (SPEC-GAP-A17)", () => {
    assert.strictEqual(milestoneAfter({}), "Delivered")
    assert.strictEqual(milestoneAfter({}, { postalCode: "75201" }), "Delivered")
    assert.strictEqual(milestoneAfter({}, { city: "Dallas" }), "Delivered")
    // the same place in another spelling
    for (const postalCode of ["75201-1234", "752011234", " 75201 ", ""]) assert.strictEqual(milestoneAfter({}, { postalCode }), "Delivered", postalCode)
    // picked up by the consignee at a terminal
    assert.strictEqual(milestoneAfter({ custody: "consignee" }, { postalCode: "60608" }), "Delivered")
  })

  it("does not move the shipment at another place or in other custody", () => {
    assert.strictEqual(milestoneAfter({}, { postalCode: "60608" }), "Picked-up")
    assert.strictEqual(milestoneAfter({ custody: "other" }), "Picked-up")
  })

  it("to a partner carrier maps to Interline, like a movement with one", () => {
    const partner = { custody: "partner", partnerCarrierName: "Other Lines", partnerCarrierScac: "OTHR" }
    assert.strictEqual(milestoneAfter(partner), "Interline")
    assert.strictEqual(milestoneAfter({ custody: "partner" }), "Interline")
    assert.strictEqual(applyReport(known(), report("IN_TRANSIT", partner)).known.view.PartnerCarrierSCAC, "OTHR")
  })
})

describe("places", () => {
  const terminal = { locationId: "DAL", name: "Dallas Terminal", address1: "1 Dock Rd", city: "Dallas", state: "TX", postalCode: "75201", country: "USA" }

  it("set the terminal, and the shipment's location if they are complete", () => {
    const { view } = applyReport(known(), report("ARRIVED_AT_TERMINAL", { terminalType: "intermediate", timeZone: "-6" }, { location: terminal })).known
    assert.deepStrictEqual(view.ShipmentTerminalInfo, {
      TerminalID: "DAL",
      AddressLine1: "1 Dock Rd",
      City: "Dallas",
      State: "TX",
      PostalCode: "75201",
      Country: "USA",
      TerminalStatus: "Arrived"
    })
    assert.deepInclude(view.ShipmentLocation, { addressName: "Dallas Terminal", city: "Dallas" })
    assert.strictEqual(view.TimeZoneOfShipment, "-6")
    const further = applyReport({ view, state: known().state }, report("IN_TRANSIT", {}, { location: { city: "Tulsa" } })).known.view
    assert.notProperty(further, "ShipmentLocation")
  })

  it("outside the three countries have no country", () => {
    const { view } = applyReport(known(), report("VESSEL_UNLOADED", {}, { location: { ...terminal, country: "DEU" } })).known
    assert.notProperty(view.ShipmentTerminalInfo, "Country")
    assert.notProperty(view, "ShipmentLocation")
  })
})
