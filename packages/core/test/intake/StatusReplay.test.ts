import { assert, describe, it } from "@effect/vitest"
import { formatInstant } from "@waybill/core"
import { milestones, freightExceptions, registerShipment, terminalStatuses } from "@waybill/core/shipment-status"
import type { TransitEvent } from "@waybill/core/transit-events"
import { arbitraryReportedEvent, postedShipment } from "@waybill/testkit"
import { Effect } from "effect"
import * as Arbitrary from "effect/Arbitrary"
import { int, listOf, oneOf } from "../arbitraries.ts"
import { inService } from "../inService.ts"
import { makeCarrier, start, type Notified } from "../shipment-status/Carrier.ts"
import { statusFromTransitEvent } from "../../src/intake/StatusFromTransitEvent.ts"

const hour = 3_600_000

const present = (value: object) => Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined))

const movement: Arbitrary.Arbitrary<Notified> = Arbitrary.map(
  Arbitrary.all({
    shipmentMilestoneStatus: oneOf(milestones),
    terminalStatus: oneOf([undefined, undefined, ...terminalStatuses, ...freightExceptions]),
    UpdatedETA: oneOf([undefined, undefined, "2026-11-23", "2026-11-26", "2026-11-26T08:00:00-06:00"]),
    trailerNumber: oneOf([undefined, "T-1", "T-2"]),
    UpdatedPro: oneOf([undefined, undefined, "P-2"]),
    stops: oneOf([undefined, 9, 3, 2, 1])
  }),
  ({ stops, ...update }) =>
    present({
      ...update,
      countsToDelivery: update.shipmentMilestoneStatus === "Out for Delivery" ? stops : undefined,
      ...(update.shipmentMilestoneStatus === "Interline" ? { PartnerCarrierName: "Other Lines", PartnerCarrierSCAC: "OTHR" } : {})
    })
)

const information: Arbitrary.Arbitrary<Notified> = Arbitrary.map(
  Arbitrary.all({
    deliveryInformation_messages: oneOf(["POD available", "Noted late", "Missed delivery", "Missed delivery", "Noted reweigh", "Customs information"]),
    UpdatedETA: oneOf([undefined, "2026-11-23", "2026-11-26"]),
    hold: oneOf([true, false])
  }),
  ({ hold, ...update }) =>
    present({
      ...update,
      ...(update.deliveryInformation_messages === "Customs information" ? { customsStatus: hold ? "Hold" : "Cleared Customs" } : {}),
      ...(update.deliveryInformation_messages === "Noted late" ? { delayReasonCode: "390-1" } : {})
    })
)

/** One write per hour: a status update with a movement or with information, or an event. */
const anyWrites = listOf(Arbitrary.all({ kind: int(0, 3), movement, information, event: arbitraryReportedEvent, backwards: int(0, 9) }), 1, 12)

describe("a status view", () => {
  it.effect.prop("gives the same status directly as from a replay of the event log", [anyWrites], Effect.fnUntraced(function*([writes]) {
    const { events, logged, post, tenant, updates, view } = yield* makeCarrier
    yield* post("S1")
    for (const [n, write] of writes.entries()) {
      // some writes have an earlier time than the write before
      const occurredAt = formatInstant(start + (write.backwards === 0 ? n - 3.5 : n) * hour)
      if (write.kind === 3) {
        yield* events.report(tenant.carrier, { ...write.event, occurredAt, shipment: { ...write.event.shipment, shipmentId: "S1" } })
      } else {
        const update = write.kind === 2 ? write.information : write.movement
        yield* updates.report(tenant.carrier, { updates: [{ shipmentId: "S1", occurredAt, ...update }] }, { partial: true })
      }
    }
    const reports = (yield* logged).map((event) => statusFromTransitEvent(event as unknown as TransitEvent, event["eventId"])).toSorted((a, b) => a.at - b.at)
    const hasLateWrite = writes.some(({ backwards }) => backwards === 0)
    const replayed = registerShipment(postedShipment("S1"), reports, start)
    assert(replayed.result === "accepted")
    const { view: expected } = replayed.known
    const shown = yield* view("S1")
    for (const field of ["Reconsignment", "ShipmentShortage", "ShipmentDamage", "AllShortOrLostShipment", "PODAvailable"] as const) {
      assert.deepStrictEqual(shown[field], expected[field], field)
    }
    // a late event is ignored on arrival, but the replay applies it in order
    if (hasLateWrite) return
    for (const field of ["ReferenceNumbers", "UpdatedPro", "ShipmentMilestoneStatus", "UpdatedETA", "Late", "OFDStopsAway", "PartnerCarrierName", "CrossBorderStatus"] as const) {
      assert.deepStrictEqual(shown[field] ?? null, expected[field] ?? null, field)
    }
  }, inService), 60_000)
})
