/**
 * Applies a posted shipment to the known status. The description is replaced. A value that reports have set since changes only if the
 * post differs from the carrier's previous post. SPEC-GAP-A4
 */
import { formatInstant, parseInstant } from "../../shared/Instant.ts"
import { canonicalText, withoutUndefined } from "../../shared/Json.ts"
import { type CustomsStatus, type FreightException, freightExceptions } from "./CodeLists.ts"
import { plainOffset } from "./FreightShapes.ts"
import { judgeLate } from "./Lateness.ts"
import { accessorialsOf, describedOf, type PostedShipment, referenceNumbersOf, unmovedOf } from "./PostedShipment.ts"
import type { Mutable } from "./ShipmentDraft.ts"
import { applyReport, flagOf, type KnownShipment, type ShipmentState } from "./ShipmentState.ts"
import { movementOf } from "./StatusMessage.ts"
import type { StatusNotification } from "./StatusNotification.ts"
import { ignoreFarFutureTime, type Information, type ReportOutcome, type StatusReport } from "./StatusReport.ts"
import type { ShipmentView } from "./VerifiedShipment.ts"

/** What a posted shipment does to the stored one. */
export type Registered =
  | { readonly result: "duplicate" }
  /** `why`: one sentence for people. */
  | { readonly result: "refused"; readonly why: string }
  | {
    readonly result: "accepted"
    readonly known: KnownShipment
    readonly notifications: ReadonlyArray<StatusNotification>
    /** In the order of application. */
    readonly applied: ReadonlyArray<{ readonly report: StatusReport; readonly outcome: ReportOutcome }>
  }

/** Whether a post equals the previous one. */
export const repeatsLastPost = (known: KnownShipment, posted: PostedShipment): boolean => canonicalText(known.state.posted) === canonicalText(posted)

/** Registers a new shipment: applies the event log's reports first, then the post. */
export const registerShipment = (posted: PostedShipment, history: ReadonlyArray<StatusReport>, now: number): Registered => {
  const applied: Array<{ report: StatusReport; outcome: ReportOutcome }> = []
  let known: KnownShipment = { view: unmovedOf(posted), state: blankState(posted, now) }
  for (const reported of history) {
    const report = ignoreFarFutureTime(reported, now)
    const { known: after, outcome } = applyReport(known, report)
    known = after
    applied.push({ report, outcome })
  }
  // the post of a late registration may be older than the event log, so it may only move the milestone forward
  const report = { ...reportOf(undefined, posted, known.view, now), onlyForward: true }
  const last = applyReport(isPast(known.state, report) ? known : overlaid(known, undefined, posted), report)
  applied.push({ report, outcome: last.outcome })
  const milestone = last.known.view.ShipmentMilestoneStatus
  const movement = last.known.view.OFDStopsAway === null ? {} : { countsToDelivery: last.known.view.OFDStopsAway }
  // earlier events cause no notifications of their own; one notification gives the current milestone
  const notifications = milestone === undefined ? [] : [movementOf(last.known.view, milestone, movement, undefined)]
  return {
    result: "accepted",
    known: { view: last.known.view, state: { ...last.known.state, notices: notifications.length } },
    notifications,
    applied
  }
}

/** Registers a known shipment again. */
export const registerAgain = (known: KnownShipment, posted: PostedShipment, now: number): Registered => {
  const before = known.state.posted
  if (repeatsLastPost(known, posted)) return { result: "duplicate" }
  const described: KnownShipment = {
    view: redescribed(known, posted),
    state: { ...known.state, posted, references: posted.references ?? known.state.references }
  }
  const report = reportOf(before, posted, known.view, now)
  const next = isPast(known.state, report) ? rejudged(described) : overlaid(described, before, posted)
  const { known: after, notifications, outcome, why } = applyReport(next, report)
  if (outcome === "refused") return { result: "refused", why: why! }
  return { result: "accepted", known: after, notifications, applied: [{ report, outcome }] }
}

/** Whether a post is older than the current milestone. */
const isPast = ({ milestoneDated, seen }: ShipmentState, report: StatusReport): boolean =>
  report.undated !== true && milestoneDated && report.at < (seen["milestone"] ?? -Infinity)

/** Computes lateness again, because the original date may have changed. */
const rejudged = (known: KnownShipment): KnownShipment => {
  const view = { ...known.view }
  const state = { ...known.state }
  judgeLate(view, state)
  return { view, state }
}

const blankState = (posted: PostedShipment, now: number): ShipmentState => ({
  shipmentId: posted.shipmentId,
  posted,
  references: posted.references ?? [],
  formerPros: [],
  registeredAt: now,
  pickedUpAt: null,
  pickupDated: false,
  deliveredAt: null,
  seen: {},
  milestoneDated: false,
  deliveryMissed: false,
  notifiedStops: null,
  delayReasonCode: null,
  reportedLate: false,
  notifiedLateness: null,
  customsStatus: null,
  notifiedAppointment: null,
  notices: 0,
  reports: 0
})

