/** What a transport layer provides: it sends webhooks, signs and hashes, and seals secrets. */
import type { Hmac } from "./delivery/secrets/Hmac.ts"
import type { Sealer } from "./delivery/secrets/Sealer.ts"
import type { WebhookSender } from "./delivery/WebhookSender.ts"
import type { ContentHash } from "./invoices/ContentHash.ts"

/** Every transport port. */
export type TransportPorts = WebhookSender | Hmac | ContentHash | Sealer
