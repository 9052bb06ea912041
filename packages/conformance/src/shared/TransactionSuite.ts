/** Conformance of `Transaction`, over all its ports. */
import { AccessStore, Transaction } from "@waybill/core"
import { DeliveryQueue, SecretStore } from "@waybill/core/delivery"
import { ChargeSubscriptionStore, FreightBillStore } from "@waybill/core/freight-charges"
import { ShipmentStatusStore, StatusSubscriptionStore } from "@waybill/core/shipment-status"
import { TransitEventStore, TransitSubscriptionStore } from "@waybill/core/transit-events"
import { assert } from "@effect/vitest"
import { Data, Deferred, Effect, Exit, Fiber, Option } from "effect"
import { drain, hasWork } from "../WorkerFixtures.ts"
import { bytesOf, destinationSettings, freshTenant, idOf, inTransaction, letSee, occurredAt, publish, recordOf, storedSecret, subscribe } from "../StorageFixtures.ts"
import { storeSuite } from "../StoreSuite.ts"

class Refused extends Data.TaggedError("Refused")<{ readonly why: string }> {}

const secret = (text: string) => storedSecret([{ sealed: bytesOf(text), signsUntil: undefined }])

/** A shipment's status, sent to subscription 2. */
const writeStatus = Effect.fnUntraced(function*(tenantId: string) {
  yield* (yield* DeliveryQueue).openDestination(tenantId, { ...destinationSettings({ n: 2 }), source: "shipment-status" })
  yield* (yield* StatusSubscriptionStore).insert(tenantId, { id: idOf(2), client: "client", doc: "{}", references: ["r"], createdAt: occurredAt })
  const store = yield* ShipmentStatusStore
  yield* store.lock(tenantId, [{ shipmentId: "S", accounts: undefined }])
  yield* store.write(tenantId, {
    statuses: [{
      shipmentId: "S",
      state: "{}",
      verified: bytesOf("all"),
      public: bytesOf("some"),
      covered: true,
      pickupAt: occurredAt,
      deliveredAt: undefined,
      keys: ["k"],
      references: ["r"]
    }],
    history: [{ shipmentId: "S", position: 1, occurredAt, doc: "{}" }],
    notices: [{ shipmentId: "S", sequence: 1, noticeId: "s", body: bytesOf("told") }],
    traceparent: undefined
  })
})

/** A freight bill, sent to subscription 3. */
const writeBill = Effect.fnUntraced(function*(tenantId: string) {
  yield* (yield* DeliveryQueue).openDestination(tenantId, { ...destinationSettings({ n: 3 }), source: "freight-charges" })
  const record = { id: idOf(3), client: "client", doc: "{}", webhookUrl: "https://receiver.example/pfc", accounts: ["A"], createdAt: occurredAt }
  yield* (yield* ChargeSubscriptionStore).insert(tenantId, record)
  const store = yield* FreightBillStore
  yield* store.lock(tenantId, ["B"])
  yield* store.append(tenantId, {
    bills: [{ billId: "B", version: 1, state: "open", accounts: ["A"], doc: "{}" }],
    notices: [{ noticeId: "b", billId: "B", version: 1, accounts: ["A"], body: bytesOf("told") }],
    notifications: [{ subscriptionId: idOf(3), notice: 0, window: undefined }],
    traceparent: undefined
  })
})

/** Writes through every port, in one transaction with `then`. */
const writeEverywhere = <A, E, R>(tenantId: string, then: Effect.Effect<A, E, R>) =>
  inTransaction(Effect.gen(function*() {
    const access = yield* AccessStore
    yield* access.putTenant({ tenantId, name: "Acme", hosts: [] })
    yield* letSee(tenantId, "client", ["A"])
    yield* (yield* SecretStore).put(tenantId, "main", secret("s"))
    yield* (yield* DeliveryQueue).openDestination(tenantId, destinationSettings())
    yield* (yield* TransitSubscriptionStore).insert(tenantId, recordOf())
    yield* publish(tenantId, [{ shipmentId: "S", eventId: "e" }], { accounts: ["A"] })
    yield* writeStatus(tenantId)
    yield* writeBill(tenantId)
    return yield* then
  }))

/** Counts the rows that `writeEverywhere` stored. */
const seenOf = Effect.fnUntraced(function*(tenantId: string) {
  const queue = yield* DeliveryQueue
  return {
    tenant: Option.isSome(yield* (yield* AccessStore).findTenant(tenantId)),
    secret: Option.isSome(yield* (yield* SecretStore).find(tenantId, "main")),
    destination: Option.isSome(yield* queue.destinationStatus(tenantId, idOf(1))),
    subscription: Option.isSome(yield* (yield* TransitSubscriptionStore).find(tenantId, "client", idOf(1))),
    event: (yield* (yield* TransitEventStore).find(tenantId, [{ shipmentId: "S", eventId: "e" }])).length === 1,
    status: (yield* (yield* ShipmentStatusStore).record(tenantId, "S")) !== undefined,
    bill: (yield* (yield* FreightBillStore).open(tenantId, ["A"], { after: undefined, limit: 1000 })).length === 1,
    chargeSubscription: Option.isSome(yield* (yield* ChargeSubscriptionStore).findAny(tenantId, idOf(3))),
    signal: yield* hasWork(tenantId),
    entries: (yield* drain(tenantId)).sent.reduce((sum, { events }) => sum + events, 0)
  }
})

