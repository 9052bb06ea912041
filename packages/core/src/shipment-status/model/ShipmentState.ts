/** A shipment's status as it is known, and what a report makes of it. SPEC-GAP-A2 */
import {
  type CrossBorderStatus,
  type CustomsStatus,
  type Milestone,
  type NotedFact,
  unstatedDelay
} from "./CodeLists.ts"
import { localDate, plainOffset, type TerminalInfo } from "./FreightShapes.ts"
import { canonicalText } from "../../shared/Json.ts"
import type { ExtraReference } from "./LookupKey.ts"
import type { PostedShipment } from "./PostedShipment.ts"
import { isFinal, moveTo, type MoveOutcome } from "./ShipmentMilestone.ts"
import { informationOf, type Movement, movementOf } from "./StatusMessage.ts"
import type { StatusNotification } from "./StatusNotification.ts"
import type { Information, ReportOutcome, StatusReport } from "./StatusReport.ts"
import type { ShipmentView } from "./VerifiedShipment.ts"

/** What is kept of a shipment beside its answers. */
export interface ShipmentState {
  readonly shipmentId: string
  /** What intake last said of it. */
  readonly posted: PostedShipment
  readonly references: ReadonlyArray<ExtraReference>
  readonly registeredAt: number
  readonly pickedUpAt: number | null
  readonly deliveredAt: number | null
  /** Of each aspect, when what is known of it happened. */
  readonly seen: { readonly [aspect: string]: number }
  /** Whether somebody said when the present milestone was reached. */
  readonly milestoneDated: boolean
  /** Since it went out for delivery. */
  readonly deliveryMissed: boolean
  /** The fewest stops that were told since it went out for delivery. */
  readonly stopsTold: number | null
  /** Delay reason last given while it was late, or before. */
  readonly delayReasonCode: string | null
  /** Posted as late although the dates do not say so. */
  readonly lateSaid: boolean
  /** Which lateness was told. */
  readonly lateTold: string | null
  readonly customsStatus: CustomsStatus | null
  /** Which news of an appointment was told last. */
  readonly appointmentTold: string | null
  /** Sequence of the last notification. */
  readonly notices: number
  /** Position of the last history entry. */
  readonly reports: number
}

export interface KnownShipment {
  readonly view: ShipmentView
  readonly state: ShipmentState
}

export interface Applied {
  readonly known: KnownShipment
  readonly notifications: ReadonlyArray<StatusNotification>
  readonly outcome: ReportOutcome
  /** Whether it came to a milestone, anew or again. */
  readonly moved: boolean
  /** Why a report was refused, in one sentence. */
  readonly why?: string
}

type Mutable<A> = { -readonly [K in keyof A]: A[K] }

/** What is being made of one report. */
interface Draft {
  readonly view: Mutable<ShipmentView>
  readonly state: Mutable<ShipmentState>
  readonly report: StatusReport
  readonly movement: Mutable<Movement>
  readonly informations: Array<Information>
  readonly noted: Array<NotedFact>
  /** Whether the movement is worth telling. */
  moves: boolean
  changes: boolean
  /** Whether it comes to a milestone. */
  moved: boolean
}

/** Pure: the same report on the same shipment always comes to the same. A refused report changes nothing. */
export const applyReport = (known: KnownShipment, report: StatusReport): Applied => {
  const { state, view } = known
  const from = view.ShipmentMilestoneStatus
  const facts = { deliveryMissed: state.deliveryMissed && (report.milestone !== from || isNewAttempt(state, report)), consigneeHasIt: report.custody !== "other" }
  const move: MoveOutcome = report.milestone === undefined ? { _tag: "Same" } : moveTo(from, report.milestone, facts)
  const draft = draftOf(known, report)
  if (isLate(state, report, move)) return applyLate(draft)
  const why = report.onlyForward === true ? undefined : refusalOf(view, report, move)
  if (why !== undefined) return { known, notifications: [], outcome: "refused", moved: false, why }
  if (move._tag === "Moved") moveMilestone(draft, move.to)
  // the visibility of a delivered shipment has ended: it moves no more
  if (!isFinal(from)) {
    moveFreight(draft)
    changeEta(draft)
  }
  noteFacts(draft)
  for (const information of report.information ?? []) inform(draft, information)
  return finished(draft, draft.changes ? "applied" : "noted")
}

/** Going out once more after the miss. A snapshot that nobody dated may still speak of the first attempt. */
const isNewAttempt = ({ seen }: ShipmentState, report: StatusReport): boolean =>
  report.undated === true ? report.source.kind !== "shipment" : report.at > (seen["missed"] ?? -Infinity)

