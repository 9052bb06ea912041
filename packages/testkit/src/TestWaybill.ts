/** The whole service in memory, with scripted receivers and nothing that waits for real time. */
import {
  ChargeSubscriptions,
  DeliveryOptions,
  DeliveryWorker,
  FreightChargeOptions,
  type Principal,
  SigningSecrets,
  StatusSubscriptions,
  Tenants,
  TransitSubscriptions,
  Waybill
} from "@waybill/core"
import { Context, Effect, Fiber, Layer, Redacted } from "effect"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import { TestClock } from "effect/testing"
import { FaultyQueue, QueueFaults } from "./delivery/FaultyQueue.ts"
import { HmacNode } from "./delivery/HmacNode.ts"
import { SealerNode } from "./delivery/SealerNode.ts"
import { WebhookSenderScripted } from "./delivery/WebhookSenderScripted.ts"
import { ContentHashNode } from "./invoices/ContentHashNode.ts"
import { StorageMemory } from "./StorageMemory.ts"

/** Memory wakes workers exactly, so they need not poll. */
const deliveryDefaults: Partial<DeliveryOptions["Service"]> = { pollMillis: Infinity }

export interface TestWaybillOptions {
  readonly delivery?: Partial<DeliveryOptions["Service"]>
  /** Whose hours and midnights close the windows of freight charges; UTC by default. */
  readonly timeZone?: string
  /** Whether workers send without fibers, as they do over a network; with fibers otherwise. */
  readonly byCallbacks?: boolean
}

/**
 * Every use case, the delivery worker (not started), every storage port in memory, and `ScriptedReceivers`.
 *
 * Each time it is built, it starts empty.
 */
const layer = (options: TestWaybillOptions = {}) =>
  Waybill.layer.pipe(Layer.provideMerge(Layer.mergeAll(
    Layer.fresh(StorageMemory.layer),
    Layer.fresh(options.byCallbacks === true ? WebhookSenderScripted.layerCallbacks : WebhookSenderScripted.layer),
    HmacNode.layer,
    ContentHashNode.layer,
    SealerNode.layer(),
    FreightChargeOptions.layer(options),
    DeliveryOptions.layer({ ...deliveryDefaults, ...options.delivery })
  )))

/** A tenant to test with, and who calls on its behalf. */
export interface SeededTenant {
  readonly tenantId: string
  readonly carrier: Principal
  readonly customer: (client: string, accounts: ReadonlyArray<string>) => Principal
  /** The id and text of a signing secret that everybody of the tenant may name. */
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

/** Subscribes a caller to everything it may see, or to what `settings` say. */
const subscribe = (
  seeded: SeededTenant,
  principal: Principal,
  settings: { readonly endpointUrl: string; readonly filters?: unknown; readonly delivery?: unknown }
) =>
  Effect.flatMap(TransitSubscriptions, (subscriptions) =>
    subscriptions.create(principal, { hmacSecretId: seeded.hmacSecretId, ...settings })).pipe(Effect.orDie)

/** Has a caller told of what happens to the shipments of these reference numbers. Unsigned, unless a secret is named. */
const follow = (
  principal: Principal,
  settings: { readonly webhookUrl: string; readonly referenceNumbers: ReadonlyArray<string>; readonly hmacSecretId?: string }
) => Effect.flatMap(StatusSubscriptions, (subscriptions) => subscriptions.subscribe(principal, settings)).pipe(Effect.orDie)

/** Has a caller told of every change of what its accounts owe, at once, or of what `settings` say. Unsigned, unless a secret is named. */
const subscribeToCharges = (principal: Principal, settings: { readonly webhookUrl: string } & Readonly<Record<string, unknown>>) =>
  Effect.flatMap(ChargeSubscriptions, (subscriptions) =>
    subscriptions.create(principal, {
      accounts: principal.accounts,
      dataOptions: { shipmentDataType: "all_monitored_events", eventType: "all_impacts" },
      ...settings
    })).pipe(Effect.orDie)

/** A worker in the background until the scope ends; then it is stopped as in production. */
const running = (worker: DeliveryWorker["Service"]) =>
  Effect.acquireRelease(Effect.forkDetach(worker.run), (fiber) =>
    Effect.gen(function*() {
      // stopping waits for attempts under way, and a virtual clock has to be turned for that
      const stopping = yield* Effect.forkDetach(Fiber.interrupt(fiber))
      yield* pass(0)
      if (stopping.pollUnsafe() === undefined && (yield* isVirtual)) yield* pass("1 hour")
      yield* Fiber.join(stopping)
    }))

/** Starts the worker of the layer. */
const run = Effect.flatMap(DeliveryWorker, running)

/** One more process over the same storage, with a queue of its own whose calls can be made to fail. */
export interface TestWorker {
  readonly worker: DeliveryWorker["Service"]
  readonly faults: QueueFaults["Service"]
  /** Starts it; interrupting the fiber stops it as in production. */
  readonly run: ReturnType<typeof running>
}

const worker = Effect.fnUntraced(function*(options: Partial<DeliveryOptions["Service"]> = {}) {
  const current = yield* DeliveryOptions
  const context = yield* Layer.build(Layer.fresh(DeliveryWorker.layer).pipe(
    Layer.provideMerge(Layer.fresh(FaultyQueue.layer)),
    Layer.provide(DeliveryOptions.layer({ ...current, ...options }))
  ))
  const own = Context.get(context, DeliveryWorker)
  return { worker: own, faults: Context.get(context, QueueFaults), run: running(own) } satisfies TestWorker
})

const isVirtual = Effect.map(Clock.clockWith(Effect.succeed), (clock) => "adjust" in clock)

/** Lets every other fiber run until nothing is left to do at this instant. */
const quiet = Effect.forEach(Array.from({ length: 50 }), () => Effect.yieldNow, { discard: true })

/** Lets time go by on the virtual clock, and everything happen that is due meanwhile. */
const pass = (duration: Duration.Input) =>
  Effect.andThen(quiet, Effect.andThen(Effect.flatMap(isVirtual, (virtual) => virtual ? TestClock.adjust(duration) : Effect.void), quiet))

export const TestWaybill = { layer, tenant, subscribe, follow, subscribeToCharges, run, worker, quiet, pass }
