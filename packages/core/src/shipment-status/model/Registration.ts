/**
 * What handing in a shipment makes of what is known of it. Its description is replaced; what reports have established since is
 * changed only where the carrier's system says something else than it said last time. SPEC-GAP-A4
 */
import { formatInstant, parseInstant } from "../../shared/Instant.ts"
import { canonicalText } from "../../shared/Json.ts"
import { type CustomsStatus, type NotedFact, notedFacts } from "./CodeLists.ts"
import { plainOffset } from "./FreightShapes.ts"
import { judgeLate } from "./Lateness.ts"
import { accessorialsOf, describedOf, type PostedShipment, referenceNumbersOf, unmovedOf } from "./PostedShipment.ts"
import type { Mutable } from "./ShipmentDraft.ts"
import { applyReport, type KnownShipment, type ShipmentState } from "./ShipmentState.ts"
import { movementOf } from "./StatusMessage.ts"
import type { StatusNotification } from "./StatusNotification.ts"
import { believable, type Information, type ReportOutcome, type StatusReport } from "./StatusReport.ts"
import type { ShipmentView } from "./VerifiedShipment.ts"

export type Registered =
  | { readonly result: "duplicate" }
  /** `why` is one sentence for people. */
  | { readonly result: "refused"; readonly why: string }
  | {
    readonly result: "accepted"
    readonly known: KnownShipment
    readonly notifications: ReadonlyArray<StatusNotification>
    /** In the order they were applied. */
    readonly applied: ReadonlyArray<{ readonly report: StatusReport; readonly outcome: ReportOutcome }>
  }

/** Whether intake says again what it said last time. */
export const saysTheSame = (known: KnownShipment, posted: PostedShipment): boolean => canonicalText(known.state.posted) === canonicalText(posted)

/** A shipment seen for the first time: what the event log tells of it comes first, then what is posted. */
export const registerShipment = (posted: PostedShipment, history: ReadonlyArray<StatusReport>, now: number): Registered => {
  const applied: Array<{ report: StatusReport; outcome: ReportOutcome }> = []
  let known: KnownShipment = { view: unmovedOf(posted), state: blankState(posted, now) }
  for (const told of history) {
    const report = believable(told, now)
    const { known: after, outcome } = applyReport(known, report)
    known = after
    applied.push({ report, outcome })
  }
  // a system that hands in a shipment late may say less than the log knows: that is no contradiction
  const report = { ...reportOf(undefined, posted, known.view, now), onlyForward: true }
  const last = applyReport(isPast(known.state, report) ? known : overlaid(known, undefined, posted), report)
  applied.push({ report, outcome: last.outcome })
  const milestone = last.known.view.ShipmentMilestoneStatus
  const movement = last.known.view.OFDStopsAway === null ? {} : { countsToDelivery: last.known.view.OFDStopsAway }
  // what happened before anybody could ask is not told step by step
  const notifications = milestone === undefined ? [] : [movementOf(last.known.view, milestone, movement, undefined)]
  return {
    result: "accepted",
    known: { view: last.known.view, state: { ...last.known.state, notices: notifications.length } },
    notifications,
    applied
  }
}

/** A shipment handed in again. */
export const registerAgain = (known: KnownShipment, posted: PostedShipment, now: number): Registered => {
  const before = known.state.posted
  if (saysTheSame(known, posted)) return { result: "duplicate" }
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

/** Whether a post says how things stood before the present milestone. */
const isPast = ({ milestoneDated, seen }: ShipmentState, report: StatusReport): boolean =>
  report.undated !== true && milestoneDated && report.at < (seen["milestone"] ?? -Infinity)

/** The original date may be another one now. */
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
  registeredAt: now,
  pickedUpAt: null,
  deliveredAt: null,
  seen: {},
  milestoneDated: false,
  deliveryMissed: false,
  notifiedStops: null,
  delayReasonCode: null,
  lateSaid: false,
  lateTold: null,
  customsStatus: null,
  appointmentTold: null,
  notices: 0,
  reports: 0
})

