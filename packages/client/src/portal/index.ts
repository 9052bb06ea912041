export {
  PortalClient,
  type PortalClientOptions,
  type NoticeWebhook,
  type PortalContact,
  type NoticeKind,
  type PortalContactChange,
  type PortalDelivery,
  type PortalDeliveryQuery,
  type PortalSubscription,
  type PortalSubscriptionQuery,
  type PortalTest,
  type SecretRotation
} from "./PortalClient.ts"
export { type PortalSession, type PortalTheme } from "./PortalSession.ts"
