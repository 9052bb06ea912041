/** Who takes the deliveries; usually another program than the one that sends them. */
import { DeliveryReceiver } from "@waybill/client/receiver"
import { mailbox } from "../../callers.ts"

// in production: process.env.WAYBILL_SECRET
export const secret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
export const inbox = mailbox()
export const receiver = new DeliveryReceiver({
  secrets: secret,
  onEvents: (events) => inbox.put(events.map(({ shipment, type }) => `${shipment.shipmentId} ${type}`).join(", "))
})
