export { type EgressPolicy, isAllowedAddress, isOpenedHost, parseEgressAllow, publicOnly, refusalOfUrl } from "./AddressGuard.ts"
export type { ResolveName } from "./GuardedConnector.ts"
export { HmacNode } from "./HmacNode.ts"
export { WebhookSenderHttp, type WebhookSenderHttpOptions } from "./WebhookSenderHttp.ts"
