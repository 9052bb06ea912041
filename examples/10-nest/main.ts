/** Waybill below /freight of a Nest application, as one of its providers, with its own login and body parser. */
import "reflect-metadata"
import { Body, Controller, Inject, Injectable, Module, Post, Req, Res } from "@nestjs/common"
import { NestFactory } from "@nestjs/core"
import { DeliveryReceiver, SeenInMemory } from "@waybill/client/receiver"
import { createWaybill, type HostPrincipal, toNodeHandler, type Waybill } from "@waybill/http"
import { withNestLifecycle } from "@waybill/http/nest"
import { memoryStorage } from "@waybill/testkit"
import type { IncomingMessage, ServerResponse } from "node:http"
import { callers, mailbox } from "../callers.ts"

// Usually written with decorators, `@Injectable() class Users {}`. Node runs TypeScript without decorators, so
// they are called as functions here.

class Users {
  readonly #byToken: Readonly<Record<string, HostPrincipal>> = {
    "tms-token": { tenantId: "acme", client: "tms", roles: ["carrier"], dot: "1234567", mc: "765432" },
    "shipper-token": { tenantId: "acme", client: "shipper", roles: ["customer"], accounts: ["A-1"] }
  }
  async of({ headers }: Request): Promise<HostPrincipal | undefined> {
    return this.#byToken[headers.get("authorization")?.replace("Bearer ", "") ?? ""]
  }
}
Injectable()(Users)

const WAYBILL = Symbol("Waybill")
const waybillProvider = {
  provide: WAYBILL,
  inject: [Users],
  useFactory: (users: Users) =>
    withNestLifecycle(createWaybill({
      // in production: postgresStorage({ pool }) of @waybill/postgres
      storage: memoryStorage(),
      sealingKeys: ["MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="],
      authenticate: (request) => users.of(request),
      // the receiver of this example is on the same machine
      egressAllow: ["127.0.0.1"]
    }))
}

const inbox = mailbox()
let secret = ""
const receiver = new DeliveryReceiver({
  secrets: () => secret,
  seen: new SeenInMemory(),
  onEvents: (events) => inbox.put(events.map(({ shipment, type }) => `${shipment.shipmentId} ${type}`).join(", "))
})

class Hooks {
  readonly waybill: Waybill
  constructor(waybill: Waybill) {
    this.waybill = waybill
  }
  // signatures cover the raw bytes: `rawBody: true` below keeps them
  async receive(req: IncomingMessage & { readonly rawBody: Buffer }, res: ServerResponse) {
    const { body, headers, status } = await receiver.answer({ headers: req.headers, body: req.rawBody })
    res.writeHead(status, headers).end(body)
  }
  async order({ item }: { readonly item: string }) {
    const { data } = await this.waybill.subscriptions.list({ tenantId: "acme", client: "shop", roles: ["carrier"] })
    return { ordered: item, subscriptions: data.length }
  }
}
Controller()(Hooks)
Inject(WAYBILL)(Hooks, undefined, 0)
Post("hooks/waybill")(Hooks.prototype, "receive", Object.getOwnPropertyDescriptor(Hooks.prototype, "receive")!)
Req()(Hooks.prototype, "receive", 0)
Res()(Hooks.prototype, "receive", 1)
Post("orders")(Hooks.prototype, "order", Object.getOwnPropertyDescriptor(Hooks.prototype, "order")!)
Body()(Hooks.prototype, "order", 0)

class AppModule {}
Module({ controllers: [Hooks], providers: [Users, waybillProvider] })(AppModule)

const app = await NestFactory.create(AppModule, { rawBody: true, logger: false })
app.enableShutdownHooks()
const waybill = app.get<Waybill>(WAYBILL)
// middleware added before listen() runs before the body parser
app.use("/freight", toNodeHandler(waybill))
await waybill.tenants.put("acme", { name: "Acme Freight" })
secret = (await waybill.secrets.put("acme", "main", { client: "shipper" })).secret
await app.listen(0, "127.0.0.1")
const baseUrl = await app.getUrl()

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
