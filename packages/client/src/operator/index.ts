export {
  type BulkResult,
  type DeadLettersFilter,
  type Delivery,
  type DeliveryAttempt,
  type DeliveryError,
  deliveryErrors,
  type DeliveryInFull,
  type DeliveryQuery,
  type DeliveryState
} from "./Delivery.ts"
export { type Explanation, type ExplainSubject, type Verdict, type WaitReason } from "./Explanation.ts"
export { type Area, type NamedShipment, type JourneyDelivery, type JourneyEntry, type ShipmentJourney } from "./Journey.ts"
export { type AuditEntry, type AuditQuery } from "./Audit.ts"
export { type OperatorPickup, type OperatorPickupQuery } from "./OperatorPickup.ts"
export { type Statistics, type StatisticsPoint, type StatisticsQuery, type StatisticsSeries } from "./Statistics.ts"
export { type PageQuery } from "../connection/CursorPages.ts"
export { type Limits, type LimitsChange } from "./Limits.ts"
export { type ApiKey, type ApiKeyCreate, type Client, type ListedApiKey } from "./ApiKey.ts"
export { type PortalLink, type PortalLinkCreate } from "./PortalLink.ts"
export { type Secret, type SecretSettings, type SigningSecret } from "./Secret.ts"
export { type Tenant, type TenantSettings } from "./Tenant.ts"
export { type DeliveriesPage, OperatorClient, type OperatorClientOptions, type OperatorPage } from "./OperatorClient.ts"
export {
  type BreakerState,
  type DeliveringArea,
  type Health,
  type OperatorSubscription,
  type OperatorSubscriptionQuery,
  type PausedBy,
  type PurgeFilter,
  type PurgeResult,
  type ReplayRange,
  type SubscriptionBreaker,
  type SubscriptionChange,
  type SubscriptionState,
  type TenantHealth
} from "./OperatorSubscription.ts"
