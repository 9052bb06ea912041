/** Creates signed deliveries, to test a receiver without a sender. */
import type { Bytes } from "../shared/Bytes.ts"
import type { PreliminaryFreightCharge } from "../freight-charges/FreightCharge.ts"
import type { PickupBatch } from "../intake/PickupBatch.ts"
import type { PickupChange } from "../intake/ReportedPickup.ts"
import type { NoticeEvent } from "../portal/PortalWebhooks.ts"
import type { StatusNotification } from "../shipment-status/StatusNotification.ts"
import type { EventBatch } from "../transit-events/EventBatch.ts"
import type { TransitEvent } from "../transit-events/TransitEvent.ts"
import { copyOfBytes, type DeliveryBody } from "./DeliveryBody.ts"
import { randomToken } from "../shared/RandomToken.ts"
import { bodySignature, isDeliveryId, longestId, type SignatureHeaders, type SignatureScheme, standardSignature } from "./Signature.ts"
import type { WebhookSecrets } from "./WebhookSecret.ts"

/** Content of a test delivery: one of the kinds, or any body. */
export type SignedContent =
  | { readonly events: ReadonlyArray<TransitEvent> }
  | { readonly status: StatusNotification }
  | { readonly charges: ReadonlyArray<PreliminaryFreightCharge> }
  | { readonly pickups: ReadonlyArray<PickupChange> }
  | { readonly notice: NoticeEvent }
  | { readonly body: DeliveryBody }

/** What to sign, with which secrets, as whom and when. */
export type SignDeliveryOptions<Scheme extends SignatureScheme = "standard-webhooks"> = SignedContent & {
  /** With several, as during a rotation, each adds a signature; `x-signature` uses the first. */
  readonly secrets: WebhookSecrets
  /** Default: random. Sign with the same id again to test a second attempt. */
  readonly deliveryId?: string | undefined
  /** When the delivery is signed. Default: now. */
  readonly now?: Date | undefined
  /** Default `standard-webhooks`. */
  readonly signature?: Scheme | undefined
}

/** A signed request, in every form that a receiver takes. */
export interface SignedDelivery<Scheme extends SignatureScheme = "standard-webhooks"> {
  readonly deliveryId: string
  readonly headers: SignedHeaders[Scheme]
  readonly body: Bytes
  /** A new POST request each time. Default URL: `https://receiver.test/`. */
  readonly toRequest: (url?: string) => Request
}

type SignedHeaders = {
  readonly "standard-webhooks": SignatureHeaders & { readonly "content-type": string }
  readonly "x-signature": { readonly "content-type": string; readonly "webhook-id": string; readonly "x-signature": string }
}

/** Creates a delivery as a sender signs it. */
export const signDelivery = async <Scheme extends SignatureScheme = "standard-webhooks">(
  options: SignDeliveryOptions<Scheme>
): Promise<SignedDelivery<Scheme>> => {
  const { deliveryId = `test-${randomToken()}`, now = new Date(), secrets, signature } = options
  if (!isDeliveryId(deliveryId)) throw new TypeError(`A deliveryId is 1 to ${longestId} printable ASCII characters without blanks and dots.`)
  const body = bodyOf(options, deliveryId, now)
  const signed = signature === "x-signature"
    ? { "webhook-id": deliveryId, "x-signature": await bodySignature({ secrets, body }) }
    : await standardSignature({ secrets, deliveryId, body, now })
  // The compiler does not relate the branch taken to `Scheme`.
  const headers = { "content-type": "application/json", ...signed } as SignedHeaders[Scheme]
  return { deliveryId, headers, body, toRequest: (url = "https://receiver.test/") => new Request(url, { method: "POST", headers, body }) }
}

const bodyOf = (content: SignedContent, deliveryId: string, now: Date): Bytes => {
  if ("body" in content) return copyOfBytes(content.body)
  if ("status" in content) return copyOfBytes(JSON.stringify(content.status))
  if ("charges" in content) return copyOfBytes(JSON.stringify(content.charges))
  if ("notice" in content) return copyOfBytes(JSON.stringify(content.notice))
  const sentAt = now.toISOString()
  const batch: EventBatch | PickupBatch = "pickups" in content ? { deliveryId, sentAt, pickups: content.pickups } : { deliveryId, sentAt, events: content.events }
  return copyOfBytes(JSON.stringify(batch))
}
