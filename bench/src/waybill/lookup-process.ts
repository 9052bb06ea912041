/** A server process that answers lookups and takes intake: from the store, or with a constant, through the same HTTP, log-in and handlers. */
import { ApiKeys } from "@waybill/core"
import { PublicBody, ShipmentStatuses, ShipmentStatusOptions, VerifiedBody } from "@waybill/core/shipment-status"
import { AuthenticatorStandard } from "@waybill/http"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { serve } from "../machine/Child.ts"
import { listenHttp } from "./listenHttp.ts"
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
let close = () => {}

const handlers = {
  /** The port, a customer's key and a carrier's. */
  listen: async () => {
    const context = await runtime.context()
    const run = Effect.runPromiseWith(context)
    await run(createTenant)
    const { key } = await run(Effect.flatMap(ApiKeys, (keys) =>
      keys.create(tenantId, { name: "customer-0", roles: ["customer"], accounts: [accountOf(0)] })))
    const { key: carrierKey } = await run(Effect.flatMap(ApiKeys, (keys) => keys.create(tenantId, { name: "carrier", roles: ["carrier"], accounts: [] })))
    const server = await run(listenHttp)
    close = server.close
    return { port: server.port, key: Redacted.value(key), carrierKey: Redacted.value(carrierKey) }
  }
}

export type LookupHandlers = typeof handlers

serve(handlers, async () => {
  close()
  await runtime.dispose()
})
