/** Descriptions of a caller's own subscriptions in OpenAPI documents. Those in area D and those of carriers to pickups are created, changed and deleted alike. */
import { Schema } from "effect"

export const ownSubscriptionId = {
  subscriptionId: { description: "Id of one of the caller's own subscriptions. Any other id answers 404.", missing: "No such subscription of this caller." }
}

export const createdHeaders = { "Location": { description: "Where the subscription is.", schema: Schema.String.annotate({ format: "uri-reference" }) } }

export const createConflict = "A quota is used up."

/** `reset`: the members that null takes back, such as "delivery or one of its members". */
export const patchDescription = (reset: string): string =>
  `JSON merge patch (RFC 7396): members that are not named stay as they are; null takes ${reset} back to the default. ` +
  "The status of a subscription that the operator paused cannot be changed: 409 with the reason."

export const patchConflict = "An operator paused the subscription."

export const deleteDescription = "Deliveries stop immediately. Deleting an own subscription again succeeds, as long as finished deliveries are kept."
