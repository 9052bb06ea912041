/** Waybill below /freight of an Express application, with the application's own login and body parser. */
import { DeliveryReceiver, SeenInMemory } from "@waybill/client/receiver"
import { createWaybill, type HostPrincipal, toNodeHandler } from "@waybill/http"
import { memoryStorage } from "@waybill/testkit"
import express, { type Request, type Response } from "express"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { callers, mailbox } from "../callers.ts"

// your users, as your login puts them into the request: express-session, Passport, or your own
const users: Readonly<Record<string, HostPrincipal>> = {
  "tms-token": { tenantId: "acme", client: "tms", roles: ["carrier"], dot: "1234567", mc: "765432" },
  "shipper-token": { tenantId: "acme", client: "shipper", roles: ["customer"], accounts: ["A-1"] }
}
interface LoggedIn extends Request {
  user?: HostPrincipal | undefined
}

const waybill = createWaybill({
  // in production: postgresStorage({ pool }) of @waybill/postgres
  storage: memoryStorage(),
  sealingKeys: ["MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="],
  authenticate: async (_request, req: LoggedIn) => req.user,
  // the receiver of this example is on the same machine
  egressAllow: ["127.0.0.1"]
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

const app = express()
app.use((req: LoggedIn, _res, next) => {
  req.user = users[req.headers.authorization?.replace("Bearer ", "") ?? ""]
  next()
})
// after the login and before the parser: uploads are streams, larger than a parser's limit
app.use("/freight", toNodeHandler(waybill))
// signatures cover the raw bytes, so the receiver needs an unparsed body
app.post("/hooks/waybill", express.raw({ type: "*/*", limit: "5mb" }), async (req, res) => {
  const { body, headers, status } = await receiver.answer({ headers: req.headers, body: req.body as Buffer })
  res.status(status).set(headers).send(body)
})
app.use(express.json())
app.post("/orders", (req, res) => res.json({ ordered: (req.body as { readonly item: string }).item }))
// too late: the parser has read the body
app.use("/after-parser", toNodeHandler(waybill))
app.use((error: Error, _req: Request, res: Response, _next: unknown) => res.status(500).send(error.message))

const server = createServer(app)
await once(server.listen(0, "127.0.0.1"), "listening")
const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

// from here on: callers

const post = (path: string, body: object) =>
  fetch(baseUrl + path, { method: "POST", headers: { "content-type": "application/json", authorization: "Bearer tms-token" }, body: JSON.stringify(body) })

console.log(`the application's own route still parses JSON: ${await (await post("/orders", { item: "pallets" })).text()}`)
await callers({
  baseUrl: `${baseUrl}/freight`,
  hookUrl: `${baseUrl}/hooks/waybill`,
  carrier: "tms-token",
  shipper: "shipper-token",
  delivered: inbox.taken
})
const refused = await post("/after-parser/intake/v1/transit-events", { events: [] })
console.log(`mounted after the parser: ${refused.status} ${await refused.text()}`)

server.close()
await waybill.stop()
