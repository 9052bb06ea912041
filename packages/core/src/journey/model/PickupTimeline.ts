/** Timeline of pickups. */
import type { PickupEvent } from "../../pickups/model/PickupRecord.ts"
import type { TimelineEvent } from "./JourneyEntry.ts"

/** `reference` is the pickup number, or Waybill's id if it has none. */
export const timelineEventOfPickup = (reference: string, at: number, event: PickupEvent, size: number): TimelineEvent => ({
  at,
  area: "pickups",
  kind: event.what === "ordered" ? "pickup requested" : `pickup ${event.status}`,
  title: titleOf(event),
  reference,
  document: event,
  size
})

const titleOf = ({ by, status, what }: PickupEvent): string => {
  switch (what) {
    case "ordered":
      return `Pickup requested by ${by}: ${status}`
    case "changed":
      return `Pickup changed by ${by}: ${status}`
    case "change requested":
      return `Change of the pickup requested by ${by}`
    case "decided":
      return `Pickup decided by ${by}: ${status}`
    case "change not accepted":
      return `Change of the pickup by ${by} was not accepted`
    case "cancelled":
      return `Pickup cancelled by ${by}`
    case "reported":
      return `Pickup ${status}`
  }
}
