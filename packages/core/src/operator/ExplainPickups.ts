/** Evaluates the rules of subscriptions to pickups: whether one would get the changes of a pickup. */
import { Effect } from "effect"
import type { DestinationOverview } from "../delivery/DeliveryQueue.ts"
import { findPickup } from "../pickups/PickupRecords.ts"
import { PickupStore } from "../pickups/PickupStore.ts"
import { PickupSubscriptionStore } from "../pickups/PickupSubscriptionStore.ts"
import type { Subject } from "./ExplainAreas.ts"
import { decided, reason } from "./Verdict.ts"

export const makeExplainPickups = Effect.gen(function*() {
  const store = yield* PickupStore
  const subscriptions = yield* PickupSubscriptionStore

  /** The rule that excludes the subject; if there is none, the time of its last change. */
  const verdictOf = Effect.fnUntraced(function*(tenantId: string, { client }: DestinationOverview, { events, pickups }: Subject) {
    if (events !== undefined) return decided("not_matched", reason("topics", "a change of a pickup", "a transit event"))
    if (pickups.length === 0) return decided("not_matched", reason("pickups", "a pickup of the subject", "none"))
    if (pickups.every(({ isTest }) => isTest)) return decided("not_matched", reason("isTest", "False", "True: changes of test pickups are not sent"))
    const seen = yield* Effect.filter(pickups, ({ pickupId }) => subscriptions.clientSees(tenantId, client, pickupId))
    if (seen.length === 0) {
      const carriers = [...new Set(pickups.flatMap(({ carrier = [] }) => carrier.map((grant) => grant.trim())))]
      return decided("not_visible", reason("access", "a pickup that no carrier has decided, or that the client has", `${client} is not its carrier${carriers.length === 0 ? "" : `, which is ${carriers.join(", ")}`}`))
    }
    const histories = yield* Effect.forEach(seen, ({ pickupId }) => store.history(tenantId, pickupId))
    return Math.max(...histories.flatMap((entries) => entries.map(({ at }) => at)))
  })

  return { named: (tenantId: string, pickupId: string) => findPickup(store, tenantId, "all", pickupId), verdictOf }
})
