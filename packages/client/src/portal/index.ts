export * from "./PortalClient.ts"
export type * from "./PortalSession.ts"
export { NoticeMalformed, type NoticeEvent, type WebhookTestEvent } from "./PortalWebhooks.ts"