/** Replaces the description and keeps the values that reports have set. */
const redescribed = ({ state, view }: KnownShipment, posted: PostedShipment): ShipmentView => {
  const { Commodities: _commodities, HandlingUnits: _units, ...rest } = view
  // an estimate that was never revised follows the original date
  const unrevised = view.UpdatedETA === state.posted.EstimatedDeliveryDate && posted.UpdatedETA == null
  return {
    ...rest,
    ...describedOf(posted),
    ReferenceNumbers: { ...referenceNumbersOf(posted), trailerNumber: view.ReferenceNumbers.trailerNumber },
    UpdatedETA: unrevised ? posted.EstimatedDeliveryDate : view.UpdatedETA
  }
}

/**
 * Returns whether a post changes a field. A field that is left out is unchanged. In a first post, null and false are defaults and do not
 * override the event log.
 */
const fieldChanges = (before: PostedShipment | undefined, next: PostedShipment) => (field: keyof PostedShipment): boolean => {
  const value = next[field]
  if (before === undefined) return value !== undefined && value !== null && value !== false
  return value !== undefined && canonicalText(value) !== canonicalText(before[field])
}

/** Sets the fields whose change causes no notification. */
const overlaid = (known: KnownShipment, before: PostedShipment | undefined, next: PostedShipment): KnownShipment => {
  const changed = fieldChanges(before, next)
  const view: Mutable<ShipmentView> = { ...known.view }
  const state: Mutable<ShipmentState> = { ...known.state }
  if (changed("ShipmentMilestoneStatusLong")) view.ShipmentMilestoneStatusLong = next.ShipmentMilestoneStatusLong ?? null
  if (changed("TimeZoneOfShipment")) view.TimeZoneOfShipment = next.TimeZoneOfShipment == null ? null : plainOffset(next.TimeZoneOfShipment)
  if (changed("UpdatedPro") && next.UpdatedPro === null) {
    view.UpdatedPro = null
    state.formerPros = []
  }
  const terminalReported = before === undefined && view.ShipmentTerminalInfo.TerminalStatus != null
  if (changed("ShipmentTerminalInfo") && next.ShipmentTerminalInfo?.TerminalStatus == null && !terminalReported) {
    view.ShipmentTerminalInfo = { TerminalID: null, ...next.ShipmentTerminalInfo }
  }
  if (changed("OFDStopsAway") && next.OFDStopsAway === null) view.OFDStopsAway = null
  for (const flag of ["Reconsignment", "ShipmentShortage", "ShipmentDamage", "AllShortOrLostShipment", "PODAvailable"] as const) {
    if (changed(flag) && next[flag] !== true) view[flag] = false
  }
  if (before !== undefined && changed("ReferenceNumbers") && next.ReferenceNumbers?.trailerNumber === null) {
    view.ReferenceNumbers = { ...view.ReferenceNumbers, trailerNumber: null }
  }
  overlayAppointment(view, changed, next)
  overlayBorder(view, state, before, next)
  if (changed("Late")) state.reportedLate = next.Late === true
  if (changed("DelayReasonCode")) state.delayReasonCode = next.DelayReasonCode ?? null
  judgeLate(view, state)
  return { view, state }
}

type FieldChanged = ReturnType<typeof fieldChanges>

const overlayAppointment = (view: Mutable<ShipmentView>, changed: FieldChanged, next: PostedShipment): void => {
  if (changed("AppointmentRequired")) view.AppointmentRequired = next.AppointmentRequired === true
  if (changed("AppointmentStatus")) view.AppointmentStatus = next.AppointmentStatus ?? null
  if (changed("AppointmentDate")) view.AppointmentDate = next.AppointmentDate ?? null
}

const customsOf = { Bond: "Bond", Hold: "Hold", ClearedCustoms: "Cleared Customs" } as const satisfies Record<string, CustomsStatus>

const overlayBorder = (
  view: Mutable<ShipmentView>,
  state: Mutable<ShipmentState>,
  before: PostedShipment | undefined,
  next: PostedShipment
): void => {
  const changed = fieldChanges(before, next)
  if (changed("CrossBorder")) view.CrossBorder = next.CrossBorder === true
  if (changed("CrossBorderEntryNumber")) view.CrossBorderEntryNumber = next.CrossBorderEntryNumber ?? null
  if (!changed("CrossBorderStatus")) return
  const status = next.CrossBorderStatus ?? null
  view.CrossBorderStatus = status
  // required while the shipment crosses a border. SPEC-GAP-A22
  if (status === null) view.CrossBorder = false
  // a later change goes into the report, which compares it with the previous customs status
  if (status === null || before === undefined) state.customsStatus = status === null ? null : customsOf[status]
}

