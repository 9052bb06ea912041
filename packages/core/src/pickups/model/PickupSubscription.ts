/** A carrier's subscription to the changes of pickups, and its notifications. */
import { Schema } from "effect"
import { DeliveryMetadata } from "../../delivery/model/DeliveryPolicy.ts"
import { DeliveryPatch, EndpointUrl, SubscriptionStatus } from "../../delivery/model/WebhookSettings.ts"
import { HmacSecretId } from "../../shared/Identifier.ts"
import type { WithLists } from "../../shared/InvalidInput.ts"
import { InstantText } from "../../shared/Instant.ts"
import { IdCursor, ListLimit } from "../../shared/ListPage.ts"
import { nullish } from "../../shared/Members.ts"
import { PickupChangeEntry } from "./PickupChange.ts"

const Topics = Schema.Array(Schema.Literal("pickups").annotate({ message: "A topic is pickups." }))
  .check(Schema.isMinLength(1, { message: "Name a topic: pickups." }), Schema.isMaxLength(1, { message: "Name each topic once." }))

const settings = {
  topics: Topics,
  endpointUrl: EndpointUrl,
  hmacSecretId: HmacSecretId,
  delivery: Schema.optionalKey(DeliveryMetadata)
}

/** Body of the create call. */
export const PickupSubscriptionCreate = Schema.Struct(settings).annotate({ identifier: "PickupSubscriptionCreate" })
export type PickupSubscriptionCreate = typeof PickupSubscriptionCreate.Type
/** A carrier's subscription as it is sent. */
export type PickupSubscriptionInput = WithLists<typeof PickupSubscriptionCreate.Encoded>

/** The settings after a merge patch. */
export const PatchedPickupSubscription = Schema.Struct({ ...settings, status: SubscriptionStatus })

const edited = {
  endpointUrl: Schema.optionalKey(EndpointUrl),
  hmacSecretId: Schema.optionalKey(HmacSecretId),
  delivery: nullish(DeliveryPatch)
}

/** Members of an operator's merge patch: operators pause and resume by calls of their own. */
export const PickupSubscriptionEdit = Schema.Struct(edited).annotate({ identifier: "PickupSubscriptionEdit" })

/** Members of a merge patch. `null` resets `delivery` or one of its members to the default. */
export const PickupSubscriptionPatch = Schema.Struct({
  topics: Schema.optionalKey(Topics),
  ...edited,
  status: Schema.optionalKey(SubscriptionStatus)
}).annotate({ identifier: "PickupSubscriptionPatch" })
/** A change of a carrier's subscription as it is sent. */
export type PickupSubscriptionPatchInput = WithLists<typeof PickupSubscriptionPatch.Encoded>

/** A subscription as Waybill returns it. `delivery` always has every member, including defaults. */
export const PickupSubscription = Schema.Struct({
  id: Schema.String,
  ...settings,
  createdAt: InstantText,
  updatedAt: InstantText,
  status: SubscriptionStatus
}).annotate({ identifier: "PickupSubscription" })
export type PickupSubscription = typeof PickupSubscription.Type

/** A page of the carrier's own subscriptions, by id. */
export const PickupSubscriptionQuery = Schema.Struct({ cursor: IdCursor, limit: ListLimit })
/** `PickupSubscriptionQuery` as it is sent. */
export type PickupSubscriptionQueryInput = typeof PickupSubscriptionQuery.Encoded

/** The body of a delivery. */
export const PickupBatch = Schema.Struct({
  /** Equal for every attempt of the delivery. */
  deliveryId: Schema.String,
  /** When the batch was first sent. Every attempt sends the same bytes. */
  sentAt: InstantText,
  pickups: Schema.NonEmptyArray(PickupChangeEntry)
}).annotate({ identifier: "PickupBatch" })

/** JSON before and after the entries of a batch. The delivery engine fills in the two placeholders. */
export const pickupBatchEnvelope = {
  open: "{\"deliveryId\":\"{deliveryId}\",\"sentAt\":\"{sentAt}\",\"pickups\":[",
  close: "]}"
}
