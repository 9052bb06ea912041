/** The status of a shipment, and how a report changes it. SPEC-GAP-A2 */
import type { CustomsStatus, Milestone, FreightException } from "./CodeLists.ts"
import { plainOffset, type TerminalInfo } from "./FreightShapes.ts"
import { isOverdue, judgeLate } from "./Lateness.ts"
import type { ExtraReference } from "./LookupKey.ts"
import type { PostedShipment } from "./PostedShipment.ts"
import { isFinal, moveTo, type MoveOutcome } from "./ShipmentMilestone.ts"
import { Draft, isNewest } from "./ShipmentDraft.ts"
import { inform, saysLate } from "./ShipmentInformation.ts"
import { informationOf, movementOf } from "./StatusMessage.ts"
import type { StatusNotification } from "./StatusNotification.ts"
import type { ReportOutcome, StatusReport } from "./StatusReport.ts"
import type { ShipmentView } from "./VerifiedShipment.ts"

/** State of a shipment that its answers do not show. */
export interface ShipmentState {
  readonly shipmentId: string
  /** The latest post of this shipment. */
  readonly posted: PostedShipment
  readonly references: ReadonlyArray<ExtraReference>
  /** PROs that `UpdatedPro` had before, under which customers and partners still know the shipment. The latest last. SPEC-GAP-A34 */
  readonly formerPros: ReadonlyArray<string>
  readonly registeredAt: number
  readonly pickedUpAt: number | null
  /** Whether `pickedUpAt` was reported, and is not only the time of an undated post. */
  readonly pickupDated: boolean
  readonly deliveredAt: number | null
  /** Time of the latest applied report, by aspect. */
  readonly seen: { readonly [aspect: string]: number }
  /** Whether the current milestone has a reported time. */
  readonly milestoneDated: boolean
  /** Whether the delivery was missed since the shipment went out for delivery. */
  readonly deliveryMissed: boolean
  /** The fewest stops that were notified since it went out for delivery. */
  readonly notifiedStops: number | null
  /** The latest delay reason, also from before it was late. */
  readonly delayReasonCode: string | null
  /** Whether it was posted as late although its dates are not. */
  readonly reportedLate: boolean
  /** The date and reason of the last lateness notification. */
  readonly notifiedLateness: string | null
  readonly customsStatus: CustomsStatus | null
  /** The last notified appointment, as canonical text. */
  readonly notifiedAppointment: string | null
  /** Sequence of the last notification. */
  readonly notices: number
  /** Position of the last history entry. */
  readonly reports: number
}

/** The numbers of a shipment that its answers do not show. */
export const furtherReferences = ({ formerPros, references }: ShipmentState): ReadonlyArray<ExtraReference> =>
  [...references, ...formerPros.map((value) => ({ type: "PRO", value }))]

/** A shipment: what answers show, and what later reports are compared with. */
export interface KnownShipment {
  readonly view: ShipmentView
  readonly state: ShipmentState
}

/** A shipment after a report, and the notifications to its subscribers. */
export interface Applied {
  readonly known: KnownShipment
  readonly notifications: ReadonlyArray<StatusNotification>
  readonly outcome: ReportOutcome
  /** Whether it reached a milestone, for the first time or again. */
  readonly moved: boolean
  /** Why the report was refused, in one sentence. */
  readonly why?: string
}

/** Pure: equal input gives an equal result. A refused report changes nothing. */
export const applyReport = (known: KnownShipment, report: StatusReport): Applied => {
  const { state, view } = known
  const from = view.ShipmentMilestoneStatus
  const facts = { deliveryMissed: state.deliveryMissed && (report.milestone !== from || isNewAttempt(state, report)), consigneeHasIt: report.custody !== "other" }
  const move: MoveOutcome = report.milestone === undefined ? { _tag: "Same" } : moveTo(from, report.milestone, facts)
  const late = isLate(state, report, move)
  const why = late || report.onlyForward === true ? undefined : refusalOf(view, report, move)
  if (why !== undefined) return { known, notifications: [], outcome: "refused", moved: false, why }
  const draft = new Draft(known, report)
  notePickup(draft)
  if (late) return applyLate(draft)
  if (move._tag === "Moved") moveMilestone(draft, move.to)
  // after delivery, no milestone changes
  if (!isFinal(from)) {
    moveFreight(draft)
    changeEta(draft)
  }
  applyExceptions(draft)
  for (const information of report.information ?? []) inform(draft, information)
  return finished(draft, draft.changes ? "applied" : "unchanged")
}

