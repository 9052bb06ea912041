import { assert, describe, it } from "@effect/vitest"
import { formatInstant } from "@waybill/core"
import {
  answerOf,
  type Applied,
  applyReport,
  DeliveryInformation,
  DeliveryUpdate,
  deliveryMessages,
  isOverdue,
  type KnownShipment,
  type Milestone,
  milestoneMoves,
  milestones,
  freightExceptions,
  type PostedShipment,
  registerShipment,
  type StatusNotification,
  type StatusReport,
  terminalStatuses,
  VerifiedShipment
} from "@waybill/core/shipment-status"
import { postedShipment } from "@waybill/testkit"
import { Schema } from "effect"
import * as Arbitrary from "effect/Arbitrary"
import { int, listOf, oneOf } from "../../arbitraries.ts"

const start = Date.UTC(2026, 10, 20, 14)
const hour = 3_600_000

/** A registered shipment, with or without its first milestone. */
const registered = (overrides: Partial<PostedShipment> = {}): KnownShipment => {
  const result = registerShipment(postedShipment("S", overrides), [], start)
  assert(result.result === "accepted")
  return result.known
}

const report = (hours: number, more: Partial<StatusReport> = {}): StatusReport => ({
  occurredAt: formatInstant(start + hours * hour),
  at: start + hours * hour,
  source: { kind: "update", id: `${hours}` },
  ...more
})

const at = (milestone: Milestone, more: Partial<StatusReport> = {}): KnownShipment =>
  applyReport(registered(), report(0, { milestone, partner: { name: "Partner Freight", scac: "PRTN" }, ...more })).known

const updates = (applied: Applied): ReadonlyArray<DeliveryUpdate> => applied.notifications.filter((each) => "notificationMessage" in each)
const informations = (applied: Applied): ReadonlyArray<DeliveryInformation> => applied.notifications.filter((each) => "deliveryInformation_messages" in each)

/** Applies all reports in order. */
const play = (known: KnownShipment, reports: ReadonlyArray<StatusReport>) => {
  let now = known
  const applied = reports.map((each) => {
    const one = applyReport(now, each)
    now = one.known
    return one
  })
  return { known: now, applied, notified: applied.flatMap((each) => each.notifications) }
}

const maybe = <A>(value: Arbitrary.Arbitrary<A>): Arbitrary.Arbitrary<A | undefined> =>
  Arbitrary.map(Arbitrary.all({ value, there: oneOf([true, false]) }), ({ there, value: one }) => there ? one : undefined)

const withoutUndefined = <A extends object>(value: A) => Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined))

/** Reports of every kind, in any order, some with equal times. */
const anyReport: Arbitrary.Arbitrary<StatusReport> = Arbitrary.map(
  Arbitrary.all({
    hours: int(-5, 60),
    undated: oneOf([undefined, undefined, true]),
    milestone: maybe(oneOf(milestones)),
    custody: oneOf([undefined, undefined, "consignee", "other"] as const),
    terminal: maybe(Arbitrary.map(Arbitrary.all({ status: oneOf(terminalStatuses), id: oneOf(["CHI", "DAL", null]) }), ({ id, status }) => ({ status, info: { TerminalID: id } }))),
    updatedEta: maybe(oneOf(["2026-11-23", "2026-11-24", "2026-11-24T23:59:00-06:00", "2026-11-25", "2026-11-28T08:00:00Z"])),
    delayReasonCode: maybe(oneOf(["310-2", "390-1"])),
    stopsAway: maybe(oneOf([0, 1, 2, 3, 4, 9])),
    exceptions: maybe(Arbitrary.map(oneOf(freightExceptions), (exception) => [exception])),
    information: maybe(Arbitrary.map(oneOf(deliveryMessages), (message) => [{ deliveryInformation_messages: message }])),
    partner: maybe(oneOf([{ name: "Partner Freight", scac: "PRTN" }, { name: null, scac: null }])),
    updatedPro: maybe(oneOf(["P-1", "P-2"])),
    timeZone: maybe(oneOf(["-6", "-5"])),
    onlyForward: oneOf([undefined, true] as const)
  }),
  ({ hours, ...fields }) => report(hours, withoutUndefined(fields))
)

const anyReports = listOf(anyReport, 1, 25)

