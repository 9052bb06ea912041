import { Effect, Layer, Redacted, Scope } from "effect"
import * as C from "@waybill/core"
import { PgClient, StoragePostgres } from "./src/index.ts"
import { WebhookSenderHttp, HmacNode } from "../http/src/webhook-sender/index.ts"
import * as http from "node:http"
const url = process.env.PGURL!
const got: any[] = []
const server = http.createServer((req, res) => { const b: any[] = []; req.on("data", (d) => b.push(d)); req.on("end", () => { got.push({ h: req.headers, b: Buffer.concat(b).toString() }); res.end("ok") }) }).listen(0, "127.0.0.1")
await new Promise((r) => server.once("listening", r))
const port = (server.address() as any).port
const fake = { refusal: () => undefined }
const pg = PgClient.layer({ url: Redacted.make(url), maxConnections: 10 })
const storage = StoragePostgres.layer({ schema: "smoke" }).pipe(Layer.provideMerge(pg))
console.log(Object.keys(WebhookSenderHttp), Object.keys(HmacNode))
const policy = (await import("../http/src/webhook-sender/index.ts")) as any
console.log(Object.keys(policy))
const sender = WebhookSenderHttp.layer({ egress: (policy.parseEgressAllow("127.0.0.0/8") as any).success })
const app = C.Waybill.layer.pipe(Layer.provideMerge(storage), Layer.provideMerge(Layer.mergeAll(sender as any, (HmacNode as any).layer, C.Sealer.layer([Redacted.make(new Uint8Array(32).fill(7))]), C.DeliveryOptions.layer({}))))
const prog = Effect.gen(function*() {
  const tenants = yield* C.Tenants, keys = yield* C.ApiKeys, secrets = yield* C.SigningSecrets, subs = yield* C.TransitSubscriptions, events = yield* C.TransitEvents, worker = yield* C.DeliveryWorker, intake = yield* C.TransitEventIntake
  const t = "t" + Date.now()
  yield* tenants.put(t, { name: "T" })
  const k = yield* keys.create(t, { name: "carrier", roles: ["carrier"] })
  const cust = yield* keys.create(t, { name: "cust", roles: ["customer"], accounts: ["A1"] })
  const carrier = yield* keys.principalOf(k.key), customer = yield* keys.principalOf(cust.key)
  yield* secrets.put(t, "s1", {})
  const sub = yield* subs.create(customer, { endpointUrl: `http://127.0.0.1:${port}/hook`, hmacSecretId: "s1" })
  console.log(sub)
  const ev = (s: string, n: number) => ({ type: "PICKED_UP", occurredAt: "2026-11-20T08:00:00-06:00", shipment: { shipmentId: s, origin: { city: "X" }, destination: { city: "Y" } }, notes: "n" + n, parties: { accounts: ["A1"] } })
  const fiber = yield* Effect.forkChild(worker.run)
  const r = yield* intake.report(carrier, { events: [ev("S1", 1), ev("S1", 2), ev("S2", 1)] })
  console.log(r)
  const t0 = Date.now()
  while (got.length < 1 && Date.now() - t0 < 5000) yield* Effect.sleep(20)
  console.log(Date.now() - t0, "ms", got.map((g) => [g.h["webhook-id"], g.b]))
  console.log(yield* events.list(customer, {}).pipe(Effect.map((p) => ({ ...p, data: p.data.length }))))
  yield* Effect.sleep(300)
  console.log(JSON.stringify(yield* (yield* C.Deliveries).list(t, {})))
  const { Fiber } = yield* Effect.promise(() => import("effect"))
  yield* Fiber.interrupt(fiber)
})
await Effect.runPromise(prog.pipe(Effect.provide(app as any)) as any)
server.close()
process.exit(0)
