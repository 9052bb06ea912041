import { assert, describe, it } from "@effect/vitest"
import { type Applied, applyReport, DeliveryInformation, formatInstant, type KnownShipment, type Milestone, registerShipment, type StatusReport } from "@waybill/core"
import { postedShipment } from "@waybill/testkit"
import { Schema } from "effect"

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
  return { known, told: applied.map(({ notifications }) => notifications.length), last: applied.at(-1)! }
}

describe("another attempt to deliver", () => {
  it("after a missed one is told again, and its stops count down anew", () => {
    const { known, told } = play([
      reach(1, "Out for Delivery", { stopsAway: 2 }),
      report(2, { stopsAway: 1 }),
      missed(3),
      reach(20, "Out for Delivery", { stopsAway: 3 }),
      report(21, { stopsAway: 2 })
    ])
    assert.deepStrictEqual(told, [1, 1, 1, 1, 1])
    assert.deepInclude(known.view, { ShipmentMilestoneStatus: "Out for Delivery", OFDStopsAway: 2 })
    assert.isFalse(known.state.deliveryMissed)
  })

  it("is none when nothing was missed, when it is told twice, or when it is news of the first one", () => {
    const out = reach(1, "Out for Delivery")
    assert.deepStrictEqual(play([out, reach(2, "Out for Delivery")]).told, [1, 0])
    assert.deepStrictEqual(play([out, missed(3), reach(20, "Out for Delivery"), reach(21, "Out for Delivery")]).told, [1, 1, 1, 0])
    assert.deepStrictEqual(play([out, missed(3), reach(2, "Out for Delivery"), reach(3, "Out for Delivery")]).told, [1, 1, 0, 0])
  })

  it("nobody dated is one from a report, and none from a snapshot", () => {
    const first = [reach(1, "Out for Delivery"), missed(3)]
    assert.deepStrictEqual(play([...first, reach(9, "Out for Delivery", { undated: true, source: { kind: "update", id: "u" } })]).told, [1, 1, 1])
    assert.deepStrictEqual(play([...first, reach(9, "Out for Delivery", { undated: true, source: { kind: "shipment", id: "S" } })]).told, [1, 1, 0])
  })

  it("ends the right to go back to the terminal", () => {
    const back = reach(30, "In Transit", { onlyForward: false })
    const { last } = play([reach(1, "Out for Delivery"), missed(3), reach(20, "Out for Delivery"), back])
    assert.strictEqual(last.outcome, "refused")
    // a way that leads nowhere new is no advice
    assert.notInclude(play([reach(1, "Out for Delivery"), reach(2, "Picked-up", { onlyForward: false })]).last.why!, "to Out for Delivery")
  })
})

describe("after Delivered", () => {
  it("nobody misses a delivery or an appointment", () => {
    const { known, told } = play([
      reach(1, "Delivered"),
      missed(2),
      report(3, { information: [{ deliveryInformation_messages: "Appointment Update", appointmentStatus: "appointment missed", appointmentDate: "2026-11-24" }] })
    ])
    assert.deepStrictEqual(told, [1, 0, 0])
    assert.deepInclude(known.view, { AppointmentStatus: null, AppointmentRequired: false })
  })
})

describe("an appointment", () => {
  const appointment = (hours: number, appointmentStatus: "appointment scheduled" | "appointment missed", appointmentDate: string) =>
    report(hours, { information: [{ deliveryInformation_messages: "Appointment Update", appointmentStatus, appointmentDate }] })

  it("is told once, although a system repeats it with every event", () => {
    const scheduled = [2, 3, 4].map((hours) => appointment(hours, "appointment scheduled", "2026-11-24"))
    const { told } = play([
      reach(1, "In Transit"),
      ...scheduled,
      appointment(5, "appointment missed", "2026-11-24"),
      appointment(6, "appointment scheduled", "2026-11-25"),
      appointment(7, "appointment missed", "2026-11-25")
    ])
    assert.deepStrictEqual(told, [1, 1, 0, 0, 1, 1, 1])
  })
})

describe("a partner carrier", () => {
  const partner = { name: "Partner Freight", scac: "PRTN" }

  it("that was handed the freight is named for the rest of the way, its PRO when it is handed over", () => {
    const { known } = play([reach(1, "In Transit", { updatedPro: "PF-1" })])
    const handed = applyReport(known, reach(2, "Interline", { partner }))
    assert.deepInclude(handed.notifications[0], { PartnerCarrierName: "Partner Freight", PartnerCarrierSCAC: "PRTN", UpdatedPro: "PF-1" })
    for (const milestone of ["Out for Delivery", "Delivered"] as const) {
      assert.deepInclude(applyReport(handed.known, reach(3, milestone)).notifications[0], { PartnerCarrierName: "Partner Freight", PartnerCarrierSCAC: "PRTN" })
    }
  })

  it("that nobody named is not spoken of", () => {
    const { last } = play([reach(1, "Out for Delivery")])
    for (const field of ["PartnerCarrierName", "PartnerCarrierSCAC", "UpdatedPro", "trailerNumber", "countsToDelivery", "terminalStatus", "terminaltype", "terminalAddress"]) {
      assert.notProperty(last.notifications[0], field)
    }
  })
})

describe("a delivery information", () => {
  it("leaves out an offset that nobody knows, and has it where somebody does", () => {
    const { last } = play([reach(1, "In Transit"), report(2, { information: [{ deliveryInformation_messages: "POD available" }] })])
    assert.isTrue(Schema.is(DeliveryInformation)(last.notifications[0]))
    assert.notProperty(last.notifications[0], "TimeZoneOfShipment")
    const { last: placed } = play([reach(1, "In Transit", { timeZone: "-6" }), missed(2)])
    assert.deepInclude(placed.notifications[0], { TimeZoneOfShipment: "-6", UpdatedETA: "2026-11-24" })
  })
})
