import { assert, describe, it } from "@effect/vitest"
import {
  deliveryMessages,
  milestones,
  freightExceptions,
  registerShipment,
  reportOfUpdate,
  type StatusReport,
  StatusUpdate,
  terminalStatuses
} from "@waybill/core/shipment-status"
import { ReportedEvent } from "@waybill/core/transit-events"
import { postedShipment } from "@waybill/testkit"
import { Schema } from "effect"
import * as Arbitrary from "effect/Arbitrary"
import { oneOf } from "../arbitraries.ts"
import { statusFromTransitEvent } from "../../src/intake/StatusFromTransitEvent.ts"
import { transitEventFromStatus, typeOfUpdate } from "../../src/intake/TransitEventFromStatus.ts"

const registered = registerShipment(postedShipment("S", { ShipmentMilestoneStatus: "Picked-up" }), [], 0)
assert(registered.result === "accepted")
const { view } = registered.known

const occurredAt = "2026-11-20T08:15:00-06:00"

const eventOf = (update: StatusUpdate) => transitEventFromStatus({ shipmentId: "S", view }, update, "status-update-1", occurredAt)

/** The report that the update's event converts back to. */
const readBack = (update: StatusUpdate): StatusReport => statusFromTransitEvent(eventOf(update), "status-update-1")

const present = <A extends object>(value: A) => Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as A

const anyMovement: Arbitrary.Arbitrary<StatusUpdate> = Arbitrary.map(
  Arbitrary.all({
    shipmentMilestoneStatus: oneOf(milestones),
    terminalStatus: oneOf([undefined, ...terminalStatuses, ...freightExceptions]),
    terminaltype: oneOf([undefined, "origin", "delivery"] as const),
    terminalAddress: oneOf([undefined, null, { TerminalID: "CHI", City: "Cicero", State: "IL", PostalCode: "60804", Country: "USA" as const }]),
    UpdatedETA: oneOf([undefined, "2026-11-26", "2026-11-26T08:00:00-06:00"]),
    TimeZoneOfShipment: oneOf([undefined, null, "-6"]),
    trailerNumber: oneOf([undefined, "T-1"]),
    notificationMessage: oneOf([undefined, "On its way."]),
    UpdatedPro: oneOf([undefined, "P-2"]),
    stops: oneOf([undefined, 3, 2, 1])
  }),
  ({ stops, ...update }) =>
    present({
      shipmentId: "S",
      ...update,
      countsToDelivery: update.shipmentMilestoneStatus === "Out for Delivery" ? stops : undefined,
      ...(update.shipmentMilestoneStatus === "Interline" ? { PartnerCarrierName: "Other Lines", PartnerCarrierSCAC: "OTHR" } : {})
    }) as StatusUpdate
)

const anyInformation: Arbitrary.Arbitrary<StatusUpdate> = Arbitrary.map(
  Arbitrary.all({
    deliveryInformation_messages: oneOf(deliveryMessages),
    customsStatus: oneOf([undefined, "Broker Identified", "Bond", "Hold", "Cleared Customs"] as const),
    appointmentStatus: oneOf([undefined, "appointment scheduled", "appointment missed"] as const),
    delayReasonCode: oneOf([undefined, "390-1"]),
    UpdatedETA: oneOf([undefined, "2026-11-26"])
  }),
  (update) => present({ proNumber: "S", ...update }) as StatusUpdate
)

describe("the event of a status update", () => {
  it.prop("is a valid event of the log", [anyMovement, anyInformation], (updates) => {
    for (const update of updates) {
      assert.isTrue(Schema.is(StatusUpdate)(update), JSON.stringify(update))
      assert.isTrue(Schema.is(ReportedEvent)(eventOf(update)), JSON.stringify(eventOf(update)))
    }
  })

  it.prop("converts back to a report that agrees with the update", [anyMovement], ([update]) => {
    const original = reportOfUpdate({ ...update, occurredAt }, "u", 0)
    const again = readBack(update)
    if (original.exceptions !== undefined) {
      assert.deepStrictEqual(again.exceptions, original.exceptions)
    } else {
      assert.strictEqual(again.milestone, original.milestone)
      const status = again.terminal?.status
      assert.isTrue(status === undefined || status === original.terminal?.status)
    }
    for (const field of ["updatedEta", "timeZone", "trailerNumber", "message", "updatedPro"] as const) assert.deepStrictEqual(again[field], original[field], field)
    if (original.exceptions === undefined) {
      assert.deepStrictEqual(again.stopsAway, original.stopsAway)
      assert.deepStrictEqual(again.partner, original.partner)
      if (original.milestone === "Delivered") assert.strictEqual(again.custody, "consignee")
    }
  })

  it.prop("keeps proofs of delivery, missed deliveries and customs information", [anyInformation], ([update]) => {
    const messages = readBack(update).information?.map((each) => each.deliveryInformation_messages) ?? []
    const message = update.deliveryInformation_messages!
    if (message === "POD available" || message === "Missed delivery") assert.include(messages, message)
    if (message === "Customs information" && (update.customsStatus === "Hold" || update.customsStatus === "Cleared Customs")) assert.include(messages, message)
    assert.isUndefined(readBack(update).milestone)
  })

  it.each([
    [{ shipmentMilestoneStatus: "Picked-up" }, "PICKED_UP"],
    [{ shipmentMilestoneStatus: "In Transit" }, "IN_TRANSIT"],
    [{ shipmentMilestoneStatus: "In Transit", terminalStatus: "Arrived" }, "ARRIVED_AT_TERMINAL"],
    [{ shipmentMilestoneStatus: "In Transit", terminalStatus: "Departed" }, "DEPARTED_TERMINAL"],
    [{ shipmentMilestoneStatus: "In Transit", terminalStatus: "Loaded" }, "IN_TRANSIT"],
    [{ shipmentMilestoneStatus: "Interline" }, "IN_TRANSIT"],
    [{ shipmentMilestoneStatus: "Interline", terminalStatus: "Arrived" }, "ARRIVED_AT_TERMINAL"],
    [{ shipmentMilestoneStatus: "Out for Delivery" }, "OUT_FOR_DELIVERY"],
    [{ shipmentMilestoneStatus: "Delivered" }, "DELIVERED"],
    [{ shipmentMilestoneStatus: "Delivered", terminalStatus: "Damaged" }, "EXCEPTION"],
    [{ deliveryInformation_messages: "Noted late" }, "DELAY"],
    [{ deliveryInformation_messages: "Missed delivery" }, "DELIVERY_ATTEMPTED"],
    [{ deliveryInformation_messages: "POD available" }, "PROOF_OF_DELIVERY"],
    [{ deliveryInformation_messages: "Customs information", customsStatus: "Hold" }, "CUSTOMS_HOLD"],
    [{ deliveryInformation_messages: "Customs information", customsStatus: "Cleared Customs" }, "CUSTOMS_CLEARED"],
    [{ deliveryInformation_messages: "Customs information", customsStatus: "Bond" }, "OTHER"],
    [{ deliveryInformation_messages: "Noted reweigh" }, "OTHER"]
  ] as ReadonlyArray<readonly [StatusUpdate, string]>)("of %j is %s", (update, type) => {
    assert.strictEqual(typeOfUpdate(update), type)
  })
})
