/** Closes the windows of hourly and daily subscriptions when they are due. */
import { Context, Effect, Layer, Result } from "effect"
import { Wakeups } from "../delivery/Wakeups.ts"
import type { StorageError } from "../shared/StorageError.ts"
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
          const results = yield* Effect.forEach(tenantIds, (tenantId) => Effect.result(closeTenant(tenantId)), { concurrency: tenantsAtOnce })
          const sum = results.reduce((total, each) => Result.isSuccess(each) ? total + each.success : total, 0)
          closed += sum
          if (sum > 0) continue
          // another process may have closed all of them between the two reads
          const failed = results.find(Result.isFailure)
          return failed === undefined ? closed : yield* Effect.fail(failed.failure)
        }
      }).pipe(Effect.withSpan("ChargeWindows.closeDue"))

      const pauseMillis = Effect.map(store.windowsDue(1), ({ nextDueInMillis, tenantIds }) =>
        tenantIds.length > 0 ? 0 : Math.min(nextDueInMillis ?? maxPauseMillis, maxPauseMillis))

      const run = Effect.forever(
        Effect.andThen(closeDue, pauseMillis).pipe(
          Effect.catchTag("StorageError", (error) =>
            Effect.as(Effect.logWarning("Freight charge windows not closed. The next check tries again.", error), maxPauseMillis)),
          // a minimal pause, regardless of what the store returns
          Effect.flatMap((pause) => Effect.sleep(Math.max(pause, 1)))
        )
      )

      return ChargeWindows.of({ closeDue, run })
    })
  )
}
