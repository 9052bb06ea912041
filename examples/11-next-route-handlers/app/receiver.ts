/** The receiver of deliveries, which is usually another program. */
import { DeliveryReceiver, SeenInMemory } from "@waybill/client/receiver"
import { mailbox } from "../../callers.ts"

// in production: process.env.WAYBILL_SECRET
export const secret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
export const inbox = mailbox()
export const receiver = new DeliveryReceiver({
  secrets: secret,
  // on serverless functions: SeenInRedis or SeenInPostgresTransaction, because their memory does not last
  seen: new SeenInMemory(),
  onEvents: (events) => inbox.put(events.map(({ shipment, type }) => `${shipment.shipmentId} ${type}`).join(", "))
})