describe("a shipment's status", () => {
  it.prop("never goes back: every move is in the table, and Delivered is final (SPEC-GAP-A2)", [anyReports], ([reports]) => {
    let known = registered()
    for (const each of reports) {
      const from = known.view.ShipmentMilestoneStatus
      const missed = known.state.deliveryMissed
      known = applyReport(known, each).known
      const to = known.view.ShipmentMilestoneStatus
      if (from !== undefined && to !== from) {
        assert.isTrue(milestoneMoves.some((move) => move.from === from && move.to === to && (move.when === undefined || missed)), `${from} to ${to}`)
      }
      if (from === "Delivered") assert.strictEqual(to, "Delivered")
    }
  })

  it.prop("is never moved by a late report, which only adds lasting facts", [anyReports, anyReport], ([reports, last]) => {
    const { known } = play(at("In Transit", { at: start + 70 * hour }), reports.map((each) => ({ ...each, at: start + 80 * hour, undated: false })))
    const { known: after, notifications } = applyReport(known, { ...last, at: start, undated: false, onlyForward: true })
    const sticky = ["Reconsignment", "ShipmentShortage", "ShipmentDamage", "AllShortOrLostShipment", "PODAvailable"] as const
    for (const field of Object.keys(known.view) as ReadonlyArray<keyof VerifiedShipment>) {
      if ((sticky as ReadonlyArray<string>).includes(field)) assert.isTrue(after.view[field] === true || after.view[field] === known.view[field])
      else assert.deepStrictEqual(after.view[field], known.view[field])
    }
    for (const notified of notifications) {
      assert.isTrue("terminalStatus" in notified || (notified as DeliveryInformation).deliveryInformation_messages === "POD available")
    }
  })

  it.prop("is always a valid verified shipment, without optional codes that are unknown (SPEC-GAP-A23)", [anyReports], ([reports]) => {
    const { known: { view } } = play(at("Picked-up"), reports)
    assert.isTrue(Schema.is(VerifiedShipment)(view), JSON.stringify(view))
    assert.strictEqual(view.DelayReasonCode !== null, view.Late)
    if (isOverdue(view)) assert.isTrue(view.Late)
    assert.strictEqual(view.CrossBorder, view.CrossBorderStatus !== null)
    const answer = answerOf(view)
    assert.isTrue(Schema.is(VerifiedShipment)(answer))
    assert.isFalse([answer.DelayReasonCode, answer.AppointmentStatus, answer.CrossBorderStatus].includes(null))
    assert.deepStrictEqual({ DelayReasonCode: null, AppointmentStatus: null, CrossBorderStatus: null, ...answer }, view)
    if (view.OFDStopsAway !== null) assert.strictEqual(view.ShipmentMilestoneStatus, "Out for Delivery")
    assert.isTrue("CrossBorderStatus" in view && "PartnerCarrierName" in view && "AppointmentStatus" in view)
  })

  it.prop("creates valid notifications of two shapes only, numbered without gaps (SPEC-GAP-A28)", [anyReports], ([reports]) => {
    const first = at("Picked-up")
    const { known, notified } = play(first, reports)
    for (const each of notified) assert.isTrue(Schema.is(DeliveryUpdate)(each) || Schema.is(DeliveryInformation)(each), JSON.stringify(each))
    assert.strictEqual(known.state.notices, first.state.notices + notified.length)
    assert.isAtMost(known.state.reports, first.state.reports + reports.length)
  })

  it.prop("is equal for equal reports", [anyReports], ([reports]) => assert.deepStrictEqual(play(registered(), reports), play(registered(), reports)))

  it.prop("is not changed by a refused report, which gives a reason", [anyReports, anyReport], ([reports, last]) => {
    const { known } = play(at("In Transit"), reports)
    const { known: after, notifications, outcome, why } = applyReport(known, last)
    if (outcome !== "refused") return assert.isUndefined(why)
    assert.strictEqual(after, known)
    assert.deepStrictEqual(notifications, [])
    assert.match(why!, /^[A-Z].+\.$/)
  })

  it.prop("accepts every report that may only move forward", [anyReports], ([reports]) => {
    for (const { outcome } of play(registered(), reports.map((each) => ({ ...each, onlyForward: true }))).applied) assert.notStrictEqual(outcome, "refused")
  })

  it.prop("causes no notification before the first milestone", [anyReports], ([reports]) => {
    const { known, notified } = play(registered(), reports.map(({ milestone: _milestone, ...rest }) => rest))
    assert.isUndefined(known.view.ShipmentMilestoneStatus)
    assert.deepStrictEqual(notified, [])
  })
})

