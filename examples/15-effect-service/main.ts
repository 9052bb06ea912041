/** A program with Effect that contains Waybill: its database, router, login, tracer, configuration and metrics. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { DeliveryReceiver, SeenInMemory } from "@waybill/client/receiver"
import { Authenticator, type Principal, runBackground, Tenants, Unauthenticated, Waybill } from "@waybill/core"
import { SigningSecrets } from "@waybill/core/delivery"
import { TransitSubscriptions } from "@waybill/core/transit-events"
import { createStartupBufferServer, TransportHttp, WaybillHttp } from "@waybill/http"
import { PgClient, StoragePostgres } from "@waybill/postgres"
import { Config, Console, Effect, Layer, Queue, Redacted, References, Schedule, Tracer } from "effect"
import { HttpRouter, HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { PrometheusMetrics } from "effect/observability"
import { SqlClient } from "effect/sql"
import { rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { startEmbeddedPostgres } from "waybill"
import { Orders } from "./Orders.ts"

const schema = "waybill_effect_example"
const shipper: Principal = { tenantId: "acme", client: "key:shipper", roles: ["customer"], accounts: ["A-1"], origin: "token" }

// The program's database. Waybill has its tables in a schema of its own.
const Database = Layer.unwrap(Effect.map(Config.Redacted("DATABASE_URL"), (url) => PgClient.layer({ url })))

// Waybill: three layers.
const Freight = Waybill.layer({
  storage: StoragePostgres.layer({ schema }),
  transport: Layer.unwrap(Effect.map(Config.Redacted("SEALING_KEY"), (key) => TransportHttp.layer({ sealingKeys: [key], egressAllow: ["127.0.0.1"] })))
})

// The program's login decides who calls Waybill's API.
const Login = Layer.succeed(Authenticator, {
  authenticate: ({ headers }) =>
    headers["authorization"] === "Bearer session-of-the-shipper"
      ? Effect.succeed(shipper)
      : Effect.fail(new Unauthenticated({ presented: headers["authorization"] !== undefined, reason: "no session" }))
})

// The program's tracer and log level.
const spans: Array<Tracer.Span> = []
const Tracing = Layer.succeed(Tracer.Tracer, Tracer.make({
  span: (options) => {
    const span = new Tracer.NativeSpan(options)
    spans.push(span)
    return span
  }
}))
const Logging = Layer.succeed(References.MinimumLogLevel, "Error")

// The customer's system receives deliveries on a path of the same router.
const delivered = Effect.runSync(Queue.unbounded<string>())
let secret = ""
const receiver = new DeliveryReceiver({
  secrets: () => secret,
  seen: new SeenInMemory(),
  onEvents: (events) => {
    for (const { shipment, type } of events) Queue.offerUnsafe(delivered, `${shipment.shipmentId} ${type}`)
  }
})

const OwnRoutes = HttpRouter.use(Effect.fnUntraced(function*(router) {
  const orders = yield* Orders
  yield* router.add("POST", "/orders/:orderId/pick-up", Effect.gen(function*() {
    const { orderId = "" } = yield* HttpRouter.params
    const { url } = yield* HttpServerRequest.HttpServerRequest
    return yield* orders.pickUp(orderId, { truckIsLost: url.endsWith("?lost") }).pipe(
      Effect.as(HttpServerResponse.text("picked up")),
      Effect.catchTag("TruckLost", () => Effect.succeed(HttpServerResponse.text("truck lost", { status: 409 }))),
      Effect.orDie
    )
  }))
  yield* router.add("POST", "/hook", Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const body = new Uint8Array(yield* Effect.orDie(request.arrayBuffer))
    const answer = yield* Effect.promise(() => receiver.answer({ headers: request.headers, body }))
    return HttpServerResponse.text(answer.body, { status: answer.status, headers: answer.headers })
  }))
}))

// One router with the program's routes and Waybill's, one server, and the background work.
const Server = HttpRouter.serve(Layer.merge(OwnRoutes, WaybillHttp.layer()), { disableLogger: true, disableListenLog: true }).pipe(
  Layer.provideMerge(NodeHttpServer.layer(createStartupBufferServer, { port: 0, host: "127.0.0.1" })),
  Layer.provide(Login),
  Layer.merge(Layer.effectDiscard(Effect.forkScoped(runBackground))),
  Layer.provideMerge(Orders.layer),
  Layer.provideMerge(Freight),
  Layer.provideMerge(Database),
  Layer.provideMerge(Layer.merge(Tracing, Logging))
)

const scenario = Effect.gen(function*() {
  const { address } = yield* HttpServer.HttpServer
  if (address._tag === "UnixPathAddress") return yield* Effect.die("The server has no port.")
  const baseUrl = `http://127.0.0.1:${address.port}`
  yield* (yield* Tenants).put("acme", { name: "Acme Freight" })
  secret = Redacted.value((yield* (yield* SigningSecrets).put("acme", "main", { client: "key:shipper" })).secret)
  yield* (yield* TransitSubscriptions).create(shipper, { endpointUrl: `${baseUrl}/hook`, hmacSecretId: "main" })

  const call = (method: string, path: string, headers: Readonly<Record<string, string>> = {}) =>
    Effect.promise(async () => {
      const response = await fetch(`${baseUrl}${path}`, { method, headers })
      return { status: response.status, text: await response.text() }
    })
  for (const path of ["S-1/pick-up", "S-2/pick-up?lost", "S-3/pick-up"]) {
    yield* Console.log(`${path}: ${(yield* call("POST", `/orders/${path}`)).text}`)
  }

  const received = (yield* Queue.takeN(delivered, 2)).toSorted()
  yield* Console.log(`in the program's table: ${(yield* (yield* Orders).all).join(", ")}`)
  yield* Console.log(`delivered to the customer: ${received.join(", ")}`)

  const events = yield* call("GET", "/visibility/v1/events", { authorization: "Bearer session-of-the-shipper" })
  yield* Console.log(`Waybill's API with the program's login: ${events.status}, ${JSON.parse(events.text).data.length} events; without: ${(yield* call("GET", "/visibility/v1/events")).status}`)

  const pickUp = spans.find(({ name }) => name === "Orders.pickUp")
  const sent = spans.find(({ attributes }) => attributes.has("waybill.delivery"))
  yield* Console.log(`the webhook is in the trace of the call: ${pickUp !== undefined && sent?.traceId === pickUp.traceId}`)
  // a delivery is counted when its outcome is written, which is a moment after the receiver has it
  const metrics = yield* PrometheusMetrics.format().pipe(
    Effect.map((text) => text.split("\n")),
    Effect.repeat({ schedule: Schedule.spaced(50), until: (lines) => lines.includes("waybill_delivered_events_total 2"), times: 200 })
  )
  yield* Console.log(metrics.filter((line) => /^(orders_picked_up_total|waybill_delivered_events_total) /.test(line)).toSorted().join("\n"))
})

// after the background work: it writes until it has stopped
const cleanUp = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DROP TABLE example_orders`
  yield* sql`DROP SCHEMA ${sql(schema)} CASCADE`
})

// the database: DATABASE_URL, or a temporary one
const directory = join(tmpdir(), `waybill-example-${process.pid}`)
const temporary = process.env["DATABASE_URL"] === undefined ? await startEmbeddedPostgres(directory) : undefined
process.env["DATABASE_URL"] ??= temporary!.url
process.env["SEALING_KEY"] ??= "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

await Effect.runPromise(Effect.scoped(Effect.provide(scenario, Server)))
await Effect.runPromise(Effect.provide(cleanUp, Database))
await temporary?.stop()
await rm(directory, { recursive: true, force: true })
