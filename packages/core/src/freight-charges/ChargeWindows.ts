/** Closes the windows of hourly and daily subscriptions when they are due. */
import { Context, Effect, Layer } from "effect"
import { Wakeups } from "../delivery/Wakeups.ts"
import type { StorageError } from "../shared/StoragePort.ts"
import { TenantSweep } from "../shared/TenantSweep.ts"
import { ChargeSubscriptionStore } from "./ChargeSubscriptionStore.ts"

/** Longest pause between two checks. A window opened during the pause may close earlier than the known ones. */
const maxPauseMillis = 30_000

/** Pause while windows are due that were locked, or that failed to close. */
const lockedPauseMillis = 1_000

/** Sends what hourly and daily subscriptions have collected when their window closes. SPEC-GAP-E16 */
export class ChargeWindows extends Context.Service<ChargeWindows, {
  /**
   * Closes every due window that no other transaction has locked, and returns their number. For cron, serverless and tests. If one tenant fails,
   * the others are still closed first.
   */
  readonly closeDue: Effect.Effect<number, StorageError>
  /** Closes windows when they are due, until interrupted. Several processes may run it. */
  readonly run: Effect.Effect<never>
}>()("@waybill/core/freight-charges/ChargeWindows") {
  static readonly layer = Layer.effect(ChargeWindows, Effect.gen(function*() {
    const store = yield* ChargeSubscriptionStore
    const wakeups = yield* Wakeups

    const sweep = new TenantSweep("Freight charge windows not closed", {
      tenants: (range) => Effect.map(store.windowsDue(range), ({ tenantIds }) => tenantIds),
      step: Effect.fnUntraced(function*(tenantId: string) {
        const { closed, more } = yield* store.closeWindows(tenantId)
        if (closed > 0) yield* wakeups.wake(tenantId)
        return { done: closed, more }
      })
    })

    const pauseMillis = Effect.map(store.windowsDue({ after: undefined, limit: 1 }), ({ nextDueInMillis = maxPauseMillis, tenantIds }) =>
      Math.max(1, Math.min(nextDueInMillis, tenantIds.length > 0 ? lockedPauseMillis : maxPauseMillis)))

    return ChargeWindows.of({ closeDue: Effect.withSpan(sweep.sweep, "ChargeWindows.closeDue"), run: sweep.run(pauseMillis) })
  }))
}
