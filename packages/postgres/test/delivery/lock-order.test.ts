/** A worker freezes, settles and extends leases concurrently, over many destinations each, in different orders. */
import { layer } from "@effect/vitest"
import { type ClaimedDestination, DeliveryQueue, Transaction } from "@waybill/core"
import { fixtures } from "@waybill/testkit/suites"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { assert } from "vitest"
import { PgClient } from "../../src/index.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"
import { openTransaction, untilBlocked, untilBlockedFor, untilOneIsBlocked } from "../OpenTransaction.ts"

const { claim, claimOne, freezeOf, freshTenant, idOf, letSee, occurredAt, publish, releaseOf, seed, settlementOf, subscribe } = fixtures

const schema = freshSchema()

const destinations = 100
const rounds = 100

const one = (destination: ClaimedDestination, n: number, at: number) => ({ deliveryId: idOf(n), sentAt: occurredAt, entries: [destination.waiting[at]!], traceparent: undefined })

/** Begins a transaction and runs `work` in it. `resume` starts `rest` in the same transaction; `fiber` returns its exit. */
const pausedTransaction = Effect.fnUntraced(function*<A, E, R, B, E2, R2>(work: Effect.Effect<A, E, R>, rest: Effect.Effect<B, E2, R2>) {
  const transaction = yield* Transaction
  const resumed = yield* Deferred.make<void>()
  const ready = yield* Deferred.make<void>()
  const fiber = yield* Effect.forkChild(Effect.exit(transaction.run(
    work.pipe(Effect.tap(() => Effect.andThen(Deferred.succeed(ready, undefined), Deferred.await(resumed))), Effect.andThen(rest))
  )))
  yield* Deferred.await(ready)
  return { resume: Deferred.succeed(resumed, undefined), fiber }
})