const draftOf = (known: KnownShipment, report: StatusReport): Draft => ({
  view: { ...known.view },
  state: { ...known.state },
  report,
  movement: {},
  informations: [],
  noted: [],
  moves: false,
  changes: false,
  moved: false
})

/** Happened before what set the milestone. Where nobody said when that was, a permitted move is believed. */
const isLate = (state: ShipmentState, report: StatusReport, move: MoveOutcome): boolean => {
  const reached = state.seen["milestone"]
  if (reached === undefined || report.undated === true || report.at >= reached) return false
  return state.milestoneDated || move._tag === "NotPermitted"
}

const refusalOf = (view: ShipmentView, report: StatusReport, move: MoveOutcome): string | undefined => {
  if (move._tag === "NotPermitted") return move.why
  const partner = { name: report.partner?.name ?? view.PartnerCarrierName, scac: report.partner?.scac ?? view.PartnerCarrierSCAC }
  if (move._tag === "Moved" && move.to === "Interline" && (partner.name === null || partner.scac === null)) {
    return "Interline needs PartnerCarrierName and PartnerCarrierSCAC: who has the freight now."
  }
  const eta = report.updatedEta ?? view.UpdatedETA
  if (report.information?.some(saysLate) === true && !isOverdue({ ...view, UpdatedETA: eta })) {
    return `Noted late needs an UpdatedETA on a later day than ${localDate(view.EstimatedDeliveryDate)}, the estimated delivery date.`
  }
  return undefined
}

const saysLate = (information: Information): boolean => information.deliveryInformation_messages === "Noted late"

/** Of late news only what stays true counts: what is wrong with the freight, that there is a proof of delivery, and when it was picked up. */
const applyLate = (draft: Draft): Applied => {
  if (draft.report.milestone === "Picked-up") draft.state.pickedUpAt ??= draft.report.at
  noteFacts(draft)
  for (const information of draft.report.information ?? []) {
    if (information.deliveryInformation_messages === "POD available") inform(draft, information)
  }
  return finished(draft, draft.changes ? "applied" : "late")
}

const finished = (draft: Draft, outcome: ReportOutcome): Applied => {
  const { view, state } = draft
  const notifications = view.ShipmentMilestoneStatus === undefined ? [] : notificationsOf(draft, view.ShipmentMilestoneStatus)
  return {
    known: { view, state: { ...state, notices: state.notices + notifications.length, reports: state.reports + 1 } },
    notifications,
    outcome,
    moved: draft.moved
  }
}

/** A shipment that nobody can look up yet is not talked about either. */
const notificationsOf = (draft: Draft, milestone: Milestone): ReadonlyArray<StatusNotification> => {
  const { informations, movement, moves, noted, report, view } = draft
  const terminal = report.terminal?.info === undefined ? {} : { terminalAddress: report.terminal.info }
  // one report is one notification where one can say it all
  const [first, ...others] = noted
  const together = moves && movement.terminalStatus === undefined && first !== undefined
  const alone = together ? others : noted
  return [
    ...(moves ? [movementOf(view, milestone, together ? { ...terminal, ...movement, terminalStatus: first } : movement, report.message)] : []),
    ...alone.map((fact) => movementOf(view, milestone, { ...terminal, terminalStatus: fact }, moves ? undefined : report.message)),
    ...informations.map((information) => informationOf(view, information))
  ]
}

const moveMilestone = (draft: Draft, to: Milestone): void => {
  const { report, state, view } = draft
  view.ShipmentMilestoneStatus = to
  view.ShipmentMilestoneStatusLong = report.statusText ?? null
  view.OFDStopsAway = null
  state.seen = { ...state.seen, milestone: report.at }
  state.milestoneDated = report.undated !== true
  state.deliveryMissed = false
  state.stopsTold = null
  if (to === "Picked-up") state.pickedUpAt = report.at
  if (to === "Delivered") state.deliveredAt = report.at
  draft.moved = true
  draft.moves = true
  draft.changes = true
}

/** Whether this report is the newest on one aspect; if so, later ones have to be newer than it. */
const isNewest = (draft: Draft, aspect: string): boolean => {
  const { report, state } = draft
  if (report.undated === true) return true
  if (report.at < (state.seen[aspect] ?? -Infinity)) return false
  state.seen = { ...state.seen, [aspect]: report.at }
  return true
}

