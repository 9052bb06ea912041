import { Wakeups } from "@waybill/core/delivery"
import { TestWaybill } from "@waybill/testkit"
import { Effect } from "effect"

/** Runs a test in a new service in memory. */
export const inService = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provide(effect, TestWaybill.layer())

/** The tenants that a worker has hints for, from now on. */
export const hintsOf = Effect.gen(function*() {
  const hints: Array<string> = []
  yield* (yield* Wakeups).serve({ hint: (tenantId) => void hints.push(tenantId), servesAlone: () => Effect.succeed(false) })
  return hints
})
