/** Members that the subscriptions of several areas share: the address, the state and the delivery settings. */
import { Schema } from "effect"
import { webhookAddress } from "../../shared/WebhookAddress.ts"
import { DeliveryMetadata } from "./DeliveryPolicy.ts"

export const SubscriptionStatus = Schema.Literals(["active", "paused", "inactive"]).annotate({
  identifier: "SubscriptionStatus",
  message: "status is one of active, paused, inactive."
})
export type SubscriptionStatus = typeof SubscriptionStatus.Type

export const EndpointUrl = webhookAddress("endpointUrl")

/** `null` resets a member to the default. */
export const DeliveryPatch = Schema.Struct({
  maxAttempts: Schema.optionalKey(Schema.NullOr(DeliveryMetadata.fields.maxAttempts.schema)),
  initialBackoffSeconds: Schema.optionalKey(Schema.NullOr(DeliveryMetadata.fields.initialBackoffSeconds.schema)),
  maxBackoffSeconds: Schema.optionalKey(Schema.NullOr(DeliveryMetadata.fields.maxBackoffSeconds.schema)),
  batchMaxSize: Schema.optionalKey(Schema.NullOr(DeliveryMetadata.fields.batchMaxSize.schema)),
  rateLimitPerMinute: Schema.optionalKey(Schema.NullOr(DeliveryMetadata.fields.rateLimitPerMinute.schema))
}).annotate({ identifier: "DeliveryMetadataPatch" })
