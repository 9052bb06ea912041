import { assert, describe, it } from "@effect/vitest"
import { formatInstant } from "@waybill/core"
import {
  applyReport,
  type KnownShipment,
  PostedShipment,
  type Registered,
  registerAgain,
  registerShipment,
  repeatsLastPost,
  type StatusReport,
  VerifiedShipment
} from "@waybill/core/shipment-status"
import { arbitraryVerifiedShipment, postedShipment, verifiedShipment } from "@waybill/testkit"
import { Schema } from "effect"

const now = Date.UTC(2026, 10, 20, 14)
const hour = 3_600_000

type Accepted = Extract<Registered, { readonly result: "accepted" }>

const accepted = (registered: Registered): Accepted => {
  assert(registered.result === "accepted", JSON.stringify(registered))
  return registered
}

const first = (overrides: Partial<PostedShipment> = {}, history: ReadonlyArray<StatusReport> = []): Accepted =>
  accepted(registerShipment(postedShipment("S", overrides), history, now))

const again = (known: KnownShipment, overrides: Partial<PostedShipment> = {}): Registered => registerAgain(known, postedShipment("S", overrides), now + hour)

const event = (hours: number, more: Partial<StatusReport>): StatusReport => ({
  occurredAt: formatInstant(now + hours * hour),
  at: now + hours * hour,
  source: { kind: "event", id: `e${hours}` },
  onlyForward: true,
  ...more
})

const notified = ({ notifications }: Accepted) =>
  notifications.map((each) => "notificationMessage" in each ? each.terminalStatus ?? each.shipmentMilestoneStatus : each.deliveryInformation_messages)

