/** Workers use the database's clock only, because their own clock may be wrong. */
import { layer } from "@effect/vitest"
import { DeliveryStore } from "@waybill/core/delivery"
import { fixtures } from "@waybill/conformance/suites"
import { Effect } from "effect"
import { assert } from "vitest"
import { leasesSetBack } from "../../ClockSetBack.ts"
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

leasesSetBack(freshSchema())