type Seen = Effect.Success<ReturnType<typeof seenOf>>

/** What is seen if everything, or nothing, was stored. */
const whether = (is: boolean): Seen =>
  ({ tenant: is, secret: is, destination: is, subscription: is, event: is, status: is, bill: is, chargeSubscription: is, signal: is, entries: is ? 3 : 0 })
const [all, nothing] = [whether(true), whether(false)]

export const suite = storeSuite("Transaction", Transaction, (test) => {
  test("shows all its writes once it commits", function*({ tenantId }) {
    assert.strictEqual(yield* writeEverywhere(tenantId, Effect.succeed(7)), 7)
    assert.deepStrictEqual(yield* seenOf(tenantId), all)
  })

  test("leaves nothing behind in any port when it fails, and passes on the failure", function*({ tenantId }) {
    const failed = yield* Effect.flip(writeEverywhere(tenantId, Effect.fail(new Refused({ why: "on purpose" }))))
    assert.deepStrictEqual(failed, new Refused({ why: "on purpose" }))
    assert.deepStrictEqual(yield* seenOf(tenantId), nothing)
  })

  test("leaves nothing behind when it dies", function*({ tenantId }) {
    assert.isTrue(Exit.isFailure(yield* Effect.exit(writeEverywhere(tenantId, Effect.die(new Error("on purpose"))))))
    assert.deepStrictEqual(yield* seenOf(tenantId), nothing)
  })

  test("leaves nothing behind when it is interrupted", function*({ tenantId }) {
    const written = yield* Deferred.make<void>()
    const fiber = yield* Effect.forkChild(writeEverywhere(tenantId, Effect.andThen(Deferred.succeed(written, undefined), Effect.never)))
    yield* Deferred.await(written)
    yield* Fiber.interrupt(fiber)
    assert.deepStrictEqual(yield* seenOf(tenantId), nothing)
  })

  test("reuses the numbers of a rolled back publication", function*({ tenantId }) {
    yield* Effect.exit(writeEverywhere(tenantId, Effect.fail(new Refused({ why: "on purpose" }))))
    const [event] = yield* publish(tenantId, [{ shipmentId: "S" }])
    assert.strictEqual(event!.sequence, 1)
  })

  test("hides uncommitted writes from others", function*({ access, tenantId }) {
    const [written, goOn] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
    const writer = yield* Effect.forkChild(Effect.exit(writeEverywhere(
      tenantId,
      Deferred.succeed(written, undefined).pipe(Effect.andThen(Deferred.await(goOn)), Effect.andThen(Effect.fail(new Refused({ why: "late" }))))
    )))
    yield* Deferred.await(written)
    // a store may answer at once, or wait for the writer: it must never return rolled-back rows
    const reader = yield* Effect.forkChild(access.findTenant(tenantId))
    yield* Effect.yieldNow
    yield* Deferred.succeed(goOn, undefined)
    yield* Fiber.join(writer)
    assert.isTrue(Option.isNone(yield* Fiber.join(reader)))
  })

  test("is rolled back with the outer transaction", function*({ tenantId, transaction }) {
    yield* Effect.exit(transaction.run(Effect.andThen(writeEverywhere(tenantId, Effect.void), Effect.fail(new Refused({ why: "outside" })))))
    assert.deepStrictEqual(yield* seenOf(tenantId), nothing)
  })

  test("rolls back only its own part when the outer transaction continues", function*({ access, transaction }) {
    const [outer, inner] = [freshTenant(), freshTenant()]
    yield* transaction.run(Effect.gen(function*() {
      yield* access.putTenant({ tenantId: outer, name: "Outer", hosts: [] })
      yield* Effect.exit(writeEverywhere(inner, Effect.fail(new Refused({ why: "inside" }))))
      assert.isTrue(Option.isSome(yield* access.findTenant(outer)))
    }))
    assert.isTrue(Option.isSome(yield* access.findTenant(outer)))
    assert.deepStrictEqual(yield* seenOf(inner), nothing)
  })

  test("has a handle while it is open", function*({ transaction }) {
    assert.isObject(yield* transaction.run(Effect.scoped(transaction.handle)))
  })

  test("sees its own writes", function*({ events, tenantId }) {
    yield* subscribe(tenantId)
    const found = yield* writeEverywhere(freshTenant(), Effect.andThen(
      publish(tenantId, [{ shipmentId: "S", eventId: "own" }]),
      events.find(tenantId, [{ shipmentId: "S", eventId: "own" }])
    ))
    assert.lengthOf(found, 1)
  })

  test("waits for another transaction that changes the same secret, so that no change is lost", function*({ secrets, tenantId, transaction }) {
    yield* secrets.put(tenantId, "main", secret("0"))
    const increment = transaction.run(Effect.gen(function*() {
      const stored = Option.getOrThrow(yield* secrets.find(tenantId, "main", "change"))
      const count = Number(new TextDecoder().decode(stored.versions[0]!.sealed))
      yield* Effect.yieldNow
      yield* secrets.put(tenantId, "main", secret(String(count + 1)))
    }))
    yield* Effect.all(Array.from({ length: 8 }, () => increment), { concurrency: "unbounded" })
    assert.deepStrictEqual(Option.getOrThrow(yield* secrets.find(tenantId, "main")).versions, secret("8").versions)
  })
})
