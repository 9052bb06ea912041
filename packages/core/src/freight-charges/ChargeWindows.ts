/** Closes the windows of hourly and daily subscriptions when they are due. */
import { Context, Effect, Layer } from "effect"
import { Wakeups } from "../delivery/Wakeups.ts"
import type { StorageError } from "../shared/StorageError.ts"
import { sweepWithPauses } from "../shared/Sweeps.ts"
import { ChargeSubscriptionStore } from "./ChargeSubscriptionStore.ts"

/** Tenants per read. */
const tenantLimit = 100

/** Tenants processed concurrently, so that one with locked windows does not delay all others. */
const tenantsAtOnce = 4

/** Longest pause between two checks. A window opened during the pause may close earlier than the known ones. */
const maxPauseMillis = 30_000

/** Sends what hourly and daily subscriptions have collected when their window closes. SPEC-GAP-E16 */
export class ChargeWindows extends Context.Service<ChargeWindows, {
  /** Closes every due window and returns their number. For cron, serverless and tests. If one tenant fails, the others are still closed first. */
  readonly closeDue: Effect.Effect<number, StorageError>
  /** Closes windows when they are due, until interrupted. Several processes may run it. */
  readonly run: Effect.Effect<never>
}>()("@waybill/core/freight-charges/ChargeWindows") {
  static readonly layer = Layer.effect(
    ChargeWindows,
    Effect.gen(function*() {
      const store = yield* ChargeSubscriptionStore
      const wakeups = yield* Wakeups

      const closeTenant = Effect.fnUntraced(function*(tenantId: string) {
        let closed = 0
        for (;;) {
          const some = yield* store.closeWindows(tenantId)
          closed += some.closed
          if (some.closed > 0) yield* wakeups.wake(tenantId)
          if (!some.more) return closed
          yield* Effect.yieldNow
        }
      })

      const closeDue = Effect.gen(function*() {
        let closed = 0
        for (;;) {
          const { tenantIds } = yield* store.windowsDue(tenantLimit)
          const [counts, failures] = yield* Effect.partition(tenantIds, closeTenant, { concurrency: tenantsAtOnce })
          const sum = counts.reduce((total, count) => total + count, 0)
          closed += sum
          if (sum > 0) continue
          // another process may have closed all of them between the two reads
          return failures[0] === undefined ? closed : yield* failures[0]
        }
      }).pipe(Effect.withSpan("ChargeWindows.closeDue"))

      /** A minimal pause, regardless of what the store returns. */
      const pauseMillis = Effect.map(store.windowsDue(1), ({ nextDueInMillis = maxPauseMillis, tenantIds }) =>
        tenantIds.length > 0 ? 1 : Math.max(1, Math.min(nextDueInMillis, maxPauseMillis)))

      const run = sweepWithPauses(Effect.andThen(closeDue, pauseMillis), maxPauseMillis, "Freight charge windows not closed. The next check tries again.")

      return ChargeWindows.of({ closeDue, run })
    })
  )
}
