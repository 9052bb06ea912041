/** Evaluates the rules of subscriptions to pickups: whether one would get the changes of a pickup. */
import { Effect, Option } from "effect"
import type { DestinationOverview } from "../delivery/DeliveryQueue.ts"
import { isPickupNumber, isTestNumber } from "../pickups/model/PickupLookup.ts"
import { PickupNotFound } from "../pickups/PickupErrors.ts"
import { type PickupRow, PickupStore } from "../pickups/PickupStore.ts"
import { PickupSubscriptionStore } from "../pickups/PickupSubscriptionStore.ts"
import { isUniqueId } from "../shared/UniqueIds.ts"
import type { Subject } from "./ExplainAreas.ts"
import { decided, reason } from "./Verdict.ts"

export const makeExplainPickups = Effect.gen(function*() {
  const store = yield* PickupStore
  const subscriptions = yield* PickupSubscriptionStore

  /** Finds a pickup by its number, or by the service's id. */
  const named = Effect.fnUntraced(function*(tenantId: string, pickupId: string) {
    const byNumber = isPickupNumber(pickupId)
      ? yield* store.find(tenantId, "all", { number: pickupId, isTest: isTestNumber(pickupId) })
      : Option.none<PickupRow>()
    const found = Option.isNone(byNumber) && isUniqueId(pickupId) ? yield* store.findById(tenantId, "all", pickupId) : byNumber
    if (Option.isNone(found)) return yield* new PickupNotFound({ pickupId })
    return found.value
  })

  /** The rule that excludes the subject; if there is none, the time of its last change. */
  const verdictOf = Effect.fnUntraced(function*(tenantId: string, { client }: DestinationOverview, { event, pickups }: Subject) {
    if (event !== undefined) return decided("not_matched", reason("topics", "a change of a pickup", "a transit event"))
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

  return { named, verdictOf }
})
