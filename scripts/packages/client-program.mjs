// Receives deliveries and calls a server, with the installed client alone. hosts.mjs runs it on the oldest Node that the client
// supports.
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer } from "node:http"
import {
  DeliveryReceiver,
  DocumentsClient,
  readDelivery,
  SeenInMemory,
  SeenInPostgresTransaction,
  SeenInRedis,
  signDelivery,
  TransitEventsClient
} from "@waybill/client"

const secrets = `whsec_${Buffer.alloc(32, 7).toString("base64")}`
const event = { eventId: "e-1", type: "DELIVERED", occurredAt: "2026-11-20T08:00:00Z", sequence: 0, shipment: { shipmentId: "S", origin: {}, destination: {} } }

// Stores with clients that always grant a claim.
const redis = { sendCommand: async ([name]) => name === "SET" ? "OK" : null }
const connection = {
  query: async (text, values = []) => ({ rows: text.startsWith("INSERT") ? JSON.parse(values[0]).map((id) => ({ id, mine: "yes" })) : [] }),
  release: () => {},
  on: () => {},
  removeListener: () => {}
}
const pool = { connect: async () => connection }
for (const seen of [new SeenInMemory(), new SeenInRedis(redis), SeenInPostgresTransaction.ofPool(pool)]) {
  const handled = []
  const { handle } = new DeliveryReceiver({ secrets, seen, onEvents: (events) => void handled.push(...events) })
  const signed = await signDelivery({ secrets, events: [event] })
  assert.equal((await handle(signed.toRequest())).status, 200)
  assert.deepEqual(handled, [event])
  assert.equal((await handle(new Request("https://receiver.test", { method: "POST", headers: signed.headers, body: "{}" }))).status, 401)
  assert.equal((await readDelivery({ secrets, headers: signed.headers, body: new TextDecoder().decode(signed.body) })).kind, "events")
}

const uploads = []
const server = createServer(async (request, response) => {
  const chunks = await request.toArray()
  uploads.push(Buffer.concat(chunks).toString())
  response.setHeader("content-type", "application/json").end(JSON.stringify(request.method === "GET" ? { data: [event], page: 1, pageSize: 50 } : { message: "ok" }))
})
await once(server.listen(0, "127.0.0.1"), "listening")
const baseUrl = `http://127.0.0.1:${server.address().port}`
const listed = []
for await (const { eventId } of new TransitEventsClient({ baseUrl }).allEvents()) listed.push(eventId)
assert.deepEqual(listed, ["e-1"])
const record = { uniqueID: "D", shipmentID: "S", DOT: "1", MC: "2", invoiceNumber: "N", invoiceDate: "2026-11-20" }
await new DocumentsClient({ baseUrl }).upload({ ...record, documents: [{ documentType: "POD", files: [new TextEncoder().encode("%PDF-")] }] })
assert.deepEqual(JSON.parse(uploads.at(-1)).documents, [{ documentType: "POD", files: ["JVBERi0="] }])
server.close()
server.closeAllConnections()
console.log(`received and called on Node ${process.versions.node}`)
