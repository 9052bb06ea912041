/** The published event types of area D, in published order. */
import { Schema } from "effect"

/** The 24 event types of area D, in the order of their bits in a filter's mask. Append only. */
export const eventTypes = [
  "PICKUP_SCHEDULED", "PICKUP_ATTEMPTED", "PICKED_UP", "ARRIVED_AT_TERMINAL", "DEPARTED_TERMINAL", "IN_TRANSIT", "DELAY", "EXCEPTION",
  "CUSTOMS_HOLD", "CUSTOMS_CLEARED", "OUT_FOR_DELIVERY", "DELIVERY_ATTEMPTED", "DELIVERED", "PROOF_OF_DELIVERY", "CANCELLED",
  "GATE_IN", "GATE_OUT", "VESSEL_LOADED", "VESSEL_UNLOADED", "RAIL_ARRIVAL", "RAIL_DEPARTURE", "AIR_DEPARTURE", "AIR_ARRIVAL", "OTHER"
] as const

/** An event type of area D. */
export const EventType = Schema.Literals(eventTypes).annotate({
  identifier: "EventType",
  message: `An event type is one of ${eventTypes.join(", ")}.`
})
export type EventType = typeof EventType.Type

/** Event types of a filter. */
export const EventTypes = Schema.Array(EventType).check(Schema.isMaxLength(eventTypes.length * 4, { message: "Name each event type once." }))

const bits = new Map<string, number>(eventTypes.map((type, index) => [type, 1 << index]))

/** Every event type. */
export const allTypes = (1 << eventTypes.length) - 1

/** Encodes event types as bits, so that matching needs one `AND`. The order is stored: append only. */
export const typeMask = (types: Iterable<EventType>): number => {
  let mask = 0
  for (const type of types) mask |= bits.get(type)!
  return mask
}
