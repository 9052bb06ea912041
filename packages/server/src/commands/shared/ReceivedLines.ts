/** Content of a delivery as text, one line per item. */
import { isDeliveryUpdate, type NoticeEvent, type PickupChange, type PreliminaryFreightCharge, type StatusNotification, type TransitEvent } from "@waybill/client"
import { printable } from "../../Printable.ts"

export const eventText = ({ location, sequence, shipment, type }: TransitEvent): string => {
  const where = location?.city === undefined ? "" : ` in ${location.city}${location.state === undefined ? "" : `, ${location.state}`}`
  return printable(`${shipment.shipmentId} #${sequence} ${type}${where}`)
}

export const statusText = (notification: StatusNotification): string =>
  printable(`PRO ${notification.proNumber} ${isDeliveryUpdate(notification) ? `${notification.shipmentMilestoneStatus}. ${notification.notificationMessage}` : notification.deliveryInformation_messages}`)

export const chargeText = ({ charges, pfc, referenceNumbers }: PreliminaryFreightCharge): string => {
  const last = charges.changeLog?.at(-1)
  const why = last === undefined ? "" : `, ${last.eventCategoryName ?? last.eventCode}`
  return printable(`PRO ${referenceNumbers.pro} ${pfc.header.function} ${charges.currencyType} ${charges.preliminaryTotalCharges}${why}`)
}

export const pickupText = ({ change, confirmationNumber, pickupId, status }: PickupChange): string =>
  printable(`pickup ${confirmationNumber ?? pickupId} ${change}: ${status}`)

export const noticeText = ({ area, endpointUrl, reason, subscriptionId, type }: NoticeEvent): string =>
  printable(`${type} of ${area} ${subscriptionId} to ${endpointUrl}${reason === null ? "" : `: ${reason}`}`)
