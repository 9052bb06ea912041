/** A program that does not stop the service while a retry is scheduled. */
import { reportedEvent, startTestWaybill } from "../../src/index.ts"

const waybill = await startTestWaybill()
const receiver = waybill.receiver("https://shop.example/hook").answers(503)
await waybill.subscriptions.create(waybill.shipper, { endpointUrl: receiver.url, hmacSecretId: waybill.hmacSecretId })
await waybill.events.publish(waybill.carrier, [reportedEvent("S-1", { accounts: ["A-1"] })])
process.stdout.write(`${receiver.received.length} delivery\n`)
