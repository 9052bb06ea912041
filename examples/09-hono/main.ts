/** Waybill below /freight of a Hono application, with the application's own login. */
import { serve } from "@hono/node-server"
import { DeliveryReceiver, SeenInMemory } from "@waybill/client/receiver"
import { createWaybill, type HostPrincipal } from "@waybill/http"
import { toHonoHandler } from "@waybill/http/hono"
import { memoryStorage, postedShipment } from "@waybill/testkit"
import { type Context, Hono } from "hono"
import type { AddressInfo } from "node:net"
import { callers, mailbox } from "../callers.ts"

// your users, as your login puts them into the context
const users: Readonly<Record<string, HostPrincipal>> = {
  "tms-token": { tenantId: "acme", client: "tms", roles: ["carrier"], dot: "1234567", mc: "765432" },
  "shipper-token": { tenantId: "acme", client: "shipper", roles: ["customer"], accounts: ["A-1"] }
}
interface Env {
  readonly Variables: { user: HostPrincipal | undefined }
}

const waybill = createWaybill({
  // in production: postgresStorage({ pool }) of @waybill/postgres
  storage: memoryStorage(),
  sealingKeys: ["MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="],
  authenticate: async (_request, c: Context<Env>) => c.get("user"),
  // the receiver of this example is on the same machine
  egressAllow: ["127.0.0.1"],
  // the log also has the refused calls at the end of this example
  log: () => {}
})
await waybill.tenants.put("acme", { name: "Acme Freight" })
const { secret } = await waybill.secrets.put("acme", "main", { client: "shipper" })
await waybill.start()

const inbox = mailbox()
const receiver = new DeliveryReceiver({
  secrets: secret,
  seen: new SeenInMemory(),
  onEvents: (events) => inbox.put(events.map(({ shipment, type }) => `${shipment.shipmentId} ${type}`).join(", "))
})

const app = new Hono<Env>()
app.use(async (c, next) => {
  c.set("user", users[c.req.header("authorization")?.replace("Bearer ", "") ?? ""])
  await next()
})
app.all("/freight/*", toHonoHandler(waybill))
app.post("/hooks/waybill", (c) => receiver.handle(c.req.raw))

// a body that Hono has read, for a validator for example, can be read again; a body read from `c.req.raw` cannot
app.use("/checked/*", async (c, next) => {
  if (c.req.header("content-type") === "application/json") await c.req.json()
  await next()
})
app.all("/checked/*", toHonoHandler(waybill))
app.use("/consumed/*", async (c, next) => {
  await c.req.raw.json()
  await next()
})
app.all("/consumed/*", toHonoHandler(waybill))

const server = serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 })
await new Promise((resolve) => server.once("listening", resolve))
const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

// from here on: callers

await callers({
  baseUrl: `${baseUrl}/freight`,
  hookUrl: `${baseUrl}/hooks/waybill`,
  carrier: "tms-token",
  shipper: "shipper-token",
  delivered: inbox.taken
})

const register = async (mount: string) => {
  const response = await fetch(`${baseUrl}${mount}/intake/v1/shipments`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer tms-token" },
    body: JSON.stringify({ shipments: [postedShipment("S-2")] })
  })
  const { detail = "accepted" } = (await response.json()) as { readonly detail?: string }
  return `${response.status} ${detail}`
}
console.log(`after c.req.json(): ${await register("/checked")}`)
console.log(`after c.req.raw.json(): ${await register("/consumed")}`)

server.close()
await waybill.stop()