describe("a shipment posted for the first time", () => {
  it("has everything that the interface requires, empty if unknown", () => {
    const { view } = first({ ReferenceNumbers: { bolNumber: "B" } }).known
    assert.deepStrictEqual(view.ReferenceNumbers, {
      bolNumber: "B",
      QuoteID: null,
      ShipmentID: null,
      MasterBOL: null,
      poNumber: null,
      AdditionalReferences: null,
      trailerNumber: null
    })
    assert.isTrue(Schema.is(VerifiedShipment)({ ...view, ShipmentMilestoneStatus: "Picked-up" }))
    assert.deepInclude(view, { DESaccessorial: [], TimeCriticalInfo: {}, ShipmentTerminalInfo: { TerminalID: null }, UpdatedETA: view.EstimatedDeliveryDate, Late: false, UpdatedPro: null })
  })

  it("is not covered and not notified before its first milestone", () => {
    assert.isUndefined(first().known.view.ShipmentMilestoneStatus)
    assert.deepStrictEqual(first().notifications, [])
  })

  it.prop("has the posted values, field by field", [arbitraryVerifiedShipment], ([verified]) => {
    const { known: { view }, notifications } = accepted(registerShipment({ shipmentId: "S", ...verified }, [], now))
    assert.deepStrictEqual(view, verified)
    assert.lengthOf(notifications, 1)
    assert.isTrue(Schema.is(VerifiedShipment)(view))
  })

  it("applies the event log's history first, and causes one notification", () => {
    const history = [
      event(-9, { milestone: "Picked-up" }),
      event(-5, { milestone: "In Transit", terminal: { status: "Arrived", info: { TerminalID: "DAL" } } }),
      event(-4, { exceptions: ["Damaged"] })
    ]
    const registered = first({ ShipmentMilestoneStatus: "Picked-up" }, history)
    assert.deepInclude(registered.known.view, { ShipmentMilestoneStatus: "In Transit", ShipmentDamage: true })
    assert.strictEqual(registered.known.state.pickedUpAt, now - 9 * hour)
    assert.deepStrictEqual(notified(registered), ["In Transit"])
    assert.deepStrictEqual(registered.applied.map(({ report }) => report.source.kind), ["event", "event", "event", "shipment"])
    assert.strictEqual(registered.known.state.reports, 4)
  })

  it("does not revert the history with default values of the post", () => {
    const history = [
      event(-9, { milestone: "In Transit", terminal: { status: "Arrived", info: { TerminalID: "DAL" } }, trailerNumber: "T-1" }),
      event(-8, { exceptions: ["Damaged", "Short"], information: [{ deliveryInformation_messages: "POD available" }] }),
      event(-7, { information: [{ deliveryInformation_messages: "Customs information", customsStatus: "Hold", customsEntryNumber: "E-1" }] }),
      event(-6, { information: [{ deliveryInformation_messages: "Appointment Update", appointmentStatus: "appointment scheduled", appointmentDate: "2026-11-24" }] })
    ]
    const silent = { ...verifiedShipment("S"), ReferenceNumbers: { ...verifiedShipment("S").ReferenceNumbers, trailerNumber: null } }
    const defaults = Object.fromEntries(Object.entries(silent).map(([field, value]) => [field, value === true ? false : value])) as Partial<PostedShipment>
    const { view } = first({ ...defaults, ShipmentMilestoneStatus: "Picked-up", ShipmentTerminalInfo: { TerminalID: null }, AppointmentDate: null, AppointmentStatus: null }, history).known
    assert.deepInclude(view, {
      ShipmentDamage: true,
      ShipmentShortage: true,
      PODAvailable: true,
      CrossBorder: true,
      CrossBorderStatus: "Hold",
      CrossBorderEntryNumber: "E-1",
      AppointmentStatus: "Secured",
      AppointmentDate: "2026-11-24",
      AppointmentRequired: true
    })
    assert.deepStrictEqual([view.ShipmentTerminalInfo.TerminalID, view.ReferenceNumbers.trailerNumber], ["DAL", "T-1"])
  })

  it("does not override newer values if the post is older", () => {
    const { view } = first(
      { occurredAt: formatInstant(now - 9 * hour), ShipmentMilestoneStatus: "Picked-up", TimeZoneOfShipment: "-6", ShipmentMilestoneStatusLong: "On the dock" },
      [event(-2, { milestone: "Out for Delivery", timeZone: "-5" })]
    ).known
    assert.deepInclude(view, { ShipmentMilestoneStatus: "Out for Delivery", TimeZoneOfShipment: "-5", ShipmentMilestoneStatusLong: null })
  })

  it("is late if the post says so, also by hours and with its own estimate", () => {
    const late = { ShipmentMilestoneStatus: "In Transit", EstimatedDeliveryDate: "2026-11-24T09:00:00-06:00", UpdatedETA: "2026-11-24T17:00:00-06:00", Late: true, DelayReasonCode: "310-2" } as const
    assert.deepInclude(first(late).known.view, { Late: true, DelayReasonCode: "310-2" })
    const later = accepted(again(first(late).known, { ...late, UpdatedETA: "2026-11-24T19:00:00-06:00" }))
    assert.deepInclude(later.known.view, { Late: true, UpdatedETA: "2026-11-24T19:00:00-06:00" })
  })

  it("may be further than the event log", () => {
    assert.strictEqual(first({ ShipmentMilestoneStatus: "Out for Delivery", OFDStopsAway: 2 }, [event(-9, { milestone: "Picked-up" })]).known.view.ShipmentMilestoneStatus, "Out for Delivery")
  })

  it("does not make events late that happened before the post", () => {
    const { known } = first({ ShipmentMilestoneStatus: "Picked-up" })
    assert.strictEqual(applyReport(known, event(-2, { milestone: "In Transit" })).known.view.ShipmentMilestoneStatus, "In Transit")
  })

  it("drops stops away other than 3, 2 and 1 (SPEC-GAP-A29)", () => {
    assert.isNull(first({ ShipmentMilestoneStatus: "In Transit", OFDStopsAway: 2 }).known.view.OFDStopsAway)
    assert.isNull(first({ ShipmentMilestoneStatus: "Out for Delivery", OFDStopsAway: 12 }).known.view.OFDStopsAway)
  })
})

