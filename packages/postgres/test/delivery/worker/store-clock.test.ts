/** Workers use the database's clock only, because their own clock may be wrong. */
import { layer } from "@effect/vitest"
import { DeliveryStore } from "@waybill/core/delivery"
import { fixtures } from "@waybill/conformance/suites"
import { Effect } from "effect"
import { assert } from "vitest"
import { rowsIn } from "../../TestService.ts"
import { freshSchema, testStorage } from "../../TestStorage.ts"

const lease = (workerId: string) => ({ workerId, leaseMillis: 60_000 })

const shift = 330_000

/** Runs an effect while this machine's clock is ahead. */
const withWrongClock = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const real = Date.now
      Date.now = () => real() + shift
      return real
    }),
    () => effect,
    (real) =>
      Effect.sync(() => {
        Date.now = real
      })
  )

layer(testStorage(), { excludeTestServices: true })("a worker on a machine whose clock is wrong", (it) => {
  it.effect("reads the database's time from every response, also if it acquired nothing", Effect.fnUntraced(function*() {
    const store = yield* DeliveryStore
    const tenantId = fixtures.freshTenant()
    const told = yield* withWrongClock(Effect.all([
      Effect.map(store.renew(lease("first")), ({ now }) => now),
      Effect.map(store.acquire(lease("first"), tenantId, [1]), ({ now }) => now),
      Effect.map(store.acquire(lease("second"), tenantId, [1]), ({ now }) => now),
      Effect.map(store.acquire(lease("second"), tenantId, []), ({ now }) => now)
    ]))
    for (const now of told) assert.isBelow(Math.abs(now - Date.now()), shift / 2)
  }))
})

const schema = freshSchema()
const rows = rowsIn(schema)

/** As if the database's clock had been set back by an hour since the worker's last renewal. */
const setBack = (workerId: string) =>
  Effect.andThen(
    rows("UPDATE @delivery_leases SET leased_until = leased_until + interval '1 hour' WHERE worker_id = $1", [workerId]),
    rows("UPDATE @delivery_workers SET alive_until = alive_until + interval '1 hour' WHERE worker_id = $1", [workerId])
  )

layer(testStorage(schema), { excludeTestServices: true })("a lease that lies an hour ahead since the database's clock was set back", (it) => {
  const [before, other] = [{ workerId: "before", leaseMillis: 1000 }, lease("other")]
  const partitionsOf = (found: ReadonlyArray<{ readonly tenantId: string; readonly partition: number }>, tenantId: string) =>
    found.flatMap((each) => each.tenantId === tenantId ? [each.partition] : []).sort()

  it.effect("of a killed worker ends in one lease, from the next renewal of any worker on", () =>
    Effect.gen(function*() {
      const store = yield* DeliveryStore
      const tenantId = fixtures.freshTenant()
      const { workers } = yield* store.renew(other)
      yield* store.renew(before)
      yield* store.acquire(before, tenantId, [1, 2])
      yield* setBack(before.workerId)
      assert.strictEqual((yield* store.renew(other)).workers, workers, "the killed worker is not alive")
      const found = yield* fixtures.eventually(store.look("other", 1000), ({ free }) => partitionsOf(free, tenantId).length > 0)
      assert.deepStrictEqual(partitionsOf(found.free, tenantId), [1, 2])
      assert.lengthOf((yield* store.acquire(other, tenantId, [1, 2])).partitions, 2)
    }))

  it.effect("of a worker that is alive stays its own, until the worker renews it", () =>
    Effect.gen(function*() {
      const store = yield* DeliveryStore
      const tenantId = fixtures.freshTenant()
      const alive = lease("alive")
      yield* store.acquire(alive, tenantId, [1, 2])
      yield* setBack(alive.workerId)
      yield* store.renew(other)
      assert.lengthOf((yield* store.acquire(other, tenantId, [1, 2])).partitions, 0)
      assert.deepStrictEqual(partitionsOf((yield* store.renew(alive)).owned, tenantId), [1, 2])
      assert.lengthOf((yield* store.acquire(other, tenantId, [1, 2])).partitions, 0)
    }))
})
