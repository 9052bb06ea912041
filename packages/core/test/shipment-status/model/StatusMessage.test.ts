import { assert, describe, it } from "@effect/vitest"
import { DeliveryInformation, DeliveryUpdate, informationOf, milestones, movementOf, terminalStatuses } from "@waybill/core/shipment-status"
import { arbitraryVerifiedShipment, verifiedShipment } from "@waybill/testkit"
import { Schema } from "effect"
import { oneOf } from "../../arbitraries.ts"

const view = verifiedShipment("7")

const sentence = (...[milestone, movement = {}]: readonly [(typeof milestones)[number], Parameters<typeof movementOf>[2]?]) =>
  movementOf(view, milestone, movement, undefined).notificationMessage

describe("a delivery update", () => {
  it("describes the movement in one sentence", () => {
    assert.deepStrictEqual(milestones.map((milestone) => sentence(milestone)), [
      "Shipment 7 was picked up.",
      "Shipment 7 is in transit.",
      "Shipment 7 was handed to a partner carrier.",
      "Shipment 7 is out for delivery.",
      "Shipment 7 was delivered."
    ])
    assert.strictEqual(sentence("In Transit", { terminalStatus: "Departed", terminaltype: "origin" }), "Shipment 7 departed from the origin terminal.")
    assert.strictEqual(
      sentence("In Transit", { terminalStatus: "Departed", terminalAddress: { TerminalID: null, City: "Dallas", State: "TX" } }),
      "Shipment 7 departed from the terminal in Dallas, TX."
    )
    assert.strictEqual(sentence("In Transit", { terminalStatus: "Departed" }), "Shipment 7 departed.")
    assert.strictEqual(sentence("In Transit", { terminalStatus: "Loaded", terminalAddress: { TerminalID: null, City: "Dallas" } }), "Shipment 7 was loaded at the terminal in Dallas.")
    assert.strictEqual(sentence("Out for Delivery", { countsToDelivery: 1 }), "Shipment 7 is out for delivery, 1 stop away.")
    assert.strictEqual(sentence("Delivered", { terminalStatus: "Damaged" }), "Shipment 7 was noted as damaged.")
  })

  it.prop("is valid for any shipment, and names the partner carrier while Interline and after a handover", [arbitraryVerifiedShipment, oneOf(milestones), oneOf([undefined, ...terminalStatuses])], ([shipment, milestone, terminalStatus]) => {
    const update = movementOf(shipment, milestone, terminalStatus === undefined ? {} : { terminalStatus }, undefined)
    assert.isTrue(Schema.is(DeliveryUpdate)(update))
    assert.strictEqual("PartnerCarrierName" in update && "PartnerCarrierSCAC" in update, milestone === "Interline" || shipment.PartnerCarrierName !== null)
  })
})

describe("a delivery information", () => {
  it("adds the texts of a published delay reason, and keeps the carrier's own texts", () => {
    const notified = informationOf(view, { deliveryInformation_messages: "Missed delivery", delayReasonCode: "460-1", responsibleParty: "Consignee" })
    assert.isTrue(Schema.is(DeliveryInformation)(notified))
    assert.deepInclude(notified, {
      generalDescription: "Unable to Access Consignee",
      carrierSpecificDescription: "Unable to access delivery location",
      majorStatusCategory: "Closed Shipment",
      responsibleParty: "Consignee"
    })
  })
})
