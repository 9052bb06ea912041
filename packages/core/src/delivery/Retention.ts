/** Removes settled deliveries when nobody will ask for them any more. */
import { Context, Effect, Layer } from "effect"
import * as Clock from "effect/Clock"
import { AccessStore } from "../access/AccessStore.ts"
import type { StorageError } from "../shared/StorageError.ts"
import { DeliveryOptions } from "./DeliveryOptions.ts"
import { DeliveryQueue } from "./DeliveryQueue.ts"

const pauseMillis = 3_600_000

export class Retention extends Context.Service<Retention, {
  /** Once through all tenants; answers how many deliveries went. */
  readonly sweep: Effect.Effect<number, StorageError>
  /** Sweeps every hour until interrupted. */
  readonly run: Effect.Effect<never>
}>()("@waybill/core/delivery/Retention") {
  static readonly layer = Layer.effect(
    Retention,
    Effect.gen(function*() {
      const queue = yield* DeliveryQueue
      const access = yield* AccessStore
      const { keepSettledMillis } = yield* DeliveryOptions

      const sweepTenant = Effect.fnUntraced(function*(tenantId: string, settledBefore: number) {
        let removed = 0
        for (;;) {
          const some = yield* queue.prune(tenantId, settledBefore)
          removed += some
          if (some === 0) return removed
          yield* Effect.yieldNow
        }
      })

      const sweep = Effect.gen(function*() {
        const settledBefore = (yield* Clock.currentTimeMillis) - keepSettledMillis
        const tenants = yield* access.listTenants
        const removed = yield* Effect.forEach(tenants, ({ tenantId }) => sweepTenant(tenantId, settledBefore))
        return removed.reduce((sum, each) => sum + each, 0)
      }).pipe(Effect.withSpan("Retention.sweep"))

      const run = Effect.forever(
        sweep.pipe(
          Effect.catchTag("StorageError", (error) => Effect.logWarning("Old deliveries could not be removed; the next sweep tries again.", error)),
          Effect.andThen(Effect.sleep(pauseMillis))
        )
      )

      return Retention.of({ sweep, run })
    })
  )
}