describe("a milestone", () => {
  it("is notified once, with a generated sentence if none was sent", () => {
    const [moved, again] = play(registered(), [report(0, { milestone: "Picked-up" }), report(1, { milestone: "Picked-up" })]).applied
    assert.deepStrictEqual(moved!.notifications, [{
      proNumber: "S",
      shipmentReferenceNumbers: moved!.known.view.ReferenceNumbers,
      shipmentMilestoneStatus: "Picked-up",
      TimeZoneOfShipment: null,
      UpdatedETA: "2026-11-24",
      notificationMessage: "Shipment S was picked up."
    }])
    assert.deepStrictEqual([again!.outcome, again!.notifications], ["unchanged", []])
  })

  it("is notified with the message that was sent", () => {
    const { notifications } = applyReport(registered(), report(0, { milestone: "In Transit", message: "Rolling." }))
    assert.deepInclude(notifications[0], { notificationMessage: "Rolling." })
  })

  it("Interline names the partner carrier, and is refused without one", () => {
    const refused = applyReport(at("In Transit", { partner: { name: null, scac: null } }), report(1, { milestone: "Interline" }))
    assert.strictEqual(refused.outcome, "refused")
    assert.include(refused.why!, "PartnerCarrierName")
    const handed = applyReport(at("In Transit"), report(1, { milestone: "Interline", partner: { name: "Other Lines", scac: "OTHR" }, updatedPro: "OL-1" }))
    assert.deepInclude(updates(handed)[0], {
      shipmentMilestoneStatus: "Interline",
      PartnerCarrierName: "Other Lines",
      PartnerCarrierSCAC: "OTHR",
      UpdatedPro: "OL-1",
      notificationMessage: "Shipment S was handed to Other Lines."
    })
    assert.lengthOf(handed.notifications, 1)
    // every further update of an interline shipment names the partner carrier
    const arrived = applyReport(handed.known, report(2, { terminal: { status: "Arrived", type: "interline", info: { TerminalID: "X" } } }))
    assert.deepInclude(updates(arrived)[0], { terminaltype: "interline", PartnerCarrierName: "Other Lines" })
  })

  it("sets the times of pickup and delivery", () => {
    const { known } = play(registered(), [report(1, { milestone: "Picked-up" }), report(9, { milestone: "Delivered" })])
    assert.deepStrictEqual([known.state.pickedUpAt, known.state.deliveredAt], [start + hour, start + 9 * hour])
  })

  it("with the same time as the previous one is not late", () => {
    assert.strictEqual(applyReport(at("Out for Delivery"), report(0, { milestone: "Delivered" })).known.view.ShipmentMilestoneStatus, "Delivered")
  })

  it("without a time does not make permitted moves late", () => {
    const undated = applyReport(registered(), report(5, { milestone: "In Transit", undated: true })).known
    assert.strictEqual(applyReport(undated, report(3, { milestone: "Out for Delivery" })).known.view.ShipmentMilestoneStatus, "Out for Delivery")
    assert.strictEqual(applyReport(undated, report(3, { milestone: "Picked-up" })).outcome, "late")
    assert.strictEqual(applyReport(at("In Transit"), report(-3, { milestone: "Out for Delivery" })).outcome, "late")
  })
})

describe("a terminal", () => {
  it("is notified at every step, once per step", () => {
    const step = (hours: number, status: "Arrived" | "Unloaded" | "Loaded" | "Departed") =>
      report(hours, { terminal: { status, type: "intermediate", info: { TerminalID: "DAL", City: "Dallas", State: "TX" } } })
    const { applied, known } = play(at("In Transit"), [step(1, "Arrived"), step(1, "Arrived"), step(2, "Unloaded"), step(3, "Loaded"), step(4, "Departed")])
    assert.deepStrictEqual(applied.map(({ notifications }) => notifications.length), [1, 0, 1, 1, 1])
    assert.deepInclude(updates(applied[0]!)[0], { terminalStatus: "Arrived", notificationMessage: "Shipment S arrived at the intermediate terminal in Dallas, TX." })
    assert.deepStrictEqual(known.view.ShipmentTerminalInfo, { TerminalID: "DAL", City: "Dallas", State: "TX", TerminalStatus: "Departed" })
  })

  it("that is reported after a later one goes into the history only", () => {
    const { applied, known } = play(at("In Transit"), [
      report(9, { terminal: { status: "Arrived", info: { TerminalID: "DAL" } } }),
      report(5, { terminal: { status: "Departed", info: { TerminalID: "CHI" } } })
    ])
    assert.deepStrictEqual(applied.map(({ outcome }) => outcome), ["applied", "unchanged"])
    assert.strictEqual(known.view.ShipmentTerminalInfo.TerminalID, "DAL")
  })

  it("changes nothing after the delivery", () => {
    const { known, notifications } = applyReport(at("Delivered"), report(1, { onlyForward: true, milestone: "In Transit", terminal: { status: "Arrived" }, updatedEta: "2026-12-01" }))
    assert.deepStrictEqual([notifications, known.view.UpdatedETA], [[], "2026-11-24"])
  })
})

