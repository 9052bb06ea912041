/** Area C in the registries of the service. */
import { Effect, Layer } from "effect"
import type { AreaDescriptor, AreaRetention } from "../shared/Area.ts"
import type { PickupSubscriptionCreate } from "./model/PickupSubscription.ts"
import { pickupKeyMillis, Pickups } from "./Pickups.ts"
import { PickupSignals } from "./PickupSignals.ts"
import { PickupStore } from "./PickupStore.ts"
import { pickupSource, PickupSubscriptions } from "./PickupSubscriptions.ts"
import { PickupSubscriptionStore } from "./PickupSubscriptionStore.ts"

export const pickupsArea = {
  name: "pickups",
  stores: [PickupStore, PickupSignals, PickupSubscriptionStore],
  services: Layer.mergeAll(Pickups.layer, PickupSubscriptions.layer),
  subscriptions: {
    sources: [pickupSource],
    filtersOf: ({ topics }: PickupSubscriptionCreate) => ({ topics }),
    store: Effect.map(PickupSubscriptionStore, ({ documents, prune, remove }) => ({ documents, end: remove, prune }))
  },
  retention: Effect.map(PickupStore, ({ prune }): AreaRetention => (tenantId, now, { keepPickupsMillis }) =>
    prune(tenantId, { ordered: now - keepPickupsMillis, answered: now - pickupKeyMillis }))
} as const satisfies AreaDescriptor