const moveFreight = (draft: Draft): void => {
  const { movement, report, view } = draft
  if (report.statusText !== undefined && report.statusText !== view.ShipmentMilestoneStatusLong && report.milestone === view.ShipmentMilestoneStatus) {
    view.ShipmentMilestoneStatusLong = report.statusText
    draft.changes = true
  }
  if ((report.terminal?.status !== undefined || report.location !== undefined || report.timeZone !== undefined) && isNewest(draft, "place")) changePlace(draft)
  if (report.stopsAway !== undefined && view.ShipmentMilestoneStatus === "Out for Delivery" && isNewest(draft, "stops")) countStops(draft, report.stopsAway)
  if (report.trailerNumber !== undefined) {
    movement.trailerNumber = report.trailerNumber
    if (view.ReferenceNumbers.trailerNumber !== report.trailerNumber) {
      view.ReferenceNumbers = { ...view.ReferenceNumbers, trailerNumber: report.trailerNumber }
      draft.changes = true
    }
  }
  changeCarrier(draft)
}

const changePlace = (draft: Draft): void => {
  const { movement, report, view } = draft
  const zone = report.timeZone === undefined ? undefined : plainOffset(report.timeZone)
  if (zone !== undefined && zone !== view.TimeZoneOfShipment) {
    view.TimeZoneOfShipment = zone
    draft.changes = true
  }
  if (report.location === null && view.ShipmentLocation !== undefined) {
    delete view.ShipmentLocation
    draft.changes = true
  } else if (report.location !== undefined && report.location !== null) {
    view.ShipmentLocation = report.location
    draft.changes = true
  }
  const terminal = report.terminal
  if (terminal?.status === undefined) return
  const before = view.ShipmentTerminalInfo
  const place = terminal.info ?? (terminal.status === "Arrived" ? { TerminalID: null } : before)
  const after: TerminalInfo = { ...place, TerminalStatus: terminal.status }
  // told once by two systems, it is still one arrival; without a terminal's id nobody can tell
  if (after.TerminalID !== null && after.TerminalID === before.TerminalID && after.TerminalStatus === before.TerminalStatus) return
  view.ShipmentTerminalInfo = after
  movement.terminalStatus = terminal.status
  if (terminal.type !== undefined) movement.terminaltype = terminal.type
  if (terminal.info !== undefined) movement.terminalAddress = terminal.info
  draft.moves = true
  draft.changes = true
}

/** Counting down from three; each number is told once. */
const countStops = (draft: Draft, stopsAway: number): void => {
  const { movement, state, view } = draft
  const stops = stopsAway === 3 || stopsAway === 2 || stopsAway === 1 ? stopsAway : null
  if (stops !== view.OFDStopsAway) draft.changes = true
  view.OFDStopsAway = stops
  if (stops === null || (state.stopsTold !== null && stops >= state.stopsTold)) return
  state.stopsTold = stops
  movement.countsToDelivery = stops
  draft.moves = true
  draft.changes = true
}

/** Another carrier has it now, or it goes under another number. */
const changeCarrier = (draft: Draft): void => {
  const { movement, report, view } = draft
  if (report.updatedPro !== undefined && report.updatedPro !== view.UpdatedPro) {
    view.UpdatedPro = report.updatedPro
    movement.UpdatedPro = report.updatedPro
    draft.moves = true
    draft.changes = true
  }
  if (report.partner === undefined) return
  const name = report.partner.name ?? view.PartnerCarrierName
  const scac = report.partner.scac ?? view.PartnerCarrierSCAC
  movement.PartnerCarrierName = name
  movement.PartnerCarrierSCAC = scac
  if (name === view.PartnerCarrierName && scac === view.PartnerCarrierSCAC) return
  view.PartnerCarrierName = name
  view.PartnerCarrierSCAC = scac
  draft.moves = true
  draft.changes = true
}

/** SPEC-GAP-A10: late is a matter of calendar days where the freight is delivered. */
export const isOverdue = (view: Pick<ShipmentView, "UpdatedETA" | "EstimatedDeliveryDate">): boolean =>
  localDate(view.UpdatedETA) > localDate(view.EstimatedDeliveryDate)

/** `Late` and its reason as the dates have it. */
export const judgeLate = (view: Mutable<ShipmentView>, state: Mutable<ShipmentState>): void => {
  const wasLate = view.Late
  view.Late = isOverdue(view) || state.lateSaid
  if (wasLate && !view.Late) {
    state.delayReasonCode = null
    state.lateTold = null
  }
  view.DelayReasonCode = view.Late ? state.delayReasonCode ?? unstatedDelay : null
}

const changeEta = (draft: Draft): void => {
  const { report, state, view } = draft
  const eta = report.updatedEta !== undefined && isNewest(draft, "eta") ? report.updatedEta : undefined
  if (eta === undefined && report.delayReasonCode === undefined) return
  if (eta !== undefined && eta !== view.UpdatedETA) {
    view.UpdatedETA = eta
    state.lateSaid = report.saidLate === true
    draft.changes = true
  }
  if (report.delayReasonCode !== undefined && report.delayReasonCode !== state.delayReasonCode) {
    state.delayReasonCode = report.delayReasonCode
    draft.changes = true
  }
  judgeLate(view, state)
  if (isOverdue(view) && report.information?.some(saysLate) !== true) inform(draft, { deliveryInformation_messages: "Noted late" })
}

