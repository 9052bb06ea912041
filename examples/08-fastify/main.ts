/** Waybill below /freight of a Fastify application, with the application's own login and body parsers. */
import { DeliveryReceiver, SeenInMemory } from "@waybill/client/receiver"
import { createWaybill, type HostPrincipal } from "@waybill/http"
import { toFastifyPlugin } from "@waybill/http/fastify"
import { memoryStorage } from "@waybill/testkit"
import { fastify } from "fastify"
import { callers, mailbox } from "../callers.ts"

// your users, as your login puts them into the request: @fastify/session, @fastify/jwt, or your own
const users: Readonly<Record<string, HostPrincipal>> = {
  "tms-token": { tenantId: "acme", client: "tms", roles: ["carrier"], dot: "1234567", mc: "765432" },
  "shipper-token": { tenantId: "acme", client: "shipper", roles: ["customer"], accounts: ["A-1"] }
}
declare module "fastify" {
  interface FastifyRequest {
    user: HostPrincipal | undefined
  }
}

const waybill = createWaybill({
  // in production: postgresStorage({ pool }) of @waybill/postgres
  storage: memoryStorage(),
  sealingKeys: ["MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="],
  authenticate: async (_request, request: { readonly user: HostPrincipal | undefined }) => request.user,
  // the receiver of this example is on the same machine
  egressAllow: ["127.0.0.1"]
})
await waybill.tenants.put("acme", { name: "Acme Freight" })
const { secret } = await waybill.secrets.put("acme", "main", { client: "shipper" })

const inbox = mailbox()
const receiver = new DeliveryReceiver({
  secrets: secret,
  seen: new SeenInMemory(),
  onEvents: (events) => inbox.put(events.map(({ shipment, type }) => `${shipment.shipmentId} ${type}`).join(", "))
})

// not in a hook, which Fastify ends after 10 seconds: another process may be running migrations
await waybill.start()
const app = fastify()
app.addHook("onClose", () => waybill.stop())
app.decorateRequest("user", undefined)
app.addHook("onRequest", async (request) => {
  request.user = users[request.headers.authorization?.replace("Bearer ", "") ?? ""]
})
// the order does not matter: the plugin has its own parsers
app.register(toFastifyPlugin(waybill), { prefix: "/freight" })
app.post<{ Body: { item: string } }>("/orders", async ({ body }) => ({ ordered: body.item }))
// signatures cover the raw bytes, so the receiver needs an unparsed body
app.register(async (scope) => {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser("*", { parseAs: "buffer", bodyLimit: 5 * 1024 * 1024 }, (_request, bytes, done) => done(null, bytes))
  scope.post<{ Body: Buffer }>("/hooks/waybill", async (request, reply) => {
    const { body, headers, status } = await receiver.answer({ headers: request.headers, body: request.body })
    return reply.code(status).headers(headers).send(body)
  })
})
const baseUrl = await app.listen({ host: "127.0.0.1", port: 0 })

// from here on: callers

const ordered = await fetch(`${baseUrl}/orders`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ item: "pallets" })
})
console.log(`the application's own route still parses JSON: ${await ordered.text()}`)
await callers({
  baseUrl: `${baseUrl}/freight`,
  hookUrl: `${baseUrl}/hooks/waybill`,
  carrier: "tms-token",
  shipper: "shipper-token",
  delivered: inbox.taken
})

await app.close()
