export { type EventBatch, EventBatchMalformed, parseEventBatch } from "./EventBatch.ts"
export {
  type DocumentType,
  type EventDocument,
  type EventType,
  eventTypes,
  type Location,
  type LocationType,
  type Shipment,
  type ShipmentReference,
  type TransitEvent,
  type TransportationMode
} from "./TransitEvent.ts"
export {
  type EventQuery,
  type EventsPage,
  type SubscriptionQuery,
  type SubscriptionsPage,
  TransitEventsClient,
  type TransitEventsClientOptions
} from "./TransitEventsClient.ts"
export {
  type DeliveryMetadata,
  type SubscriptionFilters,
  type SubscriptionStatus,
  type TransitSubscription,
  type TransitSubscriptionCreate,
  type TransitSubscriptionPatch
} from "./TransitSubscription.ts"