const flagOf = {
  Damaged: "ShipmentDamage",
  Short: "ShipmentShortage",
  Lost: "AllShortOrLostShipment",
  Reconsigned: "Reconsignment"
} as const satisfies Record<NotedFact, keyof ShipmentView>

/** Once noted, it stays; told when it is new. */
const noteFacts = (draft: Draft): void => {
  for (const fact of draft.report.noted ?? []) {
    if (draft.view[flagOf[fact]]) continue
    draft.view[flagOf[fact]] = true
    draft.noted.push(fact)
    draft.changes = true
  }
}

const tell = (draft: Draft, information: Information): void => {
  draft.informations.push(information)
  draft.changes = true
}

const inform = (draft: Draft, information: Information): void => {
  const { report, state, view } = draft
  switch (information.deliveryInformation_messages) {
    case "POD available":
      if (view.PODAvailable) return
      view.PODAvailable = true
      return tell(draft, information)
    case "Noted late":
      return informLate(draft, information)
    case "Missed delivery":
      if (isFinal(view.ShipmentMilestoneStatus)) return
      state.seen = { ...state.seen, missed: report.at }
      state.deliveryMissed = view.ShipmentMilestoneStatus === "Out for Delivery"
      state.stopsTold = null
      view.OFDStopsAway = null
      return tell(draft, information)
    case "Appointment Update":
      return informAppointment(draft, information)
    case "Customs information":
      return informCustoms(draft, information)
    case "Accessorial added":
    case "Noted reweigh":
      return tell(draft, information)
  }
}

/** Told again only when the day or the reason is another one. */
const informLate = (draft: Draft, information: Information): void => {
  const { state, view } = draft
  if (!isOverdue(view) || isFinal(view.ShipmentMilestoneStatus)) return
  const delayReasonCode = information.delayReasonCode ?? view.DelayReasonCode ?? unstatedDelay
  const which = `${localDate(view.UpdatedETA)} ${delayReasonCode}`
  if (which === state.lateTold) return
  state.lateTold = which
  tell(draft, { ...information, delayReasonCode })
}

/** The shipment shows the first date that was agreed, as the interface has it; notifications carry the new one. SPEC-GAP-A11 */
const informAppointment = (draft: Draft, information: Information): void => {
  const { state, view } = draft
  if (isFinal(view.ShipmentMilestoneStatus) || !isNewest(draft, "appointment")) return
  // a system may repeat it with every event
  const which = canonicalText(information)
  if (which === state.appointmentTold) return
  state.appointmentTold = which
  view.AppointmentRequired = true
  if (information.appointmentStatus !== undefined) {
    view.AppointmentStatus = information.appointmentStatus === "appointment missed" ? "Missed" : "Secured"
  }
  if (view.AppointmentDate === null && information.appointmentDate !== undefined) view.AppointmentDate = information.appointmentDate
  const { utcOffset, ...rest } = information
  // a new time needs its place's offset, also where the sender takes it as known
  const zone = utcOffset ?? (information.appointmentStatus === "appointment rescheduled" ? view.TimeZoneOfShipment : null)
  tell(draft, { ...rest, ...(zone === null ? {} : { utcOffset: plainOffset(zone) }) })
}

/** A broker that is known says nothing yet of the border itself. */
export const crossBorderOf = {
  "Broker Identified": null,
  "Bond": "Bond",
  "Hold": "Hold",
  "Cleared Customs": "ClearedCustoms"
} as const satisfies Record<CustomsStatus, CrossBorderStatus | null>

const informCustoms = (draft: Draft, information: Information): void => {
  const { state, view } = draft
  if (!isNewest(draft, "customs")) return
  const { customsAgent, customsEntryNumber, customsStatus } = information
  const entry = customsEntryNumber ?? view.CrossBorderEntryNumber
  const status = customsStatus ?? state.customsStatus
  if (customsAgent === undefined && status === state.customsStatus && entry === view.CrossBorderEntryNumber && view.CrossBorder) return
  view.CrossBorder = true
  view.CrossBorderEntryNumber = entry
  if (status !== null && crossBorderOf[status] !== null) view.CrossBorderStatus = crossBorderOf[status]
  state.customsStatus = status
  tell(draft, { ...information, customsStatus: status, customsEntryNumber: entry })
}
