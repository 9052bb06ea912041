/** A server process that answers lookups and takes intake: from the store, or with a constant, through the same HTTP, log-in and handlers. */
import { NodeHttpServer } from "@effect/platform-node"
import { ApiKeys } from "@waybill/core"
import { PublicBody, ShipmentStatuses, ShipmentStatusOptions, VerifiedBody } from "@waybill/core/shipment-status"
import { AuthenticatorStandard, WaybillHttp } from "@waybill/http"
import { Effect, Layer, ManagedRuntime, Redacted, Scope } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { serve } from "../machine/Child.ts"
import { samplePublic, sampleVerified } from "./SampleShipment.ts"
import { accountOf, createTenant, tenantId } from "./Tenant.ts"
import { waybillLayer } from "./Waybill.ts"

const [database, kind] = process.argv.slice(2) as [string, "stored" | "constant"]

const encode = (value: object) => new TextEncoder().encode(JSON.stringify(value))

const constant = Layer.effect(
  ShipmentStatuses,
  Effect.gen(function*() {
    const stored = yield* ShipmentStatuses
    const verified = { _tag: "Verified" as const, body: new VerifiedBody(encode(sampleVerified("100000000"))) }
    const shown = new PublicBody(encode(samplePublic("100000000")))
    return ShipmentStatuses.of({ ...stored, verified: () => Effect.succeed(verified), public: () => Effect.succeed(shown) })
  })
)

const services = waybillLayer({ database, connections: 10 }).pipe(
  (layer) => kind === "constant" ? Layer.provideMerge(constant, layer) : layer,
  (layer) => Layer.provideMerge(AuthenticatorStandard.layer({}), layer),
  // no limits: the scenario measures the lookup
  Layer.provide(Layer.succeed(ShipmentStatusOptions, { othersLookupsPerMinute: 1_000_000_000 }))
)

const runtime = ManagedRuntime.make(services)
/** Lives as long as the process. */
const scope = Scope.makeUnsafe("parallel")
const server = createServer({ keepAliveTimeout: 60_000 })

const handlers = {
  /** The port, a customer's key and a carrier's. */
  listen: async () => {
    const context = await runtime.context()
    const run = Effect.runPromiseWith(context)
    await run(createTenant)
    const { key } = await run(Effect.flatMap(ApiKeys, (keys) =>
      keys.create(tenantId, { name: "customer-0", roles: ["customer"], accounts: [accountOf(0)] })))
    const { key: carrierKey } = await run(Effect.flatMap(ApiKeys, (keys) => keys.create(tenantId, { name: "carrier", roles: ["carrier"], accounts: [] })))
    const handler = await run(Effect.gen(function*() {
      const app = yield* WaybillHttp.make({})
      return yield* NodeHttpServer.makeHandler(app, { scope })
    }))
    server.on("request", handler)
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
    return { port: (server.address() as AddressInfo).port, key: Redacted.value(key), carrierKey: Redacted.value(carrierKey) }
  }
}

export type LookupHandlers = typeof handlers

serve(handlers, async () => {
  server.closeAllConnections()
  await runtime.dispose()
})
