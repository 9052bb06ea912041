/** Once an hour, what was settled long ago is removed. */
import { AccessStore, DeliveryOptions, DeliveryQueue } from "@waybill/core"
import { Effect } from "effect"
import * as Clock from "effect/Clock"

/** One pass over every tenant, in steps small enough that nobody waits for them. */
export const pruneSettled = Effect.fnUntraced(function*() {
  const access = yield* AccessStore
  const queue = yield* DeliveryQueue
  const { keepSettledMillis } = yield* DeliveryOptions
  const before = (yield* Clock.currentTimeMillis) - keepSettledMillis
  let removed = 0
  for (const { tenantId } of yield* access.listTenants) {
    for (;;) {
      const pruned = yield* queue.prune(tenantId, before)
      removed += pruned
      if (pruned === 0) break
    }
  }
  if (removed > 0) yield* Effect.logInfo("Deliveries settled long ago were removed.").pipe(Effect.annotateLogs({ removed }))
})

/** For ever. A pass that fails is made up for by the next. */
export const keepPruning = Effect.sleep("1 minute").pipe(
  Effect.andThen(
    pruneSettled().pipe(
      Effect.catchTag("StorageError", (error) => Effect.logWarning("Old deliveries could not be removed; the next try is in an hour.", error)),
      Effect.andThen(Effect.sleep("1 hour")),
      Effect.forever
    )
  )
)
