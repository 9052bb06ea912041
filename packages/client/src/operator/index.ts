export { type Delivery, type DeliveryAttempt, type DeliveryInFull, type DeliveryState } from "./Delivery.ts"
export {
  type ApiKey,
  type ApiKeyCreate,
  type DeliveriesPage,
  type DeliveryQuery,
  OperatorClient,
  type OperatorClientOptions,
  type ReplayRange,
  type SecretSettings,
  type SigningSecret,
  type TenantSettings
} from "./OperatorClient.ts"