describe("a shipment posted again (SPEC-GAP-A4)", () => {
  it("is a duplicate if its content is equal, in any order of members", () => {
    const { known } = first({ ShipmentMilestoneStatus: "Picked-up" })
    const posted = postedShipment("S", { ShipmentMilestoneStatus: "Picked-up" })
    assert.isTrue(repeatsLastPost(known, Object.fromEntries(Object.entries(posted).toReversed()) as unknown as PostedShipment))
    assert.deepStrictEqual(registerAgain(known, posted, now), { result: "duplicate" })
  })

  it("replaces its description and keeps values from reports", () => {
    const { known } = first({ ShipmentMilestoneStatus: "Picked-up" })
    const moved = applyReport(known, event(1, { milestone: "In Transit", updatedEta: "2026-11-25", exceptions: ["Short"], trailerNumber: "T-1" })).known
    const { known: { view }, notifications } = accepted(again(moved, { ShipmentMilestoneStatus: "Picked-up", PayType: "Collect", EstimatedStandardDay: 3 }))
    assert.deepInclude(view, { PayType: "Collect", EstimatedStandardDay: 3, ShipmentMilestoneStatus: "In Transit", UpdatedETA: "2026-11-25", ShipmentShortage: true, Late: true })
    assert.strictEqual(view.ReferenceNumbers.trailerNumber, "T-1")
    assert.deepStrictEqual(notifications, [])
  })

  it("changes values that differ from the previous post", () => {
    const { known } = first({ ShipmentMilestoneStatus: "Picked-up" })
    const moved = accepted(again(known, { ShipmentMilestoneStatus: "In Transit", UpdatedETA: "2026-11-26", DelayReasonCode: "310-2" }))
    assert.deepStrictEqual(notified(moved), ["In Transit", "Noted late"])
    assert.deepInclude(moved.known.view, { ShipmentMilestoneStatus: "In Transit", Late: true, DelayReasonCode: "310-2" })
  })

  it("is refused with a reason if it would go back", () => {
    const { known } = first({ ShipmentMilestoneStatus: "Out for Delivery" })
    const refused = again(known, { ShipmentMilestoneStatus: "Picked-up" })
    assert(refused.result === "refused")
    assert.include(refused.why, "Out for Delivery")
  })

  it("notifies new exceptions, appointments, customs, accessorials and weights", () => {
    const { known } = first({ ShipmentMilestoneStatus: "In Transit" })
    const changed = accepted(again(known, {
      ShipmentMilestoneStatus: "In Transit",
      ShipmentDamage: true,
      PODAvailable: true,
      DESaccessorial: ["LFTD"],
      GrossWeight: 1900,
      AppointmentRequired: true,
      AppointmentStatus: "Secured",
      AppointmentDate: "2026-11-24T09:00:00-06:00",
      CrossBorder: true,
      CrossBorderStatus: "Hold"
    }))
    assert.deepStrictEqual(notified(changed), ["Damaged", "POD available", "Accessorial added", "Noted reweigh", "Appointment Update", "Customs information"])
    assert.deepInclude(changed.known.view, { ShipmentDamage: true, PODAvailable: true, AppointmentStatus: "Secured", CrossBorderStatus: "Hold", GrossWeight: 1900 })
  })

  it("removes an exception that the carrier withdraws, without a notification", () => {
    const { known } = first({ ShipmentMilestoneStatus: "In Transit", ShipmentDamage: true })
    const { known: after, notifications } = accepted(again(known, { ShipmentMilestoneStatus: "In Transit", ShipmentDamage: false }))
    assert.isFalse(after.view.ShipmentDamage)
    assert.deepStrictEqual(notifications, [])
  })

  it("is late as long as the carrier says so or the dates are", () => {
    const { known } = first({ ShipmentMilestoneStatus: "In Transit", Late: true, DelayReasonCode: "310-2" })
    assert.deepInclude(known.view, { Late: true, DelayReasonCode: "310-2", UpdatedETA: "2026-11-24" })
    // an estimate overrides the flag
    assert.deepInclude(applyReport(known, event(1, { updatedEta: "2026-11-23" })).known.view, { Late: false, DelayReasonCode: null })
    assert.deepInclude(accepted(again(known, { ShipmentMilestoneStatus: "In Transit", Late: false })).known.view, { Late: false, DelayReasonCode: null })
  })

  it("changes only its description if the post is older than the milestone", () => {
    const { known } = first()
    const delivered = applyReport(known, event(5, { milestone: "Delivered" })).known
    const { known: { view }, notifications } = accepted(again(delivered, {
      occurredAt: formatInstant(now),
      ShipmentMilestoneStatus: "In Transit",
      PayType: "Collect",
      TimeZoneOfShipment: "-6",
      AppointmentStatus: "Requested"
    }))
    assert.deepInclude(view, { ShipmentMilestoneStatus: "Delivered", PayType: "Collect", TimeZoneOfShipment: null, AppointmentStatus: null })
    assert.deepStrictEqual(notifications, [])
  })

  it("uses its new original date for lateness, also in an older post", () => {
    const { known } = first()
    const late = applyReport(applyReport(known, event(5, { milestone: "In Transit" })).known, event(6, { updatedEta: "2026-11-26" })).known
    assert.isTrue(late.view.Late)
    const { known: { view } } = accepted(again(late, { occurredAt: formatInstant(now), EstimatedDeliveryDate: "2026-11-26" }))
    assert.deepInclude(view, { Late: false, DelayReasonCode: null, UpdatedETA: "2026-11-26" })
  })

  it("crosses no border any more if the carrier withdraws the border status (SPEC-GAP-A22)", () => {
    const { known } = first({ ShipmentMilestoneStatus: "In Transit", CrossBorder: true, CrossBorderStatus: "Bond" })
    assert.deepInclude(known.view, { CrossBorder: true, CrossBorderStatus: "Bond" })
    const withdrawn = accepted(again(known, { CrossBorderStatus: null }))
    assert.deepInclude(withdrawn.known.view, { CrossBorder: false, CrossBorderStatus: null })
  })

  it("notifies a new delay reason", () => {
    const fields = { ShipmentMilestoneStatus: "In Transit", UpdatedETA: "2026-11-26", Late: true } as const
    const { known } = first({ ...fields, DelayReasonCode: "310-2" })
    const { notifications } = accepted(again(known, { ...fields, DelayReasonCode: "390-1" }))
    assert.deepStrictEqual(notifications.map((each) => "delayReasonCode" in each ? each.delayReasonCode : each), ["390-1"])
  })

  it("moves an unrevised estimate with the original date", () => {
    const { known } = first({ ShipmentMilestoneStatus: "In Transit" })
    assert.deepInclude(accepted(again(known, { ShipmentMilestoneStatus: "In Transit", EstimatedDeliveryDate: "2026-11-27" })).known.view, { UpdatedETA: "2026-11-27", Late: false })
  })

  it.prop("never changes fields that the post leaves out", [arbitraryVerifiedShipment], ([verified]) => {
    const { known } = accepted(registerShipment({ shipmentId: "S", ...verified }, [], now))
    const { ShipmentMilestoneStatus: _m, ShipmentTerminalInfo: _t, UpdatedETA: _e, PODAvailable: _p, Late: _l, DelayReasonCode: _d, ...rest } = verified
    const after = accepted(registerAgain(known, { shipmentId: "S", ...rest, PayType: "Other" }, now))
    assert.deepStrictEqual(after.known.view, { ...verified, PayType: "Other" })
    assert.deepStrictEqual(after.notifications, [])
  })
})

