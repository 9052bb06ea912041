/** What `Wakeups` promises. Hints may be lost, so each is given until it arrives. */
import { Wakeups } from "@waybill/core/delivery"
import { assert } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { freshTenant } from "../StorageFixtures.ts"
import { storeSuite } from "../StoreSuite.ts"

/** A worker, and the tenants that it has hints for. */
const serving = Effect.fnUntraced(function*(wakeups: Wakeups["Service"], isAlone = false) {
  const hints = new Set<string>()
  yield* wakeups.serve({ hint: (tenantId) => void hints.add(tenantId), servesAlone: () => Effect.succeed(isAlone) })
  return hints
})

export const suite = storeSuite("Wakeups", Wakeups, (test) => {
  const wakeUntilHinted = (wakeups: Wakeups["Service"], tenantId: string, workers: ReadonlyArray<ReadonlySet<string>>) =>
    Effect.repeat(wakeups.wake(tenantId), { schedule: Schedule.spaced("20 millis"), until: () => workers.every((hints) => hints.has(tenantId)) })

  test("gives every worker of the process a hint of the tenant", function*({ store: wakeups, tenantId }) {
    const workers = yield* Effect.forEach([1, 2, 3], () => serving(wakeups))
    yield* wakeUntilHinted(wakeups, tenantId, workers)
    assert.deepStrictEqual(workers, [new Set([tenantId]), new Set([tenantId]), new Set([tenantId])])
  }, 20_000)

  test("gives hints to workers of a process that serves the tenant alone", function*({ store: wakeups, tenantId }) {
    yield* wakeUntilHinted(wakeups, tenantId, [yield* serving(wakeups, true)])
  }, 20_000)

  test("gives no hints to a worker that has ended", function*({ store: wakeups, tenantId }) {
    const other = freshTenant()
    const ended = yield* Effect.scoped(Effect.tap(serving(wakeups), (hints) => wakeUntilHinted(wakeups, other, [hints])))
    yield* wakeUntilHinted(wakeups, tenantId, [yield* serving(wakeups)])
    assert.deepStrictEqual(ended, new Set([other]))
  }, 20_000)
})
