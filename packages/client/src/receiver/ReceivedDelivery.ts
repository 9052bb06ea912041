/** Verifies a delivery and recognizes its kind by the shape of its body. */
import { checkFreightCharges, FreightChargesMalformed, type PreliminaryFreightCharge } from "../freight-charges/FreightCharge.ts"
import { checkPickupBatch, type PickupBatch, PickupBatchMalformed } from "../intake/PickupBatch.ts"
import { checkNotice, checkWebhookTest, isNotice, isWebhookTest, type NoticeEvent, NoticeMalformed, type WebhookTestEvent } from "../portal/PortalWebhooks.ts"
import { BodyMalformed, checksOf, isObject } from "../shared/ReceivedJson.ts"
import { checkStatusNotification, type StatusNotification, StatusNotificationMalformed } from "../shipment-status/StatusNotification.ts"
import { checkEventBatch, type EventBatch } from "../transit-events/EventBatch.ts"
import { copyOfBytes } from "./DeliveryBody.ts"
import { DeliveryRefused, type RefusalReason } from "./DeliveryRefused.ts"
import { readDeliveryId, type SignatureScheme, verifyDelivery, type VerifyDeliveryOptions, verifyXSignature } from "./Signature.ts"

/** Content of a delivery by kind. */
export type DeliveryContent =
  | { readonly kind: "events" } & EventBatch
  | { readonly kind: "status"; readonly notification: StatusNotification }
  | { readonly kind: "charges"; readonly charges: ReadonlyArray<PreliminaryFreightCharge> }
  /** For carriers: entries of the work list of pickups. */
  | { readonly kind: "pickups" } & PickupBatch
  | { readonly kind: "notice"; readonly notice: NoticeEvent }
  /** Answer 2xx: somebody tests whether this endpoint takes deliveries. */
  | { readonly kind: "test"; readonly test: WebhookTestEvent }

/** A verified delivery. `deliveryId` is the same for every attempt. */
export type ReceivedDelivery = DeliveryContent & { readonly deliveryId: string }

/** A received request and the secrets that verify it. */
export interface ReadDeliveryOptions extends VerifyDeliveryOptions {
  /** Required signature. Default `standard-webhooks`. `x-signature` has no timestamp and cannot stop late replays. */
  readonly signature?: SignatureScheme | undefined
}

/**
 * Verifies a delivery and returns its content.
 *
 * Does not recognize a repeated delivery: use `DeliveryReceiver` for that. Fails with `DeliveryRefused`, whose `status`
 * is the response, and with `WebhookSecretUnusable` or `RawBodyNeeded` when this receiver is misconfigured.
 */
export const readDelivery = async (options: ReadDeliveryOptions): Promise<ReceivedDelivery> => {
  // One copy for both steps: the content is the verified one, even if the buffer changes meanwhile.
  const body = copyOfBytes(options.body)
  const signed = { ...options, body }
  if (options.signature !== "x-signature") {
    const { deliveryId } = await verifyDelivery(signed)
    return { deliveryId, ...readContent(body) }
  }
  await verifyXSignature(signed)
  const content = readContent(body)
  return "deliveryId" in content ? content : { deliveryId: readDeliveryId(options.headers), ...content }
}

const { json } = checksOf(BodyMalformed)

/** Recognizes the kind of a body, without a signature. Fails with `DeliveryRefused` when it is not a delivery of any kind. */
export const readContent = (body: Uint8Array): DeliveryContent => {
  try {
    return contentOf(json(body))
  } catch (cause) {
    if (cause instanceof BodyMalformed) throw new DeliveryRefused(reasonOf(cause), cause.message, { cause })
    throw cause
  }
}

/** A body without marks of another kind is read as an event batch, and refused as one. */
const contentOf = (body: unknown): DeliveryContent => {
  if (Array.isArray(body) && isObject(body[0]) && Object.hasOwn(body[0], "pfc")) return { kind: "charges", charges: checkFreightCharges(body) }
  if (isObject(body) && (Object.hasOwn(body, "shipmentMilestoneStatus") || Object.hasOwn(body, "deliveryInformation_messages"))) {
    return { kind: "status", notification: checkStatusNotification(body) }
  }
  if (isObject(body) && Object.hasOwn(body, "pickups")) {
    const { deliveryId, pickups, sentAt } = checkPickupBatch(body)
    return { kind: "pickups", deliveryId, sentAt, pickups }
  }
  if (isNotice(body)) return { kind: "notice", notice: checkNotice(body) }
  if (isWebhookTest(body)) return { kind: "test", test: checkWebhookTest(body) }
  const { deliveryId, events, sentAt } = checkEventBatch(body)
  return { kind: "events", deliveryId, sentAt, events }
}

const reasonOf = (cause: BodyMalformed): RefusalReason => {
  if (cause instanceof StatusNotificationMalformed) return "notification_malformed"
  if (cause instanceof FreightChargesMalformed) return "charges_malformed"
  if (cause instanceof NoticeMalformed) return "notice_malformed"
  return cause instanceof PickupBatchMalformed ? "pickups_malformed" : "batch_malformed"
}