describe("a report that is newer than the milestone and older than the last one about the same", () => {
  it("changes neither the carrier, the PRO and the trailer, nor the delay reason and the text", () => {
    const later = report(9, {
      partner: { name: "Second Lines", scac: "SCND" },
      updatedPro: "P-2",
      trailerNumber: "T-2",
      delayReasonCode: "390-1",
      updatedEta: "2026-11-26"
    })
    const earlier = report(5, {
      partner: { name: "First Lines", scac: "FRST" },
      updatedPro: "P-1",
      trailerNumber: "T-1",
      delayReasonCode: "310-2"
    })
    const { applied, known } = play(at("Interline"), [
      report(8, { milestone: "Interline", statusText: "with Second Lines" }),
      later,
      { ...earlier, milestone: "Interline", statusText: "with First Lines" }
    ])
    assert.deepStrictEqual([applied[2]!.outcome, applied[2]!.notifications], ["unchanged", []])
    assert.deepInclude(known.view, {
      PartnerCarrierName: "Second Lines",
      PartnerCarrierSCAC: "SCND",
      UpdatedPro: "P-2",
      DelayReasonCode: "390-1",
      ShipmentMilestoneStatusLong: "with Second Lines"
    })
    assert.strictEqual(known.view.ReferenceNumbers.trailerNumber, "T-2")
  })

  it("leaves a former PRO by which the shipment is known, once (SPEC-GAP-A34)", () => {
    const { known } = play(at("Interline"), [9, 5, 6].map((hours) => report(hours, { updatedPro: hours === 9 ? "P-2" : "P-1" })))
    assert.deepStrictEqual([known.view.UpdatedPro, known.state.formerPros], ["P-2", ["P-1"]])
  })
})

describe("stops away", () => {
  it("are notified at 3, 2 and 1, each once, counting down only", () => {
    const { applied, known } = play(at("Out for Delivery"), [9, 4, 3, 3, 1, 2, 1, 0].map((stopsAway, n) => report(n + 1, { stopsAway })))
    assert.deepStrictEqual(applied.flatMap(updates).map((each) => each.countsToDelivery), [3, 1])
    assert.isNull(known.view.OFDStopsAway)
  })

  it("are 3, 2, 1 or null in the view", () => {
    const shown = [5, 3, 2, 1, 0].map((stopsAway) => applyReport(at("Out for Delivery"), report(1, { stopsAway })).known.view.OFDStopsAway)
    assert.deepStrictEqual(shown, [null, 3, 2, 1, null])
    assert.isNull(applyReport(at("In Transit"), report(1, { stopsAway: 2 })).known.view.OFDStopsAway)
  })

  it("are part of the update that goes out for delivery", () => {
    const out = applyReport(at("In Transit"), report(1, { milestone: "Out for Delivery", stopsAway: 3 }))
    assert.lengthOf(out.notifications, 1)
    assert.deepInclude(updates(out)[0], { countsToDelivery: 3, shipmentMilestoneStatus: "Out for Delivery" })
  })
})

describe("a missed delivery", () => {
  it("lets the shipment go back to In Transit, once", () => {
    const missed = applyReport(at("Out for Delivery"), report(1, { information: [{ deliveryInformation_messages: "Missed delivery", delayReasonCode: "330-1" }] }))
    assert.deepInclude(informations(missed)[0], {
      deliveryInformation_messages: "Missed delivery",
      delayReasonCode: "330-1",
      generalDescription: "Consignee Closed",
      responsibleParty: "Shipper Action"
    })
    const back = applyReport(missed.known, report(2, { milestone: "In Transit" }))
    assert.strictEqual(back.known.view.ShipmentMilestoneStatus, "In Transit")
    const out = applyReport(back.known, report(3, { milestone: "Out for Delivery" }))
    assert.strictEqual(applyReport(out.known, report(4, { milestone: "In Transit" })).outcome, "refused")
  })
})

