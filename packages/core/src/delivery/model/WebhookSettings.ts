/** Members that the subscriptions of several areas share: the address, the state and the delivery settings. */
import { Schema } from "effect"
import { webhookAddress } from "../../shared/WebhookAddress.ts"
import { policyMembers } from "./DeliveryPolicy.ts"

export const SubscriptionStatus = Schema.Literals(["active", "paused", "inactive"]).annotate({
  identifier: "SubscriptionStatus",
  message: "status is one of active, paused, inactive."
})
export type SubscriptionStatus = typeof SubscriptionStatus.Type

export const EndpointUrl = webhookAddress("endpointUrl")

/** `null` resets a member to the default. */
export const DeliveryPatch = Schema.Struct({
  maxAttempts: Schema.optionalKey(Schema.NullOr(policyMembers.maxAttempts)),
  initialBackoffSeconds: Schema.optionalKey(Schema.NullOr(policyMembers.initialBackoffSeconds)),
  maxBackoffSeconds: Schema.optionalKey(Schema.NullOr(policyMembers.maxBackoffSeconds)),
  batchMaxSize: Schema.optionalKey(Schema.NullOr(policyMembers.batchMaxSize)),
  rateLimitPerMinute: Schema.optionalKey(Schema.NullOr(policyMembers.rateLimitPerMinute))
}).annotate({ identifier: "DeliveryMetadataPatch" })
