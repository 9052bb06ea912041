/** Errors of operators' calls about deliveries and secrets. */
import { Schema } from "effect"

/** No delivery of this id in the tenant. */
export class DeliveryNotFound extends Schema.TaggedError<DeliveryNotFound>()("DeliveryNotFound", { deliveryId: Schema.String }) {
  override get message(): string {
    return `No delivery ${this.deliveryId} in this tenant. Take the id from the list of deliveries or from a receiver's webhook-id.`
  }
}

/** The delivery cannot be sent again in its present state. */
export class DeliveryNotRetryable extends Schema.TaggedError<DeliveryNotRetryable>()("DeliveryNotRetryable", {
  deliveryId: Schema.String,
  state: Schema.String
}) {
  override get message(): string {
    return this.state === "sending"
      ? `Delivery ${this.deliveryId} is being sent right now. Wait for the outcome of that attempt.`
      : `Delivery ${this.deliveryId} is ${this.state}: its subscription was deleted, or retention removed its bytes. There is nothing to send, or no address to send it to.`
  }
}

/** Only a dead letter can be dismissed. */
export class DeliveryNotDismissable extends Schema.TaggedError<DeliveryNotDismissable>()("DeliveryNotDismissable", {
  deliveryId: Schema.String,
  state: Schema.String
}) {
  override get message(): string {
    return `Delivery ${this.deliveryId} is ${this.state}, not dead. Only dead letters can be dismissed.`
  }
}

/** The client cannot resume the subscription, because an operator paused it. */
export class SubscriptionPausedByOperator extends Schema.TaggedError<SubscriptionPausedByOperator>()("SubscriptionPausedByOperator", {
  subscriptionId: Schema.String,
  /** The operator's own words. */
  reason: Schema.String
}) {
  override get message(): string {
    return `Subscription ${this.subscriptionId} was paused by the operator and stays paused until the operator resumes it. Reason: ${this.reason}`
  }
}

/** No destination, and so no subscription, of this id in the tenant. */
export class DestinationNotFound extends Schema.TaggedError<DestinationNotFound>()("DestinationNotFound", { destinationId: Schema.String }) {
  override get message(): string {
    return `No subscription ${this.destinationId} in this tenant. It may have been deleted.`
  }
}

/** No secret of this id in the tenant. For operators; clients get the fault of an unknown reference. */
export class SecretNotFound extends Schema.TaggedError<SecretNotFound>()("SecretNotFound", { hmacSecretId: Schema.String }) {
  override get message(): string {
    return `No secret ${this.hmacSecretId} in this tenant. Register it with PUT …/secrets/${this.hmacSecretId}.`
  }
}

/** The secret signs for a subscription that was not deleted. */
export class SecretInUse extends Schema.TaggedError<SecretInUse>()("SecretInUse", { hmacSecretId: Schema.String }) {
  override get message(): string {
    return `Secret ${this.hmacSecretId} still signs for a subscription. Delete the subscription or have it name another secret, then delete the secret.`
  }
}

/** The subscription's client may not use the subscription's secret any more. */
export class SecretNotUsable extends Schema.TaggedError<SecretNotUsable>()("SecretNotUsable", {
  hmacSecretId: Schema.String,
  client: Schema.String
}) {
  override get message(): string {
    return `Secret ${this.hmacSecretId} does not belong to ${this.client}. Give it to this client with PUT …/secrets/${this.hmacSecretId} and rotate: false, or have the subscription name another secret.`
  }
}

/** No sealing key of this process opens the stored secret. */
export class SecretUnreadable extends Schema.TaggedError<SecretUnreadable>()("SecretUnreadable", { hmacSecretId: Schema.String }) {
  override get message(): string {
    return `Secret ${this.hmacSecretId} was sealed with a key this process does not have. Start it with the WAYBILL_SEALING_KEY that sealed it.`
  }
}
