/** The states of a delivery, as a table of transitions. */

/**
 * - `sending`: an attempt is in flight.
 * - `waiting`: waits for its next attempt.
 * - `delivered`: the receiver accepted it.
 * - `dead`: a dead letter, without attempts left.
 * - `dismissed`: a dead letter that an operator dismissed. It is not counted and not recovered, and can be retried.
 * - `cancelled`: before it was accepted, its subscription was deleted or purged, or its client lost access to one of its entries.
 */
export const transitions = {
  sending: ["delivered", "waiting", "dead", "cancelled"],
  waiting: ["sending", "cancelled"],
  dead: ["waiting", "dismissed"],
  dismissed: ["waiting"],
  delivered: ["waiting"],
  cancelled: []
} as const satisfies Record<string, ReadonlyArray<string>>

/** A state of `transitions`. */
export type DeliveryState = keyof typeof transitions

/** All states. */
export const deliveryStates = Object.keys(transitions) as ReadonlyArray<DeliveryState>