/** The new description around what reports have established. */
const redescribed = ({ state, view }: KnownShipment, posted: PostedShipment): ShipmentView => {
  const { Commodities: _commodities, HandlingUnits: _units, ...rest } = view
  // an estimate that nobody ever revised follows the original date
  const unrevised = view.UpdatedETA === state.posted.EstimatedDeliveryDate && posted.UpdatedETA == null
  return {
    ...rest,
    ...describedOf(posted),
    ReferenceNumbers: { ...referenceNumbersOf(posted), trailerNumber: view.ReferenceNumbers.trailerNumber },
    UpdatedETA: unrevised ? posted.EstimatedDeliveryDate : view.UpdatedETA
  }
}

/**
 * Whether a post says something of a field that it did not say before. What it leaves out it does not speak of, and at first a
 * default is no word against what the event log knows.
 */
const sayer = (before: PostedShipment | undefined, next: PostedShipment) => (field: keyof PostedShipment): boolean => {
  const value = next[field]
  if (before === undefined) return value !== undefined && value !== null && value !== false
  return value !== undefined && canonicalText(value) !== canonicalText(before[field])
}

/** Fields that a post sets as they are, without anybody being told. */
const overlaid = (known: KnownShipment, before: PostedShipment | undefined, next: PostedShipment): KnownShipment => {
  const says = sayer(before, next)
  const view: Mutable<ShipmentView> = { ...known.view }
  const state: Mutable<ShipmentState> = { ...known.state }
  if (says("ShipmentMilestoneStatusLong")) view.ShipmentMilestoneStatusLong = next.ShipmentMilestoneStatusLong ?? null
  if (says("TimeZoneOfShipment")) view.TimeZoneOfShipment = next.TimeZoneOfShipment == null ? null : plainOffset(next.TimeZoneOfShipment)
  if (says("UpdatedPro") && next.UpdatedPro === null) view.UpdatedPro = null
  const terminalReported = before === undefined && view.ShipmentTerminalInfo.TerminalStatus != null
  if (says("ShipmentTerminalInfo") && next.ShipmentTerminalInfo?.TerminalStatus == null && !terminalReported) {
    view.ShipmentTerminalInfo = { TerminalID: null, ...next.ShipmentTerminalInfo }
  }
  if (says("OFDStopsAway") && next.OFDStopsAway === null) view.OFDStopsAway = null
  for (const flag of ["Reconsignment", "ShipmentShortage", "ShipmentDamage", "AllShortOrLostShipment", "PODAvailable"] as const) {
    if (says(flag) && next[flag] !== true) view[flag] = false
  }
  if (before !== undefined && says("ReferenceNumbers") && next.ReferenceNumbers?.trailerNumber === null) {
    view.ReferenceNumbers = { ...view.ReferenceNumbers, trailerNumber: null }
  }
  overlayAppointment(view, says, next)
  overlayBorder(view, state, before, next)
  if (says("Late")) state.lateSaid = next.Late === true
  if (says("DelayReasonCode")) state.delayReasonCode = next.DelayReasonCode ?? null
  judgeLate(view, state)
  return { view, state }
}

type Says = ReturnType<typeof sayer>

const overlayAppointment = (view: Mutable<ShipmentView>, says: Says, next: PostedShipment): void => {
  if (says("AppointmentRequired")) view.AppointmentRequired = next.AppointmentRequired === true
  if (says("AppointmentStatus")) view.AppointmentStatus = next.AppointmentStatus ?? null
  if (says("AppointmentDate")) view.AppointmentDate = next.AppointmentDate ?? null
}

const customsOf = { Bond: "Bond", Hold: "Hold", ClearedCustoms: "Cleared Customs" } as const satisfies Record<string, CustomsStatus>

const overlayBorder = (
  view: Mutable<ShipmentView>,
  state: Mutable<ShipmentState>,
  before: PostedShipment | undefined,
  next: PostedShipment
): void => {
  const says = sayer(before, next)
  if (says("CrossBorder")) view.CrossBorder = next.CrossBorder === true
  if (says("CrossBorderEntryNumber")) view.CrossBorderEntryNumber = next.CrossBorderEntryNumber ?? null
  if (!says("CrossBorderStatus")) return
  const status = next.CrossBorderStatus ?? null
  view.CrossBorderStatus = status
  // a later change is a report, which compares with what was known
  if (status === null || before === undefined) state.customsStatus = status === null ? null : customsOf[status]
}