/** Whether the report is a new attempt after the missed delivery. An undated post may still describe the first attempt, so it is not. */
const isNewAttempt = ({ seen }: ShipmentState, report: StatusReport): boolean =>
  report.undated === true ? report.source.kind !== "shipment" : report.at > (seen["missed"] ?? -Infinity)

/** Whether the report is older than the current milestone. If the milestone has no reported time, a permitted move is accepted. */
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
  return undefined
}

/** The first reported time of the pickup counts, also from a late report. It replaces the time of an undated post. */
const notePickup = ({ report, state }: Draft): void => {
  const dated = report.undated !== true
  if (report.milestone !== "Picked-up" || (state.pickedUpAt !== null && (state.pickupDated || !dated))) return
  state.pickedUpAt = report.at
  state.pickupDated = dated
}

/** Applies the lasting facts of a late report: freight exceptions and the proof of delivery. */
const applyLate = (draft: Draft): Applied => {
  applyExceptions(draft)
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

/** Why a report without notifications causes none. SPEC-GAP-A24 */
export const whyNotNotified = ({ known: { view }, outcome }: Applied): string => {
  const milestone = view.ShipmentMilestoneStatus
  if (milestone === undefined) return "The shipment has no milestone yet. Subscribers are notified from its first milestone on."
  if (outcome === "late") return "It happened before the present milestone, so it is kept in the history only."
  if (outcome === "applied") {
    return "Lookups show the change. Subscribers are notified of movements and information, not of a new estimate, text, place or trailer alone."
  }
  return isFinal(milestone) ? `The shipment is ${milestone}, and nothing moves any more.` : "It repeats what is known, or contains nothing that the status shows."
}

/** Without a milestone there are no notifications, because lookups do not find the shipment yet. */
const notificationsOf = (draft: Draft, milestone: Milestone): ReadonlyArray<StatusNotification> => {
  const { informations, movement, moves, exceptions, report, view } = draft
  const { info, type } = report.terminal ?? {}
  const terminal = { ...(type === undefined ? {} : { terminaltype: type }), ...(info === undefined ? {} : { terminalAddress: info }) }
  // the first exception is in the notification of the movement unless that has a terminal status, so that one report causes one notification if possible
  const [first, ...others] = exceptions
  const together = movement.terminalStatus === undefined && first !== undefined
  const alone = together ? others : exceptions
  const isOne = moves || together
  return [
    ...(isOne ? [movementOf(view, milestone, { ...terminal, ...movement, ...(together ? { terminalStatus: first } : {}) }, report.message)] : []),
    ...alone.map((exception) => movementOf(view, milestone, { ...terminal, terminalStatus: exception }, isOne ? undefined : report.message)),
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
  state.notifiedStops = null
  if (to === "Delivered") state.deliveredAt = report.at
  draft.moved = true
  draft.moves = true
}

const moveFreight = (draft: Draft): void => {
  const { movement, report, view } = draft
  if (report.statusText !== undefined && report.milestone === view.ShipmentMilestoneStatus && isNewest(draft, "text") && report.statusText !== view.ShipmentMilestoneStatusLong) {
    view.ShipmentMilestoneStatusLong = report.statusText
    draft.changesQuietly = true
  }
  if ((report.terminal?.status !== undefined || report.location !== undefined || report.timeZone !== undefined) && isNewest(draft, "place")) changePlace(draft)
  if (report.stopsAway !== undefined && view.ShipmentMilestoneStatus === "Out for Delivery" && isNewest(draft, "stops")) countStops(draft, report.stopsAway)
  if (report.trailerNumber !== undefined && isNewest(draft, "trailer")) {
    movement.trailerNumber = report.trailerNumber
    if (view.ReferenceNumbers.trailerNumber !== report.trailerNumber) {
      view.ReferenceNumbers = { ...view.ReferenceNumbers, trailerNumber: report.trailerNumber }
      draft.changesQuietly = true
    }
  }
  changePro(draft)
  changePartner(draft)
}

const changePlace = (draft: Draft): void => {
  const { movement, report, view } = draft
  const zone = report.timeZone === undefined ? undefined : plainOffset(report.timeZone)
  if (zone !== undefined && zone !== view.TimeZoneOfShipment) {
    view.TimeZoneOfShipment = zone
    draft.changesQuietly = true
  }
  if (report.location === null && view.ShipmentLocation !== undefined) {
    delete view.ShipmentLocation
    draft.changesQuietly = true
  } else if (report.location !== undefined && report.location !== null) {
    view.ShipmentLocation = report.location
    draft.changesQuietly = true
  }
  const terminal = report.terminal
  if (terminal?.status === undefined) return
  const before = view.ShipmentTerminalInfo
  const place = terminal.info ?? (terminal.status === "Arrived" ? { TerminalID: null } : before)
  const after: TerminalInfo = { ...place, TerminalStatus: terminal.status }
  // two systems may report the same arrival; equal terminal ids prove it. After a new milestone (a missed delivery) it is a second arrival
  if (!draft.moved && after.TerminalID !== null && after.TerminalID === before.TerminalID && after.TerminalStatus === before.TerminalStatus) return
  view.ShipmentTerminalInfo = after
  movement.terminalStatus = terminal.status
  if (terminal.type !== undefined) movement.terminaltype = terminal.type
  if (terminal.info !== undefined) movement.terminalAddress = terminal.info
  draft.moves = true
}

/** Counts down from three. Each number is notified once. SPEC-GAP-A29 */
const countStops = (draft: Draft, stopsAway: number): void => {
  const { movement, state, view } = draft
  const stops = stopsAway === 3 || stopsAway === 2 || stopsAway === 1 ? stopsAway : null
  if (stops !== view.OFDStopsAway) draft.changesQuietly = true
  view.OFDStopsAway = stops
  if (stops === null || (state.notifiedStops !== null && stops >= state.notifiedStops)) return
  state.notifiedStops = stops
  movement.countsToDelivery = stops
  draft.moves = true
}

/** More handovers than a shipment has, so that no sender can make its state grow. */
const mostFormerPros = 20

/** The freight has another PRO number, or had it before the present one. */
const changePro = (draft: Draft): void => {
  const { movement, report: { updatedPro }, state, view } = draft
  if (updatedPro === undefined) return
  const newest = isNewest(draft, "pro")
  if (updatedPro === view.UpdatedPro) return
  const former = newest ? view.UpdatedPro : updatedPro
  if (former !== null) state.formerPros = [...state.formerPros.filter((each) => each !== former), former].slice(-mostFormerPros)
  if (!newest) return
  view.UpdatedPro = updatedPro
  movement.UpdatedPro = updatedPro
  draft.moves = true
}

/** The freight has another carrier. */
const changePartner = (draft: Draft): void => {
  const { movement, report, view } = draft
  if (report.partner === undefined || !isNewest(draft, "partner")) return
  const name = report.partner.name ?? view.PartnerCarrierName
  const scac = report.partner.scac ?? view.PartnerCarrierSCAC
  movement.PartnerCarrierName = name
  movement.PartnerCarrierSCAC = scac
  if (name === view.PartnerCarrierName && scac === view.PartnerCarrierSCAC) return
  view.PartnerCarrierName = name
  view.PartnerCarrierSCAC = scac
  draft.moves = true
}

const changeEta = (draft: Draft): void => {
  const { report, state, view } = draft
  const eta = report.updatedEta !== undefined && isNewest(draft, "eta") ? report.updatedEta : undefined
  const reason = report.delayReasonCode !== undefined && isNewest(draft, "delayReason") ? report.delayReasonCode : undefined
  if (eta === undefined && reason === undefined) return
  if (eta !== undefined && eta !== view.UpdatedETA) {
    view.UpdatedETA = eta
    state.reportedLate = report.reportedLate === true
    draft.changesQuietly = true
  }
  if (reason !== undefined && reason !== state.delayReasonCode) {
    state.delayReasonCode = reason
    draft.changesQuietly = true
  }
  judgeLate(view, state)
  if (isOverdue(view) && report.information?.some(saysLate) !== true) inform(draft, { deliveryInformation_messages: "Noted late" })
}

/** The member that says whether an exception was reported. */
export const flagOf = { Damaged: "ShipmentDamage", Short: "ShipmentShortage", Lost: "AllShortOrLostShipment", Reconsigned: "Reconsignment" } as const satisfies Record<FreightException, keyof ShipmentView>

/** Freight exceptions stay once reported. Each is notified once. */
const applyExceptions = (draft: Draft): void => {
  for (const exception of draft.report.exceptions ?? []) {
    if (draft.view[flagOf[exception]]) continue
    draft.view[flagOf[exception]] = true
    draft.exceptions.push(exception)
  }
}
