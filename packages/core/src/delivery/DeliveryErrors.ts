/** Errors of calls about deliveries, subscriptions, secrets and webhook tests. */
import { Schema } from "effect"
import { taggedFailure } from "../shared/TaggedFailure.ts"

/** No delivery of this id in the tenant. */
export class DeliveryNotFound extends taggedFailure<DeliveryNotFound>()("DeliveryNotFound", { deliveryId: Schema.String }, ({ deliveryId }) =>
  `No delivery ${deliveryId}. Take the id from the list of deliveries or from a receiver's webhook-id.`) {}

/** The delivery cannot be sent again in its present state. */
export class DeliveryNotRetryable extends taggedFailure<DeliveryNotRetryable>()("DeliveryNotRetryable", {
  deliveryId: Schema.String,
  state: Schema.String,
  /** Why it can never be sent again, in a sentence. */
  reason: Schema.optionalKey(Schema.String)
}, ({ deliveryId, reason }) =>
  reason === undefined
    ? `Delivery ${deliveryId} is being sent right now. Wait for the outcome of that attempt.`
    : `Delivery ${deliveryId} cannot be sent again. ${reason}`) {}

/** Only a dead letter can be dismissed. */
export class DeliveryNotDismissable extends taggedFailure<DeliveryNotDismissable>()("DeliveryNotDismissable", {
  deliveryId: Schema.String,
  state: Schema.String
}, ({ deliveryId, state }) => `Delivery ${deliveryId} is ${state}, not dead. Only dead letters can be dismissed.`) {}

/** The client cannot resume the subscription, because an operator paused it. */
export class SubscriptionPausedByOperator extends taggedFailure<SubscriptionPausedByOperator>()("SubscriptionPausedByOperator", {
  subscriptionId: Schema.String,
  /** The operator's own words. */
  reason: Schema.String
}, ({ reason, subscriptionId }) => `Subscription ${subscriptionId} was paused by the operator and stays paused until the operator resumes it. Reason: ${reason}`) {}

/** No destination, and so no subscription, of this id in the tenant. */
export class DestinationNotFound extends taggedFailure<DestinationNotFound>()("DestinationNotFound", { destinationId: Schema.String }, ({ destinationId }) =>
  `No subscription ${destinationId}. It may have been deleted: take an id from the list of subscriptions.`) {}

/** Whether a client reads the message: it cannot do what an operator can. */
const forClient = Schema.optionalKey(Schema.Boolean)

/** No secret of this id in the tenant, or none that belongs to the client alone. */
export class SecretNotFound extends taggedFailure<SecretNotFound>()("SecretNotFound", { hmacSecretId: Schema.String, forClient }, ({ forClient, hmacSecretId }) =>
  forClient === true
    ? `No secret ${hmacSecretId} belongs to you alone. Take the name from the list of your secrets, or ask the operator for a secret.`
    : `No secret ${hmacSecretId} in this tenant. Register it with PUT …/secrets/${hmacSecretId}.`) {}

/** The secret signs for a subscription that was not deleted. */
export class SecretInUse extends taggedFailure<SecretInUse>()("SecretInUse", { hmacSecretId: Schema.String }, ({ hmacSecretId }) =>
  `Secret ${hmacSecretId} still signs for a subscription. Delete the subscription or have it name another secret, then delete the secret.`) {}

/** The subscription's client may not use the subscription's secret any more. */
export class SecretNotUsable extends taggedFailure<SecretNotUsable>()("SecretNotUsable", {
  hmacSecretId: Schema.String,
  client: Schema.String,
  forClient
}, ({ client, forClient, hmacSecretId }) =>
  forClient === true
    ? `Secret ${hmacSecretId} no longer belongs to you, so nothing is signed with it. Name another secret in the subscription, or ask the operator for this one.`
    : `Secret ${hmacSecretId} does not belong to ${client}. Give it to this client with PUT …/secrets/${hmacSecretId} and rotate: false, or have the subscription name another secret.`) {}

/** No sealing key of this process opens the stored secret. */
export class SecretUnreadable extends taggedFailure<SecretUnreadable>()("SecretUnreadable", { hmacSecretId: Schema.String, forClient }, ({ forClient, hmacSecretId }) =>
  forClient === true
    ? `Secret ${hmacSecretId} cannot be read, so it was not rotated. Ask the operator to register it again.`
    : `Secret ${hmacSecretId} was sealed with a key this process does not have. Start it with the key that sealed it (WAYBILL_SEALING_KEY, or the option sealingKeys).`) {}

/** A client ran more webhook tests than it may per minute. */
export class TooManyWebhookTests extends taggedFailure<TooManyWebhookTests>()("TooManyWebhookTests", {
  limit: Schema.Int,
  retryAfterSeconds: Schema.Int
}, ({ limit, retryAfterSeconds }) => `A client may test webhooks ${limit} times a minute. Try again in ${retryAfterSeconds} second${retryAfterSeconds === 1 ? "" : "s"}.`) {}
