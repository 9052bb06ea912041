export { type Delivery, type DeliveryAttempt, type DeliveryError, deliveryErrors, type DeliveryInFull, type DeliveryState } from "./Delivery.ts"
export { type Explanation, type ExplainSubject, type Verdict, type WaitReason } from "./Explanation.ts"
export { type Area, type NamedShipment, type JourneyDelivery, type JourneyEntry, type ShipmentJourney } from "./Journey.ts"
export { type AuditEntry, type AuditQuery } from "./Audit.ts"
export { type OperatorPickup, type OperatorPickupQuery } from "./OperatorPickup.ts"
export { type Statistics, type StatisticsPoint, type StatisticsQuery, type StatisticsSeries } from "./Statistics.ts"
export { type PageQuery } from "../connection/CursorPages.ts"
export { type Limits, type LimitsChange } from "./Limits.ts"
export {
  type ApiKey,
  type ApiKeyCreate,
  type BulkResult,
  type DeadLettersFilter,
  type OperatorPage,
  type DeliveriesPage,
  type DeliveryQuery,
  OperatorClient,
  type PortalLink,
  type PortalLinkCreate,
  type OperatorClientOptions,
  type PurgeFilter,
  type PurgeResult,
  type ReplayRange,
  type Secret,
  type SecretSettings,
  type SigningSecret,
  type OperatorSubscriptionQuery,
  type Client,
  type ListedApiKey,
  type Tenant,
  type TenantSettings
} from "./OperatorClient.ts"
export {
  type BreakerState,
  type DeliveringArea,
  type Health,
  type OperatorSubscription,
  type PausedBy,
  type SubscriptionBreaker,
  type SubscriptionChange,
  type SubscriptionState,
  type TenantHealth
} from "./OperatorSubscription.ts"
