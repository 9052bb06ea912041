import { assert, describe, it } from "@effect/vitest"
import { formatInstant } from "@waybill/core"
import {
  type Applied,
  applyReport,
  DeliveryInformation,
  type KnownShipment,
  type Milestone,
  registerShipment,
  type StatusReport
} from "@waybill/core/shipment-status"
import { postedShipment } from "@waybill/testkit"
import { Schema } from "effect"
import { withoutUndefined } from "../../../src/shared/Json.ts"

const start = Date.UTC(2026, 10, 20, 14)
const hour = 3_600_000

const registered = (): KnownShipment => {
  const result = registerShipment(postedShipment("S"), [], start)
  assert(result.result === "accepted")
  return result.known
}

const report = (hours: number, more: Partial<StatusReport>): StatusReport => ({
  occurredAt: formatInstant(start + hours * hour),
  at: start + hours * hour,
  source: { kind: "event", id: `${hours}` },
  onlyForward: true,
  ...more
})

const reach = (hours: number, milestone: Milestone, more: Partial<StatusReport> = {}) => report(hours, { milestone, ...more })
const missed = (hours: number, more: Partial<StatusReport> = {}) => report(hours, { information: [{ deliveryInformation_messages: "Missed delivery" }], ...more })

const play = (reports: ReadonlyArray<StatusReport>, from = registered()) => {
  let known = from
  const applied = reports.map((each): Applied => {
    const one = applyReport(known, each)
    known = one.known
    return one
  })
  return { known, notified: applied.map(({ notifications }) => notifications.length), last: applied.at(-1)! }
}

describe("another delivery attempt", () => {
  it("after a missed one is notified, and its stops count down again", () => {
    const { known, notified } = play([
      reach(1, "Out for Delivery", { stopsAway: 2 }),
      report(2, { stopsAway: 1 }),
      missed(3),
      reach(20, "Out for Delivery", { stopsAway: 3 }),
      report(21, { stopsAway: 2 })
    ])
    assert.deepStrictEqual(notified, [1, 1, 1, 1, 1])
    assert.deepInclude(known.view, { ShipmentMilestoneStatus: "Out for Delivery", OFDStopsAway: 2 })
    assert.isFalse(known.state.deliveryMissed)
  })

  it("does not count if nothing was missed, if it is repeated, or if it is older than the miss", () => {
    const out = reach(1, "Out for Delivery")
    assert.deepStrictEqual(play([out, reach(2, "Out for Delivery")]).notified, [1, 0])
    assert.deepStrictEqual(play([out, missed(3), reach(20, "Out for Delivery"), reach(21, "Out for Delivery")]).notified, [1, 1, 1, 0])
    assert.deepStrictEqual(play([out, missed(3), reach(2, "Out for Delivery"), reach(3, "Out for Delivery")]).notified, [1, 1, 0, 0])
  })

  it("without a time counts from an update, and not from a posted shipment", () => {
    const first = [reach(1, "Out for Delivery"), missed(3)]
    assert.deepStrictEqual(play([...first, reach(9, "Out for Delivery", { undated: true, source: { kind: "update", id: "u" } })]).notified, [1, 1, 1])
    assert.deepStrictEqual(play([...first, reach(9, "Out for Delivery", { undated: true, source: { kind: "shipment", id: "S" } })]).notified, [1, 1, 0])
  })

  it("ends the permission to go back to the terminal", () => {
    const back = reach(30, "In Transit", { onlyForward: false })
    const { last } = play([reach(1, "Out for Delivery"), missed(3), reach(20, "Out for Delivery"), back])
    assert.strictEqual(last.outcome, "refused")
    // an unchanged milestone is not offered as a move
    assert.notInclude(play([reach(1, "Out for Delivery"), reach(2, "Picked-up", { onlyForward: false })]).last.why!, "to Out for Delivery")
  })
})

describe("after Delivered", () => {
  it("missed deliveries and appointments are ignored", () => {
    const { known, notified } = play([
      reach(1, "Delivered"),
      missed(2),
      report(3, { information: [{ deliveryInformation_messages: "Appointment Update", appointmentStatus: "appointment missed", appointmentDate: "2026-11-24" }] })
    ])
    assert.deepStrictEqual(notified, [1, 0, 0])
    assert.deepInclude(known.view, { AppointmentStatus: null, AppointmentRequired: false })
  })
})

describe("an appointment", () => {
  const appointment = (hours: number, appointmentStatus: "appointment scheduled" | "appointment missed", appointmentDate: string) =>
    report(hours, { information: [{ deliveryInformation_messages: "Appointment Update", appointmentStatus, appointmentDate }] })

  it("is notified once, even if a system repeats it with every event", () => {
    const scheduled = [2, 3, 4].map((hours) => appointment(hours, "appointment scheduled", "2026-11-24"))
    const { notified } = play([
      reach(1, "In Transit"),
      ...scheduled,
      appointment(5, "appointment missed", "2026-11-24"),
      appointment(6, "appointment scheduled", "2026-11-25"),
      appointment(7, "appointment missed", "2026-11-25")
    ])
    assert.deepStrictEqual(notified, [1, 1, 0, 0, 1, 1, 1])
  })
})

