/** Applies information other than movement, and decides which of it causes a notification. */
import { canonicalText } from "../../shared/Json.ts"
import { type CrossBorderStatus, type CustomsStatus, unstatedDelay } from "./CodeLists.ts"
import { localDate, offsetIn, plainOffset } from "./FreightShapes.ts"
import { isOverdue, judgeLate } from "./Lateness.ts"
import { type Draft, isNewest } from "./ShipmentDraft.ts"
import { isFinal } from "./ShipmentMilestone.ts"
import type { Information } from "./StatusReport.ts"

export const saysLate = (information: Information): boolean => information.deliveryInformation_messages === "Noted late"

export const inform = (draft: Draft, information: Information): void => {
  const { report, state, view } = draft
  switch (information.deliveryInformation_messages) {
    case "POD available":
      if (view.PODAvailable) return
      view.PODAvailable = true
      break
    case "Noted late":
      return informLate(draft, information)
    case "Missed delivery":
      if (isFinal(view.ShipmentMilestoneStatus)) return
      state.seen = { ...state.seen, missed: report.at }
      state.deliveryMissed = view.ShipmentMilestoneStatus === "Out for Delivery"
      state.notifiedStops = null
      view.OFDStopsAway = null
      break
    case "Appointment Update":
      return informAppointment(draft, information)
    case "Customs information":
      return informCustoms(draft, information)
    case "Accessorial added":
    case "Noted reweigh":
      break
  }
  draft.informations.push(information)
}

/** The carrier may know that it is late before it has a new estimate. Notifies again only if the date or the reason changed. SPEC-GAP-A21 */
const informLate = (draft: Draft, information: Information): void => {
  const { state, view } = draft
  if (isFinal(view.ShipmentMilestoneStatus)) return
  if (!isOverdue(view)) {
    if (!isNewest(draft, "eta")) return
    if (!view.Late) draft.changesQuietly = true
    state.reportedLate = true
    judgeLate(view, state)
  }
  const delayReasonCode = information.delayReasonCode ?? view.DelayReasonCode ?? unstatedDelay
  const which = `${localDate(view.UpdatedETA)} ${delayReasonCode}`
  if (which === state.notifiedLateness) return
  state.notifiedLateness = which
  draft.informations.push({ ...information, delayReasonCode })
}

/** The shipment shows the first agreed date, as the interface defines it; notifications contain the new one. SPEC-GAP-A11, SPEC-GAP-A27 */
const informAppointment = (draft: Draft, information: Information): void => {
  const { state, view } = draft
  if (isFinal(view.ShipmentMilestoneStatus) || !isNewest(draft, "appointment")) return
  // a sender may repeat the appointment with every event
  const which = canonicalText(information)
  if (which === state.notifiedAppointment) return
  state.notifiedAppointment = which
  view.AppointmentRequired = true
  if (information.appointmentStatus !== undefined) {
    view.AppointmentStatus = information.appointmentStatus === "appointment missed" ? "Missed" : "Secured"
  }
  if (view.AppointmentDate === null && information.appointmentDate !== undefined) view.AppointmentDate = information.appointmentDate
  const { utcOffset, ...rest } = information
  // a rescheduled time needs the place's offset, even if the sender leaves it out; the freight may still be in another zone
  const zone = utcOffset ?? (information.appointmentStatus === "appointment rescheduled" ? offsetIn(information.appointmentDate ?? "") ?? view.TimeZoneOfShipment : null)
  draft.informations.push({ ...rest, ...(zone === null ? {} : { utcOffset: plainOffset(zone) }) })
}

/** An identified broker does not determine a border status. */
const crossBorderOf = {
  "Broker Identified": null,
  "Bond": "Bond",
  "Hold": "Hold",
  "Cleared Customs": "ClearedCustoms"
} as const satisfies Record<CustomsStatus, CrossBorderStatus | null>

/** The newest status wins, whatever it was before. SPEC-GAP-A27 */
const informCustoms = (draft: Draft, information: Information): void => {
  const { state, view } = draft
  if (!isNewest(draft, "customs")) return
  const { customsAgent, customsEntryNumber, customsStatus } = information
  const entry = customsEntryNumber ?? view.CrossBorderEntryNumber
  const status = customsStatus ?? state.customsStatus
  const isKnown = view.CrossBorder || state.customsStatus !== null
  if (customsAgent === undefined && status === state.customsStatus && entry === view.CrossBorderEntryNumber && isKnown) return
  view.CrossBorderEntryNumber = entry
  if (status !== null && crossBorderOf[status] !== null) view.CrossBorderStatus = crossBorderOf[status]
  // a shipment across a border needs a border status, which a broker alone does not give. SPEC-GAP-A22
  view.CrossBorder = view.CrossBorderStatus != null
  state.customsStatus = status
  const { customsStatus: _status, ...rest } = information
  draft.informations.push({ ...rest, ...(status === null ? {} : { customsStatus: status }), customsEntryNumber: entry })
}
