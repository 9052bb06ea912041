/** Area D in the registries of the service. */
import { Effect, Layer } from "effect"
import type { AreaDescriptor } from "../shared/Area.ts"
import type { SubscriptionCreate } from "./model/TransitSubscription.ts"
import { TransitEvents } from "./TransitEvents.ts"
import { TransitEventStore } from "./TransitEventStore.ts"
import { transitEventSource, TransitSubscriptions } from "./TransitSubscriptions.ts"
import { TransitSubscriptionStore } from "./TransitSubscriptionStore.ts"

export const transitEventsArea = {
  name: "transit-events",
  stores: [TransitEventStore, TransitSubscriptionStore],
  services: Layer.mergeAll(TransitEvents.layer, TransitSubscriptions.layer),
  subscriptions: {
    sources: [transitEventSource],
    filtersOf: ({ filters }: SubscriptionCreate) => filters ?? {},
    store: Effect.map(TransitSubscriptionStore, ({ documents, prune, remove }) => ({ documents, end: remove, prune }))
  }
} as const satisfies AreaDescriptor
