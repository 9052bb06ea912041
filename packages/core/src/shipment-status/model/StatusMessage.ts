/** Builds notifications in the published shapes, with a sentence for people. */
import { withoutUndefined } from "../../shared/Json.ts"
import { delayReason, type Milestone } from "./CodeLists.ts"
import type { TerminalInfo } from "./FreightShapes.ts"
import type { DeliveryInformation, DeliveryUpdate } from "./StatusNotification.ts"
import type { Information } from "./StatusReport.ts"
import type { ShipmentView } from "./VerifiedShipment.ts"

/** The fields of a delivery update that come from the report. The other fields come from the shipment. */
export type Movement = Pick<
  DeliveryUpdate,
  "terminalStatus" | "terminaltype" | "terminalAddress" | "trailerNumber" | "countsToDelivery" | "UpdatedPro" | "PartnerCarrierName" | "PartnerCarrierSCAC"
>

/** The delivery update of a movement (area A). Without `message` it gets a sentence of ours. */
export const movementOf = (view: ShipmentView, milestone: Milestone, movement: Movement, message: string | undefined): DeliveryUpdate => ({
  proNumber: view.ProNumber,
  shipmentReferenceNumbers: view.ReferenceNumbers,
  shipmentMilestoneStatus: milestone,
  TimeZoneOfShipment: view.TimeZoneOfShipment,
  UpdatedETA: view.UpdatedETA,
  notificationMessage: message ?? sentence(view, milestone, movement),
  // required while a partner carrier has the freight, and after a handover to one
  ...(milestone === "Interline" || view.PartnerCarrierName !== null || view.PartnerCarrierSCAC !== null
    ? { PartnerCarrierName: view.PartnerCarrierName, PartnerCarrierSCAC: view.PartnerCarrierSCAC }
    : {}),
  ...(milestone === "Interline" && view.UpdatedPro !== null ? { UpdatedPro: view.UpdatedPro } : {}),
  ...movement
})

/** The delivery information of a shipment (area A). */
export const informationOf = (view: ShipmentView, information: Information): DeliveryInformation => ({
  proNumber: view.ProNumber,
  shipmentReferenceNumbers: view.ReferenceNumbers,
  // optional in the interface, but not nullable
  ...(view.TimeZoneOfShipment === null ? {} : { TimeZoneOfShipment: view.TimeZoneOfShipment }),
  UpdatedETA: view.UpdatedETA,
  ...reasonOf(information),
  ...information
})

/** The published texts of a delay reason code, for receivers without the list. */
const reasonOf = (information: Information): Partial<DeliveryInformation> => {
  const reason = information.delayReasonCode === undefined ? undefined : delayReason(information.delayReasonCode)
  if (reason === undefined) return {}
  const { carrierSpecificDescription, generalDescription, majorStatusCategory, responsibleParty } = reason
  return withoutUndefined({ generalDescription, carrierSpecificDescription, majorStatusCategory, responsibleParty })
}

const sentence = (view: ShipmentView, milestone: Milestone, movement: Movement): string => {
  const shipment = `Shipment ${view.ProNumber}`
  if (movement.terminalStatus !== undefined) return `${shipment} ${happened[movement.terminalStatus]}${at(movement)}.`
  if (movement.countsToDelivery !== undefined) {
    return `${shipment} is out for delivery, ${movement.countsToDelivery} ${movement.countsToDelivery === 1 ? "stop" : "stops"} away.`
  }
  const partner = movement.PartnerCarrierName ?? view.PartnerCarrierName
  if (milestone === "Interline" && partner !== null) return `${shipment} was handed to ${partner}.`
  return `${shipment} ${reached[milestone]}.`
}

const reached: Record<Milestone, string> = {
  "Picked-up": "was picked up",
  "In Transit": "is in transit",
  "Interline": "was handed to a partner carrier",
  "Out for Delivery": "is out for delivery",
  "Delivered": "was delivered"
}

const happened: Record<NonNullable<Movement["terminalStatus"]>, string> = {
  Arrived: "arrived",
  Unloaded: "was unloaded",
  Loaded: "was loaded",
  Departed: "departed",
  Damaged: "was noted as damaged",
  Short: "was noted as short",
  Lost: "was noted as lost",
  Reconsigned: "was reconsigned"
}

const at = ({ terminalAddress, terminalStatus, terminaltype }: Movement): string => {
  const place = placeOf(terminalAddress)
  if (terminaltype === undefined && place === undefined) return ""
  const terminal = terminaltype === undefined ? "terminal" : `${terminaltype} terminal`
  return ` ${terminalStatus === "Departed" ? "from" : "at"} the ${terminal}${place === undefined ? "" : ` in ${place}`}`
}

const placeOf = (terminal: TerminalInfo | undefined): string | undefined => {
  if (typeof terminal?.City !== "string" || terminal.City === "") return undefined
  return typeof terminal.State === "string" && terminal.State !== "" ? `${terminal.City}, ${terminal.State}` : terminal.City
}