/** Builds a report from the fields that a post changes. */
const reportOf = (before: PostedShipment | undefined, next: PostedShipment, view: ShipmentView, now: number): StatusReport => {
  const changed = fieldChanges(before, next)
  const given = <F extends keyof PostedShipment>(field: F): NonNullable<PostedShipment[F]> | undefined => changed(field) ? next[field] ?? undefined : undefined
  const { TerminalStatus: status, ...terminal } = given("ShipmentTerminalInfo") ?? {}
  const trailerNumber = next.ReferenceNumbers?.trailerNumber
  const report: StatusReport = {
    occurredAt: next.occurredAt ?? formatInstant(now),
    at: next.occurredAt === undefined ? now : parseInstant(next.occurredAt)!,
    ...(next.occurredAt === undefined ? { undated: true } : {}),
    source: { kind: "shipment", id: next.shipmentId },
    ...withoutUndefined({
      milestone: given("ShipmentMilestoneStatus"),
      statusText: given("ShipmentMilestoneStatusLong"),
      terminal: status == null ? undefined : { status, info: { TerminalID: null, ...terminal } },
      updatedEta: given("UpdatedETA"),
      delayReasonCode: given("DelayReasonCode"),
      reportedLate: next.Late === true ? true : undefined,
      timeZone: given("TimeZoneOfShipment"),
      location: changed("ShipmentLocation") ? next.ShipmentLocation ?? null : undefined,
      stopsAway: given("OFDStopsAway"),
      trailerNumber: trailerNumber != null && trailerNumber !== before?.ReferenceNumbers?.trailerNumber ? trailerNumber : undefined,
      partner: changed("PartnerCarrierName") || changed("PartnerCarrierSCAC")
        ? { name: next.PartnerCarrierName ?? null, scac: next.PartnerCarrierSCAC ?? null }
        : undefined,
      updatedPro: given("UpdatedPro"),
      exceptions: exceptionsIn(next, changed),
      information: before === undefined ? informationGiven(next) : informationIn(before, next, view, changed)
    })
  }
  return ignoreFarFutureTime(report, now)
}

const exceptionsIn = (next: PostedShipment, changed: FieldChanged): ReadonlyArray<FreightException> =>
  freightExceptions.filter((fact) => changed(flagOf[fact]) && next[flagOf[fact]] === true)

/** Information in a first post: lasting facts only, because there is no earlier post to compare with. */
const informationGiven = (next: PostedShipment): ReadonlyArray<Information> =>
  next.PODAvailable === true ? [{ deliveryInformation_messages: "POD available" }] : []

const informationIn = (before: PostedShipment, next: PostedShipment, view: ShipmentView, changed: FieldChanged): ReadonlyArray<Information> => {
  const informations: Array<Information> = []
  if (changed("PODAvailable") && next.PODAvailable === true) informations.push({ deliveryInformation_messages: "POD available" })
  if (accessorialsOf(next).some((code) => !accessorialsOf(before).includes(code))) informations.push({ deliveryInformation_messages: "Accessorial added" })
  if (next.GrossWeight !== before.GrossWeight) informations.push({ deliveryInformation_messages: "Noted reweigh" })
  const appointment = appointmentIn(next, view, changed)
  if (appointment !== undefined) informations.push(appointment)
  if (changed("CrossBorderStatus") && next.CrossBorderStatus != null) {
    informations.push({
      deliveryInformation_messages: "Customs information",
      customsStatus: customsOf[next.CrossBorderStatus],
      ...(next.CrossBorderEntryNumber == null ? {} : { customsEntryNumber: next.CrossBorderEntryNumber })
    })
  }
  return informations
}

/** Appointments that were scheduled, rescheduled or missed. The interface has no message for a requested appointment. */
const appointmentIn = (next: PostedShipment, view: ShipmentView, changed: FieldChanged): Information | undefined => {
  if (!changed("AppointmentStatus") && !changed("AppointmentDate")) return undefined
  const status = next.AppointmentStatus
  if (status !== "Secured" && status !== "Missed") return undefined
  const again = view.AppointmentStatus === "Secured" || view.AppointmentStatus === "Missed"
  return {
    deliveryInformation_messages: "Appointment Update",
    appointmentStatus: status === "Missed" ? "appointment missed" : again ? "appointment rescheduled" : "appointment scheduled",
    ...(next.AppointmentDate == null ? {} : { appointmentDate: next.AppointmentDate })
  }
}
