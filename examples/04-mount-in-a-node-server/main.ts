/** Waybill inside an existing server, with that server's own login. */
import { IntakeClient, TransitEventsClient } from "@waybill/client"
import { createWaybill, type HostPrincipal, toNodeHandler } from "@waybill/http"
import { memoryStorage } from "@waybill/testkit"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

// your authentication: any function of the Request
const users: Readonly<Record<string, HostPrincipal>> = {
  "tms-token": { tenantId: "acme", client: "tms", roles: ["carrier"] },
  "shipper-token": { tenantId: "acme", client: "shipper", roles: ["customer"], accounts: ["A-1"] }
}

const waybill = createWaybill({
  // in production: postgresStorage({ pool }) of @waybill/postgres
  storage: memoryStorage(),
  sealingKeys: ["MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="],
  authenticate: async (request) => users[request.headers.get("authorization")?.replace("Bearer ", "") ?? ""]
})
await waybill.tenants.put("acme", { name: "Acme Freight" })

const freight = toNodeHandler(waybill, { mountPath: "/freight" })
const server = createServer((request, response) => {
  if (request.url!.startsWith("/freight/")) {
    freight(request, response)
    return
  }
  response.end("the rest of your application")
})
await once(server.listen(0, "127.0.0.1"), "listening")
const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

// from here on: callers

console.log(`GET /: ${await (await fetch(baseUrl)).text()}`)

const place = { name: "Chicago terminal", city: "Chicago", state: "IL", country: "USA" }
const intake = new IntakeClient({ baseUrl: `${baseUrl}/freight`, bearer: "tms-token" })
const { results } = await intake.publishTransitEvents(["S-1", "S-2"].map((shipmentId) => ({
  eventId: `${shipmentId}/1`,
  type: "PICKED_UP",
  occurredAt: "2026-11-20T08:15:00-06:00",
  shipment: { shipmentId, origin: place, destination: place },
  parties: { accounts: [shipmentId === "S-1" ? "A-1" : "B-2"] }
})))
console.log(`the carrier reports: ${results.map(({ result }) => result).join(", ")}`)

const shipper = new TransitEventsClient({ baseUrl: `${baseUrl}/freight`, bearer: "shipper-token" })
for await (const { shipment, type } of shipper.allEvents()) console.log(`the shipper sees: ${shipment.shipmentId} ${type}`)

const anonymous = await fetch(`${baseUrl}/freight/visibility/v1/events`)
console.log(`without credentials: ${anonymous.status} ${((await anonymous.json()) as { readonly code: string }).code}`)

server.close()
await waybill.stop()