layer(testStorage(schema), { excludeTestServices: true })("statements over the same destinations in different orders", (it) => {
  it.effect("wait for each other without a deadlock", () =>
    Effect.gen(function*() {
      const transaction = yield* Transaction
      const queue = yield* DeliveryQueue
      const tenantId = freshTenant()
      yield* letSee(tenantId, "client", ["A"])
      for (let n = 1; n <= destinations; n++) yield* subscribe(tenantId, { n })
      yield* publish(tenantId, [{ shipmentId: "S" }], { accounts: ["A"] })
      const { destinations: claimed } = yield* claim(tenantId, { maxDestinations: destinations })
      assert.lengthOf(claimed, destinations)
      const forwards = claimed.toSorted((a, b) => a.destinationId < b.destinationId ? -1 : 1)
      const backwards = forwards.toReversed()
      // inside a transaction a statement is not sent again, so a deadlock fails the test
      const repeated = <A, E, R>(statement: Effect.Effect<A, E, R>) => Effect.repeat(transaction.run(statement), { times: rounds })
      yield* Effect.all([
        repeated(queue.freeze(tenantId, forwards.map((destination) => freezeOf(destination)))),
        repeated(queue.settle(tenantId, {
          deliveries: [],
          destinations: backwards.map(({ destinationId, token }) => ({ destinationId, token, breaker: { failures: 1, openUntil: undefined }, pause: undefined, release: undefined }))
        })),
        repeated(queue.heartbeat(tenantId, [...forwards.slice(destinations / 2), ...forwards.slice(0, destinations / 2)], 60_000))
      ], { concurrency: "unbounded" })
    }), 60_000)

  it.effect("do not deadlock when a delivery is retried while its subscription is removed", () =>
    Effect.gen(function*() {
      const queue = yield* DeliveryQueue
      const sql = yield* PgClient.PgClient
      const tenantId = freshTenant()
      yield* seed(tenantId, { S: 1 })
      const first = yield* claimOne(tenantId)
      yield* queue.freeze(tenantId, [freezeOf(first, { deliveryId: idOf(101) })])
      yield* queue.settle(tenantId, { deliveries: [settlementOf(first, idOf(101), { state: "waiting", dueInMillis: 3_600_000 })], destinations: [releaseOf(first)] })
      const lock = sql.unsafe(`SELECT 1 FROM "${schema}".delivery_destinations WHERE tenant_id = '${tenantId}' AND destination_id = '${idOf(1)}' FOR UPDATE`).unprepared
      const closing = yield* pausedTransaction(lock, queue.closeDestination(tenantId, idOf(1)))
      const retrying = yield* Effect.forkChild(Effect.exit(queue.retry(tenantId, idOf(101))))
      yield* untilOneIsBlocked
      yield* closing.resume
      const closed = yield* Fiber.join(closing.fiber)
      const retried = yield* Fiber.join(retrying)
      assert.deepStrictEqual([Exit.isSuccess(closed), Exit.isSuccess(retried)], [true, true], `${closed} ${retried}`)
    }))

  it.effect("do not deadlock when a delivery is retried while a worker freezes it again", () =>
    Effect.gen(function*() {
      const transaction = yield* Transaction
      const queue = yield* DeliveryQueue
      const sql = yield* PgClient.PgClient
      const tenantId = freshTenant()
      yield* seed(tenantId, { S: 1, T: 1 })
      const first = yield* claimOne(tenantId)
      yield* queue.freeze(tenantId, [freezeOf(first, { fresh: [one(first, 101, 0), one(first, 102, 1)] })])
      yield* queue.settle(tenantId, { deliveries: [101, 102].map((n) => settlementOf(first, idOf(n), { state: "waiting" })), destinations: [releaseOf(first)] })
      const destination = yield* claimOne(tenantId)
      assert.lengthOf(destination.due, 2)
      const commit = yield* openTransaction(sql.unsafe(`SELECT 1 FROM "${schema}".deliveries WHERE tenant_id = '${tenantId}' AND delivery_id = '${idOf(101)}' FOR UPDATE`).unprepared)
      // inside a transaction a statement is not sent again, so a deadlock fails the test
      const freezing = yield* Effect.forkChild(Effect.exit(transaction.run(queue.freeze(tenantId, [freezeOf(destination, { fresh: [], again: [idOf(101), idOf(102)] })]))))
      yield* untilOneIsBlocked
      const retrying = yield* Effect.forkChild(Effect.exit(queue.retry(tenantId, idOf(102))))
      yield* untilBlocked(2)
      yield* commit
      const frozen = yield* Fiber.join(freezing)
      const retried = yield* Fiber.join(retrying)
      assert.deepStrictEqual([Exit.isSuccess(frozen), Exit.isSuccess(retried)], [true, true], `${frozen} ${retried}`)
    }))

  it.effect("do not deadlock when a subscription is removed while a worker writes outcomes", () =>
    Effect.gen(function*() {
      const transaction = yield* Transaction
      const queue = yield* DeliveryQueue
      const sql = yield* PgClient.PgClient
      const tenantId = freshTenant()
      yield* seed(tenantId, { S: 1, T: 1 })
      const first = yield* claimOne(tenantId)
      // the higher id is stored first, as when another worker's clock runs ahead
      yield* queue.freeze(tenantId, [freezeOf(first, { fresh: [one(first, 102, 1)] })])
      yield* queue.freeze(tenantId, [freezeOf(first, { fresh: [one(first, 101, 0)] })])
      yield* sql.unsafe(`
        CREATE OR REPLACE FUNCTION "${schema}".halt_${tenantId.slice(2, 8)}() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN
          IF NEW.tenant_id = '${tenantId}' AND NEW.state = 'cancelled' THEN PERFORM pg_advisory_xact_lock_shared(hashtext('${tenantId}')); END IF;
          RETURN NEW;
        END $f$;`).unprepared
      yield* sql.unsafe(`CREATE TRIGGER halt BEFORE UPDATE ON "${schema}".deliveries FOR EACH ROW EXECUTE FUNCTION "${schema}".halt_${tenantId.slice(2, 8)}()`).unprepared
      const release = yield* openTransaction(sql`SELECT pg_advisory_xact_lock(hashtext(${tenantId}))`)
      const closing = yield* Effect.forkChild(Effect.exit(queue.closeDestination(tenantId, idOf(1))))
      yield* untilOneIsBlocked
      const settling = yield* Effect.forkChild(Effect.exit(transaction.run(queue.settle(tenantId, { deliveries: [101, 102].map((n) => settlementOf(first, idOf(n))), destinations: [] }))))
      yield* untilBlocked(2)
      yield* release
      const closed = yield* Fiber.join(closing)
      const settled = yield* Fiber.join(settling)
      yield* sql.unsafe(`DROP TRIGGER halt ON "${schema}".deliveries`).unprepared
      assert.deepStrictEqual([Exit.isSuccess(closed), Exit.isSuccess(settled)], [true, true], `${closed} ${settled}`)
    }))

  it.effect("are sent again after a deadlock", () =>
    Effect.gen(function*() {
      const queue = yield* DeliveryQueue
      const sql = yield* PgClient.PgClient
      const tenantId = freshTenant()
      yield* letSee(tenantId, "client", ["A"])
      for (const n of [1, 2]) yield* subscribe(tenantId, { n })
      yield* publish(tenantId, [{ shipmentId: "S" }], { accounts: ["A"] })
      const { destinations: claimed } = yield* claim(tenantId)
      const lock = (n: number) => sql.unsafe(`SELECT 1 FROM "${schema}".delivery_destinations WHERE tenant_id = '${tenantId}' AND destination_id = '${idOf(n)}' FOR UPDATE`).unprepared
      const other = yield* pausedTransaction(lock(2), lock(1))
      // holds the first destination, waits for the second; Postgres ends the statement that first notices the deadlock, a second after its wait began
      const settling = yield* Effect.forkChild(queue.settle(tenantId, { deliveries: [], destinations: claimed.map((destination) => releaseOf(destination)) }))
      yield* untilBlockedFor(250)
      yield* other.resume
      const ended = [yield* Fiber.join(other.fiber), yield* Effect.exit(Fiber.join(settling))]
      assert.deepStrictEqual(ended.map(({ _tag }) => _tag), ["Success", "Success"])
      assert.lengthOf((yield* claim(tenantId)).destinations, 2)
    }))
})
