/** Everything the service does, as one layer over a storage layer and a transport layer. */
import { Layer } from "effect"
import { ApiKeys } from "./access/ApiKeys.ts"
import { Tenants } from "./access/Tenants.ts"
import { Deliveries } from "./delivery/Deliveries.ts"
import { DeliveryWorker } from "./delivery/DeliveryWorker.ts"
import { Retention } from "./delivery/Retention.ts"
import { SigningSecrets } from "./delivery/SigningSecrets.ts"
import { TransitEventIntake } from "./intake/TransitEventIntake.ts"
import { UniqueIds } from "./shared/UniqueIds.ts"
import { TransitEvents } from "./transit-events/TransitEvents.ts"
import { TransitSubscriptions } from "./transit-events/TransitSubscriptions.ts"

/**
 * All use cases and the delivery worker (not started).
 *
 * Needs a storage layer (`Transaction`, `AccessStore`, `SecretStore`, `TransitEventStore`, `TransitSubscriptionStore`,
 * `DeliveryQueue`, `Wakeups`), a transport layer (`WebhookSender`, `Hmac`), a `Sealer` and `DeliveryOptions`.
 */
export const layer = Layer.mergeAll(
  TransitEventIntake.layer,
  TransitSubscriptions.layer,
  Deliveries.layer,
  DeliveryWorker.layer,
  Retention.layer,
  ApiKeys.layer
).pipe(
  Layer.provideMerge(Layer.mergeAll(TransitEvents.layer, SigningSecrets.layer)),
  Layer.provideMerge(Tenants.layer),
  Layer.provideMerge(UniqueIds.layer)
)
