/** Recognizes the kind of a delivery by the shape of its body. */
import { checkFreightCharges, FreightChargesMalformed, type PreliminaryFreightCharge } from "../freight-charges/FreightCharge.ts"
import { BodyMalformed, checksOf, isObject } from "../shared/ReceivedJson.ts"
import { checkStatusNotification, type StatusNotification, StatusNotificationMalformed } from "../shipment-status/StatusNotification.ts"
import { checkEventBatch, type EventBatch } from "../transit-events/EventBatch.ts"
import { DeliveryRefused, type RefusalReason } from "./DeliveryRefused.ts"

export type ReceivedDelivery =
  | { readonly kind: "events"; readonly batch: EventBatch }
  | { readonly kind: "status"; readonly notification: StatusNotification }
  | { readonly kind: "charges"; readonly charges: ReadonlyArray<PreliminaryFreightCharge> }

const { json } = checksOf(BodyMalformed)

/** Throws when the body is not a delivery of any kind. */
export const readDelivery = (body: Uint8Array): ReceivedDelivery => {
  try {
    return deliveryOf(json(body))
  } catch (cause) {
    if (cause instanceof BodyMalformed) throw new DeliveryRefused(reasonOf(cause), cause.message, { cause })
    throw cause
  }
}

/** A body without marks of another kind is read as an event batch, and refused as one. */
const deliveryOf = (body: unknown): ReceivedDelivery => {
  if (Array.isArray(body) && isObject(body[0]) && Object.hasOwn(body[0], "pfc")) return { kind: "charges", charges: checkFreightCharges(body) }
  if (isObject(body) && (Object.hasOwn(body, "shipmentMilestoneStatus") || Object.hasOwn(body, "deliveryInformation_messages"))) {
    return { kind: "status", notification: checkStatusNotification(body) }
  }
  return { kind: "events", batch: checkEventBatch(body) }
}

const reasonOf = (cause: BodyMalformed): RefusalReason =>
  cause instanceof StatusNotificationMalformed ? "notification_malformed" : cause instanceof FreightChargesMalformed ? "charges_malformed" : "batch_malformed"
