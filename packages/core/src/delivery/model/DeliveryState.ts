/** The states of a delivery, as a table of transitions. */

/**
 * - `sending`: an attempt is under way.
 * - `waiting`: for its next attempt.
 * - `delivered`: a receiver accepted it.
 * - `dead`: a dead letter; its attempts are used up.
 * - `dismissed`: a dead letter that an operator put aside. It counts nowhere and is not recovered; it can still be retried.
 * - `cancelled`: its subscription was deleted, or purged while the delivery waited for a retry.
 */
export const transitions = {
  sending: ["delivered", "waiting", "dead", "cancelled"],
  waiting: ["sending", "cancelled"],
  dead: ["waiting", "dismissed"],
  dismissed: ["waiting"],
  delivered: ["waiting"],
  cancelled: []
} as const satisfies Record<string, ReadonlyArray<string>>

export type DeliveryState = keyof typeof transitions

export const deliveryStates = Object.keys(transitions) as ReadonlyArray<DeliveryState>
