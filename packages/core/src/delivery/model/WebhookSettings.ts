/** Members of subscriptions of several areas: address, state and delivery settings. */
import { Schema, Struct } from "effect"
import { webhookAddress } from "../../shared/WebhookAddress.ts"
import { policyMembers } from "./DeliveryPolicy.ts"

/** The `status` of a subscription; the meaning is that of `DestinationState`. SPEC-GAP-D9 */
export const SubscriptionStatus = Schema.Literals(["active", "paused", "inactive"]).annotate({
  identifier: "SubscriptionStatus",
  message: "status is one of active, paused, inactive."
})
/** One of `active`, `paused` and `inactive`. */
export type SubscriptionStatus = typeof SubscriptionStatus.Type

/** The `endpointUrl` of a subscription. */
export const EndpointUrl = webhookAddress("endpointUrl")

/** The `delivery` member of a merge patch. `null` resets a member to its default. */
export const DeliveryPatch = Schema.Struct(policyMembers)
  .mapFields(Struct.map(Schema.NullOr))
  .mapFields(Struct.map(Schema.optionalKey))
  .annotate({ identifier: "DeliveryMetadataPatch" })
