/** The frame of the suites: each test is given the store under test, two tenants of its own, and the ports that tests of several suites need. */
import { AccessStore, type StoragePorts, Transaction } from "@waybill/core"
import { DeliveryControl, DeliveryQueue, DeliveryStore, SecretStore } from "@waybill/core/delivery"
import { ChargeSubscriptionStore, FreightBillStore } from "@waybill/core/freight-charges"
import { DocumentStore } from "@waybill/core/invoices"
import { PickupStore } from "@waybill/core/pickups"
import { ShipmentStatusStore } from "@waybill/core/shipment-status"
import { TransitEventStore, TransitSubscriptionStore } from "@waybill/core/transit-events"
import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, type Layer, type Scope } from "effect"
import { freshTenant } from "./StorageFixtures.ts"

const common = Effect.all({
  tenantId: Effect.sync(freshTenant),
  other: Effect.sync(freshTenant),
  access: AccessStore,
  bills: FreightBillStore,
  chargeSubscriptions: ChargeSubscriptionStore,
  control: DeliveryControl,
  deliveries: DeliveryStore,
  documents: DocumentStore,
  events: TransitEventStore,
  pickups: PickupStore,
  queue: DeliveryQueue,
  secrets: SecretStore,
  statuses: ShipmentStatusStore,
  subscriptions: TransitSubscriptionStore,
  transaction: Transaction
})

/** What each test is given. `other` is another tenant. */
export type Given<Store> = Effect.Success<typeof common> & { readonly store: Store }

type TestGiven<Of> = (
  sentence: string,
  body: (given: Of) => Generator<Effect.Effect<unknown, unknown, StoragePorts | Scope.Scope>, void, never>,
  timeoutMillis?: number
) => void

export type Test<Store> = TestGiven<Given<Store>>

/** For tests that begin alike: they are given what `begin` returns, too. */
export const beginning = <Of, Begun>(test: TestGiven<Of>, begin: (given: Of) => Effect.Effect<Begun, unknown, StoragePorts | Scope.Scope>): TestGiven<Of & Begun> =>
(sentence, body, timeoutMillis) =>
  test(sentence, function*(given) {
    yield* Effect.fnUntraced(body)({ ...given, ...yield* begin(given) })
  }, timeoutMillis)

/** Runs the tests on one storage. `name` is the prefix of their names. */
export type Suite = (name: string, storage: Layer.Layer<StoragePorts, unknown>) => void

export const storeSuite = <Store>(
  title: string,
  port: Effect.Effect<Store, never, StoragePorts>,
  tests: (test: Test<Store>) => void
): Suite =>
(name, storage) =>
  layer(storage, { excludeTestServices: true })(`${name}: ${title}`, (it) =>
    tests((sentence, body, timeoutMillis) => {
      const given = Effect.zipWith(port, common, (store, others) => ({ store, ...others }))
      it.effect(sentence, () => Effect.flatMap(given, Effect.fnUntraced(body)), timeoutMillis)
    }))

/** Several suites as one. */
export const allOf = (...suites: ReadonlyArray<Suite>): Suite => (name, storage) => {
  for (const suite of suites) suite(name, storage)
}

/** Runs a transaction that stays open at `stayOpen` while the others wait for it: none of them may end before it. Returns what they answer. */
export const whileOpen = Effect.fnUntraced(function*<A, E, R, E2, R2>(
  transaction: (stayOpen: Effect.Effect<void>) => Effect.Effect<unknown, E, R>,
  others: ReadonlyArray<Effect.Effect<A, E2, R2>>
) {
  const [isOpen, goOn] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
  const open = yield* Effect.forkChild(transaction(Effect.andThen(Deferred.succeed(isOpen, undefined), Deferred.await(goOn))))
  yield* Deferred.await(isOpen)
  const waiting = yield* Effect.forEach(others, (other) => Effect.forkChild(other))
  yield* Effect.sleep(30)
  assert.isTrue(waiting.every((each) => each.pollUnsafe() === undefined))
  yield* Deferred.succeed(goOn, undefined)
  yield* Fiber.join(open)
  return yield* Effect.forEach(waiting, (each) => Fiber.join(each))
})

/** Runs an effect that must not change what is read, such as rows of another tenant. */
export const unchanged = Effect.fnUntraced(function*<A, E, R, E2, R2>(read: Effect.Effect<A, E, R>, effect: Effect.Effect<unknown, E2, R2>) {
  const before = yield* read
  yield* effect
  assert.deepStrictEqual(yield* read, before)
})
