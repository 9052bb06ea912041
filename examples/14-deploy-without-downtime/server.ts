/** One process of the application: it serves, publishes and delivers, and stops without an unanswered request. */
import { createWaybill, type HostPrincipal, toNodeHandler } from "@waybill/http"
import { postgresStorage } from "@waybill/postgres"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout as delay } from "node:timers/promises"
import pg from "pg"

/** How long the load balancer may take to notice that this process is not ready: several of its intervals. */
const drainDelayMillis = 2_000

const pool = new pg.Pool({ connectionString: process.env["DATABASE_URL"], max: 5 })
// a broken idle connection is replaced when it is needed
pool.on("error", () => {})
const waybill = createWaybill({
  storage: postgresStorage({ pool, schema: "waybill_example" }),
  sealingKeys: ["MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="],
  apiKeys: true,
  egressAllow: ["127.0.0.1"],
  // shorter than the time that your platform gives a stopping process
  delivery: { drainMillis: 5_000 }
})
const carrier: HostPrincipal = { tenantId: "acme", client: "tms", roles: ["carrier"] }
const place = { name: "Chicago terminal", city: "Chicago", state: "IL", country: "USA" }

const publish = (shipmentId: string) =>
  waybill.events.publish(carrier, [{
    type: "DEPARTED_TERMINAL",
    occurredAt: new Date().toISOString(),
    shipment: { shipmentId, origin: place, destination: place },
    parties: { accounts: ["A-1"] }
  }])

let isStopping = false
const freight = toNodeHandler(waybill, { mountPath: "/freight" })
const server = createServer((request, response) => {
  // not ready while it stops, otherwise ready if the database is
  if (request.url === "/ready") return isStopping ? response.writeHead(503).end() : freight(Object.assign(request, { url: "/freight/readyz" }), response)
  if (request.url!.startsWith("/freight/")) return freight(request, response)
  publish(request.url!.slice(1)).then(() => response.writeHead(201).end(), () => response.writeHead(500).end())
})

/** In this order: each step needs what the next one ends. */
const stop = async () => {
  isStopping = true
  await delay(drainDelayMillis)
  // no new connections; requests in flight are answered
  const closed = once(server, "close")
  server.close()
  server.closeIdleConnections()
  await closed
  // finishes attempts in flight and releases the leases
  await waybill.stop()
  await pool.end()
  if (process.connected) process.disconnect()
}

await waybill.start()
await once(server.listen(0, "127.0.0.1"), "listening")
process.once("SIGTERM", stop)
process.send?.({ port: (server.address() as AddressInfo).port })