describe("a posted shipment", () => {
  it("is accepted as any sample, with unknown values left out or null", () => {
    assert.isTrue(Schema.is(PostedShipment)(postedShipment("S")))
    assert.isTrue(Schema.is(PostedShipment)({ shipmentId: "S", ...verifiedShipment("1") }))
    assert.isTrue(Schema.is(PostedShipment)(postedShipment("S", { UpdatedETA: null, DESaccessorial: null, TimeCriticalInfo: null, Late: null, ReferenceNumbers: null })))
  })

  it("may have one or many commodities and handling units (SPEC-GAP-A8)", () => {
    for (const Commodities of [{ pieces: 1 }, [{ pieces: 1 }, { pieces: 2 }]]) {
      assert.deepStrictEqual(first({ Commodities }).known.view.Commodities, Commodities)
    }
  })

  it("has UTC offsets in any usual form, and returns them in one (SPEC-GAP-A20)", () => {
    for (const [written, plain] of [["-6", "-6"], ["UTC-06:00", "-6"], ["+0530", "+5:30"], ["-05", "-5"], ["Z", "0"], ["+00:00", "0"]] as const) {
      assert.isTrue(Schema.is(PostedShipment)(postedShipment("S", { TimeZoneOfShipment: written })), written)
      assert.strictEqual(first({ TimeZoneOfShipment: written }).known.view.TimeZoneOfShipment, plain)
    }
    for (const none of ["6", "CST", "America/Chicago", "-123", ""]) assert.isFalse(Schema.is(PostedShipment)(postedShipment("S", { TimeZoneOfShipment: none })), none)
  })

  it("has times of day that exist in a time window (SPEC-GAP-A25)", () => {
    const takes = (windowStart: string) => Schema.is(PostedShipment)(postedShipment("S", { TimeCriticalInfo: { windowStart } }))
    for (const time of ["00:00", "08:30:00", "23:59:59.999", "08:30:00Z", "08:30:00-06:00"]) assert.isTrue(takes(time), time)
    for (const time of ["24:00", "08:61", "08:30:60", "08:30:00+24:00", "8:30", "08:30:00-06:60", ""]) assert.isFalse(takes(time), time)
  })

  it("has dates with or without a time, and no time without an offset (SPEC-GAP-A9)", () => {
    const takes = (EstimatedDeliveryDate: string) => Schema.is(PostedShipment)(postedShipment("S", { EstimatedDeliveryDate }))
    for (const date of ["2026-11-24", "2026-11-24T17:00:00-06:00", "2026-11-24T23:00:00Z", "2028-02-29"]) assert.isTrue(takes(date), date)
    for (const date of ["2026-11-24T17:00:00", "2026-11-31", "2027-02-29", "24.11.2026", ""]) assert.isFalse(takes(date), date)
    // they are returned as they were written
    assert.strictEqual(first({ EstimatedDeliveryDate: "2026-11-24" }).known.view.UpdatedETA, "2026-11-24")
  })
})