describe("a partner carrier", () => {
  const partner = { name: "Partner Freight", scac: "PRTN" }

  it("is named from the handover on, and its PRO at the handover", () => {
    const { known } = play([reach(1, "In Transit", { updatedPro: "PF-1" })])
    const handed = applyReport(known, reach(2, "Interline", { partner }))
    assert.deepInclude(handed.notifications[0], { PartnerCarrierName: "Partner Freight", PartnerCarrierSCAC: "PRTN", UpdatedPro: "PF-1" })
    for (const milestone of ["Out for Delivery", "Delivered"] as const) {
      assert.deepInclude(applyReport(handed.known, reach(3, milestone)).notifications[0], { PartnerCarrierName: "Partner Freight", PartnerCarrierSCAC: "PRTN" })
    }
  })

  it("without a name is left out", () => {
    const { last } = play([reach(1, "Out for Delivery")])
    for (const field of ["PartnerCarrierName", "PartnerCarrierSCAC", "UpdatedPro", "trailerNumber", "countsToDelivery", "terminalStatus", "terminaltype", "terminalAddress"]) {
      assert.notProperty(last.notifications[0], field)
    }
  })
})

describe("the terminal of a report", () => {
  const terminal = { type: "delivery", info: { TerminalID: "BOS" } } as const
  const named = { terminaltype: "delivery", terminalAddress: { TerminalID: "BOS" } } as const

  it("is named with an exception that was noted there, and so is the trailer", () => {
    const { known } = play([reach(1, "In Transit")])
    const { notifications } = applyReport(known, report(2, { exceptions: ["Damaged"], terminal, trailerNumber: "T-9" }))
    assert.lengthOf(notifications, 1)
    assert.deepInclude(notifications[0], { ...named, terminalStatus: "Damaged", trailerNumber: "T-9" })
    // two exceptions of a posted shipment are two notifications
    const both = applyReport(known, report(2, { exceptions: ["Damaged", "Short"], terminal })).notifications
    for (const [at, terminalStatus] of (["Damaged", "Short"] as const).entries()) assert.deepInclude(both[at], { ...named, terminalStatus })
  })

  it("is named with a movement that has no terminal status", () => {
    const { last } = play([reach(1, "Out for Delivery", { terminal })])
    assert.deepInclude(last.notifications[0], named)
    assert.notProperty(last.notifications[0], "terminalStatus")
  })
})

describe("a rescheduled appointment", () => {
  const rescheduled = (appointmentDate: string | undefined, utcOffset?: string) => {
    const information = { deliveryInformation_messages: "Appointment Update", appointmentStatus: "appointment rescheduled", appointmentDate, utcOffset } as const
    const { last } = play([reach(1, "In Transit", { timeZone: "-6" }), report(2, { information: [withoutUndefined(information) as NonNullable<StatusReport["information"]>[number]] })])
    assert.isTrue(Schema.is(DeliveryInformation)(last.notifications[0]), appointmentDate)
    return (last.notifications[0] as DeliveryInformation).utcOffset
  }

  it("has the offset that is reported, else that of its date, else that of the freight's place", () => {
    assert.strictEqual(rescheduled("2026-11-27T09:00:00-05:00", "UTC-04:00"), "-4")
    for (const date of ["2026-11-27T09:00:00-05:00", "2026-11-27T09:00:00.5-05:00"]) assert.strictEqual(rescheduled(date), "-5", date)
    assert.strictEqual(rescheduled("2026-11-27T09:00:00+05:30"), "+5:30")
    // these have no place
    for (const date of [undefined, "2026-11-27", "2026-11-27T14:00:00Z", "2026-11-27T14:00:00+00:00", "2026-11-27T14:00:00+23:59"]) assert.strictEqual(rescheduled(date), "-6", date)
  })
})

describe("a delivery information", () => {
  it("has a UTC offset only if it is known", () => {
    const { last } = play([reach(1, "In Transit"), report(2, { information: [{ deliveryInformation_messages: "POD available" }] })])
    assert.isTrue(Schema.is(DeliveryInformation)(last.notifications[0]))
    assert.notProperty(last.notifications[0], "TimeZoneOfShipment")
    const { last: placed } = play([reach(1, "In Transit", { timeZone: "-6" }), missed(2)])
    assert.deepInclude(placed.notifications[0], { TimeZoneOfShipment: "-6", UpdatedETA: "2026-11-24" })
  })
})
