/** Output of the demo, one line per item: deliveries have a check mark, data without a webhook has an arrow. */
import type { Invoice, PreliminaryFreightCharge, StatusNotification, TransitEvent } from "@waybill/client"
import { eventText, statusText } from "../commands/shared/ReceivedLines.ts"

const shown = 3

const line = (kind: string, deliveryId: string, notification: ReadonlyArray<string>): string => {
  const more = notification.length > shown ? ` and ${notification.length - shown} more` : ""
  return `  ✓ signed ${kind.padEnd(6)} …${deliveryId.slice(-6)}: ${notification.slice(0, shown).join("; ")}${more}`
}

export const eventLine = (deliveryId: string, events: ReadonlyArray<TransitEvent>): string =>
  line("events", deliveryId, events.map(eventText))

export const statusLine = (deliveryId: string, notification: StatusNotification): string => line("status", deliveryId, [statusText(notification)])

export const chargeLine = (deliveryId: string, notification: ReadonlyArray<PreliminaryFreightCharge>): string =>
  line("charge", deliveryId, notification.map(({ charges, pfc, referenceNumbers }) => {
    const last = charges.changeLog?.at(-1)
    const why = last === undefined ? "" : `, ${last.eventCategoryName ?? last.eventCode}`
    return `PRO ${referenceNumbers.pro} ${pfc.header.function} ${charges.currencyType} ${charges.preliminaryTotalCharges.toFixed(2)}${why}`
  }))

const written = (kind: string, notification: string): string => `  → ${kind.padEnd(13)} ${notification}`

export const pickupLine = (number: string, shipmentId: string, status: string): string => written("pickup", `${number} of ${shipmentId}: ${status}`)

export const ediLine = (file: string, { shipment, type }: { readonly shipment: { readonly shipmentId: string }; readonly type: string }): string => written("214", `${file}: ${shipment.shipmentId} ${type}`)

export const invoiceLine = ({ invoiceHeader: { invoiceAmount, invoiceNumber }, shipmentID }: Invoice): string =>
  written("invoice", `${invoiceNumber} of ${shipmentID}: ${invoiceAmount.currencyCode} ${invoiceAmount.value}, with its proof of delivery`)
