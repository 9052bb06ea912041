/** Converts status updates to transit events: the published mapping in reverse, so that both views agree. */
import type { ShipmentView } from "../shipment-status/model/VerifiedShipment.ts"
import type { StandardAddress } from "../shipment-status/model/FreightShapes.ts"
import type { DeliveryMessage, Milestone } from "../shipment-status/model/CodeLists.ts"
import type { StatusUpdate } from "../shipment-status/model/StatusUpdate.ts"
import type { EventType } from "../transit-events/model/EventType.ts"
import type { ReportedEvent } from "../transit-events/model/TransitEvent.ts"

const typeOfMilestone: Readonly<Record<Milestone, EventType>> = {
  "Picked-up": "PICKED_UP",
  "In Transit": "IN_TRANSIT",
  "Interline": "IN_TRANSIT",
  "Out for Delivery": "OUT_FOR_DELIVERY",
  "Delivered": "DELIVERED"
}

const typeOfTerminal: Readonly<Record<NonNullable<StatusUpdate["terminalStatus"]>, EventType>> = {
  Arrived: "ARRIVED_AT_TERMINAL",
  Departed: "DEPARTED_TERMINAL",
  // the event log has loading and unloading for vessels only
  Unloaded: "IN_TRANSIT",
  Loaded: "IN_TRANSIT",
  Damaged: "EXCEPTION",
  Short: "EXCEPTION",
  Lost: "EXCEPTION",
  Reconsigned: "EXCEPTION"
}

const typeOfMessage: Readonly<Record<DeliveryMessage, EventType>> = {
  "POD available": "PROOF_OF_DELIVERY",
  "Noted late": "DELAY",
  "Accessorial added": "OTHER",
  "Noted reweigh": "OTHER",
  "Appointment Update": "OTHER",
  "Missed delivery": "DELIVERY_ATTEMPTED",
  "Customs information": "OTHER"
}

/** The event type of an update. A freight exception wins over the milestone. */
export const typeOfUpdate = (update: StatusUpdate): EventType => {
  const { deliveryInformation_messages: message, shipmentMilestoneStatus: milestone, terminalStatus } = update
  if (message === "Customs information") {
    return update.customsStatus === "Hold" ? "CUSTOMS_HOLD" : update.customsStatus === "Cleared Customs" ? "CUSTOMS_CLEARED" : "OTHER"
  }
  if (message !== undefined) return typeOfMessage[message]
  const moving = milestone === "In Transit" || milestone === "Interline"
  if (terminalStatus !== undefined && (moving || typeOfTerminal[terminalStatus] === "EXCEPTION")) return typeOfTerminal[terminalStatus]
  return milestone === undefined ? "OTHER" : typeOfMilestone[milestone]
}

const exceptionOf: Partial<Record<NonNullable<StatusUpdate["terminalStatus"]>, string>> = {
  Damaged: "damaged",
  Short: "short",
  Lost: "lost",
  Reconsigned: "reconsigned"
}

/** The event's attributes. Attributes that `statusFromTransitEvent` reads have the names it expects. */
const attributesOf = (update: StatusUpdate): Readonly<Record<string, unknown>> => {
  const {
    PartnerCarrierName,
    PartnerCarrierSCAC,
    TimeZoneOfShipment,
    UpdatedETA,
    UpdatedPro,
    countsToDelivery,
    notificationMessage,
    occurredAt: _occurredAt,
    proNumber: _proNumber,
    shipmentId: _shipmentId,
    shipmentMilestoneStatus,
    terminalAddress: _terminalAddress,
    terminaltype,
    updateId: _updateId,
    ...rest
  } = update
  const attributes = {
    ...rest,
    milestone: shipmentMilestoneStatus,
    exception: update.terminalStatus === undefined ? undefined : exceptionOf[update.terminalStatus],
    custody: shipmentMilestoneStatus === "Interline" ? "partner" : shipmentMilestoneStatus === "Delivered" ? "consignee" : undefined,
    message: notificationMessage,
    partnerCarrierName: PartnerCarrierName,
    partnerCarrierScac: PartnerCarrierSCAC,
    updatedPro: UpdatedPro,
    updatedEta: UpdatedETA,
    timeZone: TimeZoneOfShipment,
    stopsAway: countsToDelivery,
    terminalType: terminaltype
  }
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value != null))
}

/**
 * The update without its freight exception. An event has one type, so an update with a movement and an exception becomes two events.
 */
export const withoutException = (update: StatusUpdate): StatusUpdate => {
  const { terminalStatus: _terminalStatus, ...moved } = update
  return moved
}

/** Builds the event of an update. `occurredAt` is also set if the update has none. */
export const transitEventFromStatus = (
  shipment: { readonly shipmentId: string; readonly view: ShipmentView },
  update: StatusUpdate,
  eventId: string,
  occurredAt: string
): ReportedEvent => {
  const { view } = shipment
  const location = locationOfTerminal(update)
  return {
    eventId,
    type: typeOfUpdate(update),
    status: update.shipmentMilestoneStatus ?? update.deliveryInformation_messages ?? "Status update",
    occurredAt,
    ...(location === undefined ? {} : { location }),
    ...(update.notificationMessage == null ? {} : { notes: update.notificationMessage }),
    attributes: attributesOf(update),
    shipment: {
      shipmentId: shipment.shipmentId,
      mode: "LTL",
      references: [
        { type: "PRO", value: view.ProNumber },
        ...(view.ReferenceNumbers.bolNumber === null ? [] : [{ type: "BOL", value: view.ReferenceNumbers.bolNumber }])
      ],
      origin: locationOfAddress(view.PickupAddress),
      destination: locationOfAddress(view.ConsigneeAddress)
    }
  }
}

const locationOfAddress = (address: StandardAddress): ReportedEvent["shipment"]["origin"] => ({
  name: address.addressName,
  address1: address.addressLine1,
  ...(address.addressLine2 == null ? {} : { address2: address.addressLine2 }),
  city: address.city,
  state: address.state,
  postalCode: address.postalCode,
  country: address.country
})

const locationOfTerminal = ({ terminalAddress }: StatusUpdate): ReportedEvent["location"] => {
  if (terminalAddress == null) return undefined
  const members = {
    locationId: terminalAddress.TerminalID,
    address1: terminalAddress.AddressLine1,
    address2: terminalAddress.AddressLine2,
    city: terminalAddress.City,
    state: terminalAddress.State,
    postalCode: terminalAddress.PostalCode,
    country: terminalAddress.Country
  }
  const present = Object.entries(members).filter(([, value]) => value != null)
  return present.length === 0 ? undefined : { type: "FACILITY", ...Object.fromEntries(present) }
}
