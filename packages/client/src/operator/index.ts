export { type Delivery, type DeliveryAttempt, type DeliveryInFull, type DeliveryState } from "./Delivery.ts"
export { type Area, type NamedShipment, type JourneyDelivery, type JourneyEntry, type ShipmentJourney } from "./Journey.ts"
export { type BreakerState, type DeliveringArea, type Lane, type LaneBreaker, type LaneState } from "./Lane.ts"
export { type Limits, type LimitsChange } from "./Limits.ts"
export {
  type ApiKey,
  type ApiKeyCreate,
  type OperatorPage,
  type DeliveriesPage,
  type DeliveryQuery,
  type LaneQuery,
  OperatorClient,
  type OperatorClientOptions,
  type PageQuery,
  type ReplayRange,
  type Secret,
  type SecretSettings,
  type SigningSecret,
  type Tenant,
  type TenantSettings
} from "./OperatorClient.ts"
