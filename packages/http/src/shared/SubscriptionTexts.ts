/** What the documents say of subscriptions in area D and of those of carriers to pickups, which are changed and deleted alike. */

/** `reset`: the members that null takes back, such as "delivery or one of its members". */
export const patchDescription = (reset: string): string =>
  `JSON merge patch (RFC 7396): members that are not named stay as they are; null takes ${reset} back to the default. ` +
  "The status of a subscription that the operator paused cannot be changed: 409 with the reason."

export const patchConflict = "An operator paused the subscription, or the secret does not exist or belongs to another client."

export const deleteDescription = "Deliveries stop immediately. Deleting an own subscription again succeeds."