describe("late", () => {
  const late = (applied: Applied) => [applied.known.view.Late, applied.known.view.DelayReasonCode, informations(applied).map((each) => each.delayReasonCode)]

  it("means at least one calendar day at the place of delivery (SPEC-GAP-A10)", () => {
    const judge = (original: string, updatedEta: string) =>
      applyReport(applyReport(registered({ EstimatedDeliveryDate: original }), report(0, { milestone: "In Transit" })).known, report(1, { updatedEta })).known.view.Late
    assert.deepStrictEqual([
      judge("2026-11-24", "2026-11-24"),
      judge("2026-11-24", "2026-11-24T23:59:59-06:00"),
      judge("2026-11-24T08:00:00-06:00", "2026-11-24T17:00:00-06:00"),
      judge("2026-11-24T23:00:00-06:00", "2026-11-25"),
      judge("2026-11-24", "2026-11-25T00:00:00-06:00"),
      // 24 November in Chicago, but 25 November in London
      judge("2026-11-24", "2026-11-24T22:00:00-06:00")
    ], [false, false, false, true, true, false])
  })

  it("is notified with its reason, and again only when the day or the reason changes", () => {
    const eta = (hours: number, updatedEta: string, delayReasonCode?: string) =>
      report(hours, { updatedEta, ...(delayReasonCode === undefined ? {} : { delayReasonCode }) })
    const { applied } = play(at("In Transit"), [
      eta(1, "2026-11-25T08:00:00Z", "310-2"),
      eta(2, "2026-11-25T12:00:00Z"),
      eta(3, "2026-11-26", "310-2"),
      eta(4, "2026-11-26", "390-1"),
      eta(5, "2026-11-24"),
      eta(6, "2026-11-26")
    ])
    assert.deepStrictEqual(applied.map(late), [
      [true, "310-2", ["310-2"]],
      [true, "310-2", []],
      [true, "310-2", ["310-2"]],
      [true, "390-1", ["390-1"]],
      [false, null, []],
      [true, "310-0", ["310-0"]]
    ])
  })

  it("without a reason gives the code for a carrier that could not service it (SPEC-GAP-A12)", () => {
    const applied = applyReport(at("In Transit"), report(1, { updatedEta: "2026-11-30" }))
    assert.deepInclude(informations(applied)[0], { delayReasonCode: "310-0", generalDescription: "Carrier not able to service" })
    assert.notProperty(informations(applied)[0], "responsibleParty")
  })

  it("uses a reason that was reported before the estimate", () => {
    const { applied } = play(at("In Transit"), [report(1, { delayReasonCode: "390-1" }), report(2, { updatedEta: "2026-11-30" })])
    assert.deepStrictEqual(applied.map(late), [[false, null, []], [true, "390-1", ["390-1"]]])
  })

  it("is what the carrier notes, without a later estimate too (SPEC-GAP-A21)", () => {
    const information = [{ deliveryInformation_messages: "Noted late" as const, delayReasonCode: "310-2" }]
    const { applied } = play(at("In Transit"), [report(1, { information, delayReasonCode: "310-2" }), report(2, { information, delayReasonCode: "310-2" }), report(3, { updatedEta: "2026-11-23" })])
    assert.deepStrictEqual(applied.map(({ known: { view }, notifications }) => [view.Late, view.DelayReasonCode, notifications.length]), [[true, "310-2", 1], [true, "310-2", 0], [false, null, 0]])
    assert.lengthOf(informations(applyReport(at("In Transit"), report(1, { information, updatedEta: "2026-11-25" }))), 1)
  })

  it("follows the newest estimate, in any order of arrival", () => {
    const { known } = play(at("In Transit"), [report(9, { updatedEta: "2026-11-24" }), report(5, { updatedEta: "2026-11-30" })])
    assert.deepStrictEqual([known.view.UpdatedETA, known.view.Late], ["2026-11-24", false])
  })
})

