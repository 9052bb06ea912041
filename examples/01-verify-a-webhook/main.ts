/** A receiver on node:http, with good and bad deliveries. */
import { DeliveryReceiver, SeenInMemory, signDelivery } from "@waybill/client/receiver"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

// the operator registers it: PUT /operator/v1/tenants/{tenantId}/secrets/{hmacSecretId}
const secret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

const receiver = new DeliveryReceiver({
  secrets: secret,
  seen: new SeenInMemory(),
  onEvents(events, { order }) {
    for (const { sequence, shipment, type } of events) console.log(`  handled ${shipment.shipmentId} #${sequence} ${type}`)
    for (const { from, shipmentId, to } of order.missing) console.log(`  missing ${shipmentId} #${from}${to === from ? "" : ` to #${to}`}`)
  }
})

// more than a delivery has: whoever sends it could fill the memory before the signature is checked
const mostBytes = 5_000_000

const server = createServer(async (request, response) => {
  const chunks: Array<Uint8Array> = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    bytes += chunk.length
    if (bytes > mostBytes) return response.writeHead(413, { connection: "close" }).end()
    chunks.push(chunk)
  }
  const { body, headers, status } = await receiver.answer({ headers: request.headers, body: Buffer.concat(chunks) })
  response.writeHead(status, headers).end(body)
})
await once(server.listen(0, "127.0.0.1"), "listening")

// from here on: the sender, in place of a Waybill server

const place = { name: "Chicago terminal", city: "Chicago", state: "IL", country: "USA" }
const event = (sequence: number, type: string) => ({
  eventId: `S-1001/${sequence}`,
  sequence,
  type,
  occurredAt: "2026-11-20T08:15:00-06:00",
  shipment: { shipmentId: "S-1001", origin: place, destination: place }
})
const batch = (deliveryId: string, ...events: ReadonlyArray<object>) =>
  new TextEncoder().encode(JSON.stringify({ deliveryId, sentAt: "2026-11-20T14:15:00Z", events }))

const send = async (what: string, deliveryId: string, body: Uint8Array<ArrayBuffer>, signed: { readonly body?: Uint8Array; readonly now?: Date } = {}) => {
  console.log(`${what}:`)
  const { headers } = await signDelivery({ secrets: secret, deliveryId, body: signed.body ?? body, now: signed.now })
  const { port } = server.address() as AddressInfo
  const response = await fetch(`http://127.0.0.1:${port}/hook`, { method: "POST", headers, body })
  const problem = await response.text()
  console.log(`  response ${response.status}${problem === "" ? "" : ` ${(JSON.parse(problem) as { readonly code: string }).code}`}`)
}

const first = batch("d-1", event(1, "PICKED_UP"), event(2, "DEPARTED_TERMINAL"))
await send("a delivery", "d-1", first)
await send("the same delivery again, because the response was lost", "d-1", first)
await send("a delivery changed in transit", "d-2", batch("d-2", event(3, "DELIVERED")), { body: batch("d-2", event(3, "DELAY")) })
await send("a replay of a delivery from an hour ago", "d-1", first, { now: new Date(Date.now() - 3_600_000) })
await send("a delivery that arrives before the previous one", "d-3", batch("d-3", event(4, "DELIVERED")))

server.close()
