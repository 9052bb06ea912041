/** A tenant, its receivers and its worker, for tests of the delivery engine on the virtual clock. */
import { Deliveries, type DeliveryOptionValues, DeliveryStore, type DeliveryView, DeliveryWorker } from "@waybill/core/delivery"
import { TransitEvents, TransitSubscriptions } from "@waybill/core/transit-events"
import { batchOf, type EventOverrides, type ReceivedRequest, reportedEvent, type Script, ScriptedReceivers, type StoreCall, TestWaybill } from "@waybill/testkit"
import { Context, Effect, Layer, References } from "effect"
import type * as Clock from "effect/Clock"
import { untyped } from "../untyped.ts"

export const hook = "https://receiver.example/hook"

/** The account of all published events, unless a test sets another one. */
export const account = "A"

interface EngineOptions {
  readonly delivery?: Partial<DeliveryOptionValues>
  /** The subscription's own `delivery` settings. */
  readonly policy?: Readonly<Record<string, number>>
}

/** A tenant with one subscription to all events at `hook`. */
export const makeEngine = Effect.fnUntraced(function*(options: EngineOptions = {}) {
  const tenant = yield* TestWaybill.tenant()
  const customer = tenant.customer("client", [account])
  const events = yield* TransitEvents
  const receivers = yield* ScriptedReceivers
  const subscriptions = yield* TransitSubscriptions
  const deliveries = yield* Deliveries
  const subscription = yield* TestWaybill.subscribe(tenant, customer, {
    endpointUrl: hook,
    ...(options.policy === undefined ? {} : { delivery: options.policy })
  })

  /** Publishes one event of each of these shipments. */
  const publish = (...shipmentIds: ReadonlyArray<string>) =>
    events.append(tenant.carrier, shipmentIds.map((shipmentId) => reportedEvent(shipmentId, { accounts: [account] })))

  const publishEvent = (shipmentId: string, overrides: EventOverrides = {}) =>
    events.append(tenant.carrier, [reportedEvent(shipmentId, { accounts: [account], ...overrides })])

  const patch = (change: unknown) => subscriptions.patch(customer, subscription.id, untyped(change))

  const list = (query: Readonly<Record<string, unknown>> = {}): Effect.Effect<ReadonlyArray<DeliveryView>> =>
    Effect.map(Effect.orDie(deliveries.list(tenant.tenantId, { order: "oldest", ...query })), ({ data }) => data)

  /** The events that a receiver accepted, as `shipment/sequence`, repeats included. */
  const delivered = (url = hook) =>
    Effect.map(receivers.deliveredEvents(url), (all) => all.map(nameOf))

  return { tenant, customer, events, receivers, subscriptions, deliveries, subscription, publish, publishEvent, patch, list, delivered }
})

/** The same with a running worker. `answers`: of the subscription's receiver. */
export const startEngine = Effect.fnUntraced(function*({ answers, ...options }: EngineOptions & { readonly answers?: Script } = {}) {
  const engine = yield* makeEngine(options)
  if (answers !== undefined) yield* engine.receivers.script(hook, answers)
  yield* TestWaybill.run
  return engine
})

export const nameOf = (event: { readonly sequence: number; readonly shipment: { readonly shipmentId: string } }): string =>
  `${event.shipment.shipmentId}/${event.sequence}`

type Store = DeliveryStore["Service"]

/** Every call of a worker's store. */
export const storeCalls: ReadonlyArray<StoreCall> = ["renew", "look", "acquire", "load", "take", "reclaim", "settle", "drop", "release"]

/** A worker with some calls of its store replaced, not started. */
export const workerOn = Effect.fnUntraced(function*(own: (store: Store) => Partial<Store>) {
  const changed = Layer.effect(DeliveryStore, Effect.map(DeliveryStore, (store) => ({ ...store, ...own(store) })))
  return Context.get(yield* Layer.build(Layer.fresh(DeliveryWorker.layer).pipe(Layer.provide(Layer.fresh(changed)))), DeliveryWorker)
})

/** A worker that runs until the scope ends. */
export const workerOver = (own: (store: Store) => Partial<Store>) => Effect.flatMap(workerOn(own), ({ run }) => Effect.forkScoped(run))

/** A system clock that differs from another one by `millis`; timers and the monotonic time do not differ. */
export const clockAhead = (clock: Clock.Clock, millis: () => number): Clock.Clock => ({
  currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + millis(),
  currentTimeMillis: Effect.sync(() => clock.currentTimeMillisUnsafe() + millis()),
  currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe() + BigInt(millis()) * 1_000_000n,
  currentTimeNanos: Effect.sync(() => clock.currentTimeNanosUnsafe() + BigInt(millis()) * 1_000_000n),
  monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
  monotonicTimeNanos: clock.monotonicTimeNanos,
  sleep: (duration) => clock.sleep(duration)
})

/** The events of a request, as `shipment/sequence`. */
export const eventsOf = (request: ReceivedRequest): ReadonlyArray<string> => batchOf(request).events.map(nameOf)

/** The events that arrived after a later event of their shipment; empty if the order is right. */
export const outOfOrder = (names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const highest = new Map<string, number>()
  const seen = new Set<string>()
  return names.filter((name) => {
    if (seen.has(name)) return false
    seen.add(name)
    const at = name.lastIndexOf("/")
    const [shipmentId, sequence] = [name.slice(0, at), Number(name.slice(at + 1))]
    const before = highest.get(shipmentId) ?? 0
    highest.set(shipmentId, Math.max(before, sequence))
    return sequence < before
  })
}

export const quietly = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provideService(effect, References.MinimumLogLevel, "None")

/** Runs an engine test with its own service and worker settings, and without logs of expected failures. */
export const inEngineWith = (options: EngineOptions["delivery"] = {}) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  quietly(Effect.provide(effect, TestWaybill.layer({ delivery: options })))

export const inEngine = inEngineWith()