describe("freight exceptions", () => {
  it.each([["Damaged", "ShipmentDamage"], ["Short", "ShipmentShortage"], ["Lost", "AllShortOrLostShipment"], ["Reconsigned", "Reconsignment"]] as const)(
    "%s stays, is notified once, and counts also when late and after delivery",
    (exception, flag) => {
      for (const [known, hours] of [[at("In Transit"), 1], [at("In Transit"), -9], [at("Delivered"), 5], [at("Delivered"), -5]] as const) {
        const applied = applyReport(known, report(hours, { exceptions: [exception] }))
        assert.strictEqual(applied.known.view[flag], true)
        assert.deepStrictEqual(updates(applied).map((each) => each.terminalStatus), [exception])
        assert.strictEqual(applied.known.view.ShipmentMilestoneStatus, known.view.ShipmentMilestoneStatus)
        assert.deepStrictEqual(applyReport(applied.known, report(hours + 1, { exceptions: [exception] })).notifications, [])
      }
    }
  )

  it("are in the notification of the movement they were reported with", () => {
    const { notifications } = applyReport(at("In Transit"), report(1, { exceptions: ["Reconsigned"], updatedPro: "NEW-1" }))
    assert.lengthOf(notifications, 1)
    assert.deepInclude(notifications[0], { terminalStatus: "Reconsigned", UpdatedPro: "NEW-1" } as Partial<StatusNotification>)
  })
})

describe("information", () => {
  const inform = (known: KnownShipment, hours: number, information: DeliveryInformationPart) => applyReport(known, report(hours, { information: [information] }))
  type DeliveryInformationPart = NonNullable<StatusReport["information"]>[number]

  it("notifies a proof of delivery once, also late", () => {
    const first = inform(at("Delivered"), -2, { deliveryInformation_messages: "POD available" })
    assert.isTrue(first.known.view.PODAvailable)
    assert.lengthOf(first.notifications, 1)
    assert.deepStrictEqual(inform(first.known, 1, { deliveryInformation_messages: "POD available" }).notifications, [])
  })

  it("keeps the first appointment date and notifies every change, also after a missed one (SPEC-GAP-A11, SPEC-GAP-A27)", () => {
    const appointment = (hours: number, appointmentStatus: "appointment scheduled" | "appointment rescheduled" | "appointment missed", appointmentDate: string) =>
      report(hours, { timeZone: "-6", information: [{ deliveryInformation_messages: "Appointment Update", appointmentStatus, appointmentDate, ...(appointmentStatus === "appointment missed" ? { delayReasonCode: "460-1" } : {}) }] })
    const { applied, known } = play(at("In Transit"), [
      appointment(1, "appointment scheduled", "2026-11-24T09:00:00-06:00"),
      appointment(2, "appointment rescheduled", "2026-11-25T09:00:00-06:00"),
      appointment(3, "appointment missed", "2026-11-25T09:00:00-06:00"),
      appointment(4, "appointment rescheduled", "2026-11-26T09:00:00-06:00")
    ])
    assert.deepStrictEqual(applied.map(({ known: { view } }) => view.AppointmentStatus), ["Secured", "Secured", "Missed", "Secured"])
    assert.deepStrictEqual([known.view.AppointmentRequired, known.view.AppointmentDate], [true, "2026-11-24T09:00:00-06:00"])
    const notified = applied.flatMap(informations)
    assert.deepStrictEqual(notified.map((each) => [each.appointmentStatus, each.utcOffset]), [["appointment scheduled", undefined], ["appointment rescheduled", "-6"], ["appointment missed", undefined], ["appointment rescheduled", "-6"]])
    assert.strictEqual(notified[2]!.generalDescription, "Unable to Access Consignee")
  })

  it("tracks a shipment across the border, also back to a hold (SPEC-GAP-A22, SPEC-GAP-A27)", () => {
    const customs = (hours: number, customsStatus: "Broker Identified" | "Bond" | "Hold" | "Cleared Customs") =>
      report(hours, { information: [{ deliveryInformation_messages: "Customs information", customsStatus }] })
    const { applied } = play(at("In Transit"), [customs(1, "Broker Identified"), customs(2, "Hold"), customs(3, "Hold"), customs(5, "Cleared Customs"), customs(4, "Hold"), customs(6, "Hold")])
    assert.deepStrictEqual(applied.map(({ known: { view }, notifications }) => [view.CrossBorder, view.CrossBorderStatus, notifications.length]), [
      // a broker gives no border status, which an answer across a border needs
      [false, null, 1],
      [true, "Hold", 1],
      [true, "Hold", 0],
      [true, "ClearedCustoms", 1],
      [true, "ClearedCustoms", 0],
      [true, "Hold", 1]
    ])
  })
})
