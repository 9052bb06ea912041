/** A subscription to transit events (area D, Subscription). */
import { Schema } from "effect"
import { DeliveryMetadata } from "../../delivery/model/DeliveryPolicy.ts"
import { DeliveryPatch, EndpointUrl, SubscriptionStatus } from "../../delivery/model/WebhookSettings.ts"
import { HmacSecretId, ShipmentId } from "../../shared/Identifier.ts"
import { InstantText } from "../../shared/Instant.ts"
import { nullish } from "../../shared/Members.ts"
import { EventTypes } from "./EventType.ts"

/** Most shipments per subscription. */
export const maxShipmentIds = 1000

/** Both conditions must match. An absent or empty list matches everything. SPEC-GAP-D14 */
export const SubscriptionFilters = Schema.Struct({
  eventTypes: Schema.optionalKey(EventTypes),
  shipmentIds: Schema.optionalKey(
    Schema.Array(ShipmentId).check(Schema.isMaxLength(maxShipmentIds, { message: `At most ${maxShipmentIds} shipmentIds.` }))
  )
}).annotate({ identifier: "SubscriptionFilters" })
export type SubscriptionFilters = typeof SubscriptionFilters.Type

const settings = {
  endpointUrl: EndpointUrl,
  hmacSecretId: HmacSecretId,
  filters: Schema.optionalKey(SubscriptionFilters),
  delivery: Schema.optionalKey(DeliveryMetadata)
}

/** Body of the create call. */
export const SubscriptionCreate = Schema.Struct(settings).annotate({ identifier: "SubscriptionCreate" })
export type SubscriptionCreate = typeof SubscriptionCreate.Type

/** A subscription's settings after a merge patch. `status` is the only member that create does not accept. */
export const PatchedSubscription = Schema.Struct({ ...settings, status: SubscriptionStatus })
export type PatchedSubscription = typeof PatchedSubscription.Type

const FiltersPatch = Schema.Struct({
  eventTypes: nullish(EventTypes),
  shipmentIds: nullish(SubscriptionFilters.fields.shipmentIds.schema)
}).annotate({ identifier: "SubscriptionFiltersPatch" })

const patched = {
  endpointUrl: Schema.optionalKey(EndpointUrl),
  /** One that the subscription's client may use. */
  hmacSecretId: Schema.optionalKey(HmacSecretId),
  /** Of transit events only. */
  filters: nullish(FiltersPatch),
  delivery: nullish(DeliveryPatch)
}

/** Members of an operator's merge patch: operators pause and resume by calls of their own. */
export const SubscriptionEdit = Schema.Struct(patched).annotate({ identifier: "SubscriptionEdit" })

/**
 * Members of a merge patch. `null` resets `filters`, `delivery` or one of their members to the default. The address, the secret and the
 * status cannot be removed.
 */
export const SubscriptionPatch = Schema.Struct({
  ...patched,
  status: Schema.optionalKey(SubscriptionStatus)
}).annotate({ identifier: "SubscriptionPatch" })
export type SubscriptionPatch = typeof SubscriptionPatch.Type

/** A subscription as Waybill returns it. `delivery` always has every member, including defaults. */
export const TransitSubscription = Schema.Struct({
  id: Schema.String,
  ...settings,
  createdAt: InstantText,
  updatedAt: InstantText,
  status: SubscriptionStatus
}).annotate({ identifier: "Subscription" })
export type TransitSubscription = typeof TransitSubscription.Type

/** Most subscriptions on a page (area D). */
export const maxSubscriptionPageSize = 200
/** Subscriptions on a page without `pageSize` (area D). */
export const defaultSubscriptionPageSize = 50