/** What a post says beyond the last one, as a report like any other. */
const reportOf = (before: PostedShipment | undefined, next: PostedShipment, view: ShipmentView, now: number): StatusReport => {
  const says = sayer(before, next)
  const given = <F extends keyof PostedShipment>(field: F): NonNullable<PostedShipment[F]> | undefined => says(field) ? next[field] ?? undefined : undefined
  const { TerminalStatus: status, ...terminal } = given("ShipmentTerminalInfo") ?? {}
  const trailerNumber = next.ReferenceNumbers?.trailerNumber
  const parts: Partial<Record<keyof StatusReport, unknown>> = {
    milestone: given("ShipmentMilestoneStatus"),
    statusText: given("ShipmentMilestoneStatusLong"),
    terminal: status == null ? undefined : { status, info: { TerminalID: null, ...terminal } },
    updatedEta: given("UpdatedETA"),
    delayReasonCode: given("DelayReasonCode"),
    saidLate: next.Late === true ? true : undefined,
    timeZone: given("TimeZoneOfShipment"),
    location: says("ShipmentLocation") ? next.ShipmentLocation ?? null : undefined,
    stopsAway: given("OFDStopsAway"),
    trailerNumber: trailerNumber != null && trailerNumber !== before?.ReferenceNumbers?.trailerNumber ? trailerNumber : undefined,
    partner: says("PartnerCarrierName") || says("PartnerCarrierSCAC")
      ? { name: next.PartnerCarrierName ?? null, scac: next.PartnerCarrierSCAC ?? null }
      : undefined,
    updatedPro: given("UpdatedPro"),
    noted: notedIn(next, says),
    information: before === undefined ? informationGiven(next) : informationIn(before, next, view, says)
  }
  const at = next.occurredAt === undefined ? now : parseInstant(next.occurredAt)!
  const report: StatusReport = {
    occurredAt: next.occurredAt ?? formatInstant(now),
    at,
    ...(next.occurredAt === undefined ? { undated: true } : {}),
    source: { kind: "shipment", id: next.shipmentId },
    ...Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined))
  }
  return believable(report, now)
}

const flagOf = { Damaged: "ShipmentDamage", Short: "ShipmentShortage", Lost: "AllShortOrLostShipment", Reconsigned: "Reconsignment" } as const

const notedIn = (next: PostedShipment, says: Says): ReadonlyArray<NotedFact> =>
  notedFacts.filter((fact) => says(flagOf[fact]) && next[flagOf[fact]] === true)

/** At first only facts that a shipment keeps; that something changed cannot be said yet. */
const informationGiven = (next: PostedShipment): ReadonlyArray<Information> =>
  next.PODAvailable === true ? [{ deliveryInformation_messages: "POD available" }] : []

const informationIn = (before: PostedShipment, next: PostedShipment, view: ShipmentView, says: Says): ReadonlyArray<Information> => {
  const informations: Array<Information> = []
  if (says("PODAvailable") && next.PODAvailable === true) informations.push({ deliveryInformation_messages: "POD available" })
  if (accessorialsOf(next).some((code) => !accessorialsOf(before).includes(code))) informations.push({ deliveryInformation_messages: "Accessorial added" })
  if (next.GrossWeight !== before.GrossWeight) informations.push({ deliveryInformation_messages: "Noted reweigh" })
  const appointment = appointmentIn(next, view, says)
  if (appointment !== undefined) informations.push(appointment)
  if (says("CrossBorderStatus") && next.CrossBorderStatus != null) {
    informations.push({
      deliveryInformation_messages: "Customs information",
      customsStatus: customsOf[next.CrossBorderStatus],
      ...(next.CrossBorderEntryNumber == null ? {} : { customsEntryNumber: next.CrossBorderEntryNumber })
    })
  }
  return informations
}

/** Agreed, agreed anew, or missed; that one was asked for is nothing a receiver can be told. */
const appointmentIn = (next: PostedShipment, view: ShipmentView, says: Says): Information | undefined => {
  if (!says("AppointmentStatus") && !says("AppointmentDate")) return undefined
  const status = next.AppointmentStatus
  if (status !== "Secured" && status !== "Missed") return undefined
  const again = view.AppointmentStatus === "Secured" || view.AppointmentStatus === "Missed"
  return {
    deliveryInformation_messages: "Appointment Update",
    appointmentStatus: status === "Missed" ? "appointment missed" : again ? "appointment rescheduled" : "appointment scheduled",
    ...(next.AppointmentDate == null ? {} : { appointmentDate: next.AppointmentDate })
  }
}
