/** The whole service in memory, with scripted receivers and a virtual clock. */
import { type Principal, Tenants, Waybill } from "@waybill/core"
import { DeliveryOptions, type DeliveryOptionValues, DeliveryWorker, SigningSecrets } from "@waybill/core/delivery"
import { type ChargeSubscriptionCreate, ChargeSubscriptions, FreightChargeOptions } from "@waybill/core/freight-charges"
import { StatusSubscriptions } from "@waybill/core/shipment-status"
import { type SubscriptionCreate, TransitSubscriptions } from "@waybill/core/transit-events"
import { ContentHashNode, HmacNode } from "@waybill/http"
import { Clock, Context, Effect, Fiber, Layer, Redacted } from "effect"
import type * as Duration from "effect/Duration"
import { TestClock } from "effect/testing"
import { FaultyStore, StoreFaults } from "./delivery/FaultyStore.ts"
import { SealerNode } from "./delivery/SealerNode.ts"
import { WebhookSenderScripted } from "./delivery/WebhookSenderScripted.ts"
import { StorageMemory } from "./StorageMemory.ts"

/** The memory storage wakes workers reliably, so they need not poll. */
const deliveryDefaults: Partial<DeliveryOptionValues> = { pollMillis: Infinity }

/** Settings of the service in memory. */
export interface TestWaybillOptions {
  readonly delivery?: Partial<DeliveryOptionValues>
  /** The time zone whose hours and midnights close charge windows; UTC by default. */
  readonly timeZone?: string
}

/**
 * Every use case, the delivery worker (not started), every storage port in memory, and `ScriptedReceivers`.
 *
 * Each build starts empty.
 */
const layer = (options: TestWaybillOptions = {}) =>
  Waybill.layer({
    storage: Layer.fresh(StorageMemory.layer),
    transport: Layer.mergeAll(
      Layer.fresh(WebhookSenderScripted.layer),
      HmacNode.layer,
      ContentHashNode.layer,
      SealerNode.layer()
    )
  }).pipe(Layer.provideMerge(Layer.mergeAll(
    FreightChargeOptions.layer(options),
    DeliveryOptions.layer({ ...deliveryDefaults, ...options.delivery })
  )))

/** A tenant for tests, and its callers. */
export interface SeededTenant {
  readonly tenantId: string
  readonly carrier: Principal
  readonly customer: (client: string, accounts: ReadonlyArray<string>) => Principal
  /** The id and text of a signing secret that every client of the tenant may use. */
  readonly hmacSecretId: string
  readonly secret: string
}

/** Creates a tenant with a signing secret. */
const tenant = Effect.fnUntraced(function*(tenantId = "acme"): Effect.fn.Return<SeededTenant, never, Tenants | SigningSecrets> {
  const hmacSecretId = "main"
  yield* Effect.orDie(Effect.flatMap(Tenants, (tenants) => tenants.put(tenantId, { name: `Tenant ${tenantId}` })))
  const { secret } = yield* Effect.orDie(Effect.flatMap(SigningSecrets, (secrets) => secrets.put(tenantId, hmacSecretId, { anyClient: true })))
  const principal = (client: string, role: "carrier" | "customer", accounts: ReadonlyArray<string>): Principal => ({
    tenantId,
    client,
    roles: [role],
    accounts,
    origin: "token"
  })
  return {
    tenantId,
    carrier: principal("carrier", "carrier", []),
    customer: (client, accounts) => principal(client, "customer", accounts),
    hmacSecretId,
    secret: Redacted.value(secret)
  }
})

/** Subscribes a caller to all events that it may see, or to those that `settings` select. */
const subscribe = (
  seeded: SeededTenant,
  principal: Principal,
  settings: Omit<typeof SubscriptionCreate.Encoded, "hmacSecretId">
) =>
  Effect.flatMap(TransitSubscriptions, (subscriptions) =>
    subscriptions.create(principal, { hmacSecretId: seeded.hmacSecretId, ...settings })).pipe(Effect.orDie)

/** Subscribes a caller to the status of shipments with these reference numbers. Unsigned, unless a secret is named. */
const follow = (
  principal: Principal,
  settings: { readonly webhookUrl: string; readonly referenceNumbers: ReadonlyArray<string>; readonly hmacSecretId?: string }
) => Effect.flatMap(StatusSubscriptions, (subscriptions) => subscriptions.subscribe(principal, settings)).pipe(Effect.orDie)

/** Subscribes a caller to every change of its accounts' charges in real time, or as `settings` say. Unsigned, unless a secret is named. */
const subscribeToCharges = (principal: Principal, settings: Partial<typeof ChargeSubscriptionCreate.Encoded> & { readonly webhookUrl: string }) =>
  Effect.flatMap(ChargeSubscriptions, (subscriptions) =>
    subscriptions.create(principal, {
      accounts: principal.accounts,
      dataOptions: { shipmentDataType: "all_monitored_events", eventType: "all_impacts" },
      ...settings
    })).pipe(Effect.orDie)

/** Runs a worker in the background until the scope ends, and stops it as in production. */
const running = (worker: DeliveryWorker["Service"]) =>
  Effect.acquireRelease(Effect.forkDetach(worker.run), (fiber) =>
    Effect.gen(function*() {
      // stopping waits for attempts in flight, which needs the virtual clock to advance
      const stopping = yield* Effect.forkDetach(Fiber.interrupt(fiber))
      yield* pass(0)
      if (stopping.pollUnsafe() === undefined && (yield* isVirtual)) yield* pass("1 hour")
      yield* Fiber.join(stopping)
    }))

/** Starts the worker of the layer. */
const run = Effect.flatMap(DeliveryWorker, running)

/** Another process over the same storage, with its own delivery store whose calls can be made to fail. */
export interface TestWorker {
  readonly worker: DeliveryWorker["Service"]
  readonly faults: StoreFaults["Service"]
  /** Starts it; interrupting the fiber stops it as in production. */
  readonly run: ReturnType<typeof running>
}

const worker = Effect.fnUntraced(function*(options: Partial<DeliveryOptionValues> = {}) {
  const current = yield* DeliveryOptions
  const context = yield* Layer.build(Layer.fresh(DeliveryWorker.layer).pipe(
    Layer.provideMerge(Layer.fresh(FaultyStore.layer)),
    Layer.provide(DeliveryOptions.layer({ ...current, ...options }))
  ))
  const own = Context.get(context, DeliveryWorker)
  return { worker: own, faults: Context.get(context, StoreFaults), run: running(own) } satisfies TestWorker
})

const isVirtual = Effect.map(Clock.clockWith(Effect.succeed), (clock) => "adjust" in clock)

/** Runs all other fibers until nothing is left to do at this instant. */
const quiet = Effect.forEach(Array.from({ length: 50 }), () => Effect.yieldNow, { discard: true })

/** Advances the virtual clock, and runs everything that becomes due. */
const pass = (duration: Duration.Input) =>
  Effect.andThen(quiet, Effect.andThen(Effect.flatMap(isVirtual, (virtual) => virtual ? TestClock.adjust(duration) : Effect.void), quiet))

/** The service in memory for programs with Effect, with the steps that tests need. */
export const TestWaybill = { layer, tenant, subscribe, follow, subscribeToCharges, run, worker, quiet, pass }
