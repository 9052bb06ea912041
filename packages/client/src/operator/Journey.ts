/** One shipment across all areas, as an operator sees it. */
import type { OpenList } from "../shared/OpenList.ts"
import type { Delivery } from "./Delivery.ts"
import type { DeliveringArea } from "./OperatorSubscription.ts"

export type Area = DeliveringArea | "invoices" | "pickups"

/** A shipment that a reference names. */
export interface NamedShipment {
  /** Where only its PRO is known, the PRO stands here. */
  readonly shipmentId: string
  readonly proNumber: string | null
  readonly bolNumber: string | null
  /** Standard Carrier Alpha Code. */
  readonly carrier: string | null
  /** Its milestone; else what happened last, in its area's words. */
  readonly status: string | null
  readonly lastAt: string | null
}

/** One thing that happened to a shipment. */
export interface JourneyEntry {
  readonly at: string
  readonly area: OpenList<Area>
  /** In the area's words: an event's type, a milestone, `updated`, `invoice created`, `pickup En Route`. */
  readonly kind: string
  /** One line for people. */
  readonly title: string
  /** What it is known by in its area: an eventId, a bill's or an invoice's uniqueID, a pickup number. */
  readonly reference: string | null
  /** The JSON of it. */
  readonly document: unknown
}

/** A delivery that carried something of the shipment. */
export interface JourneyDelivery extends Delivery {
  readonly area: OpenList<DeliveringArea>
}

export interface ShipmentJourney {
  readonly shipmentId: string
  readonly proNumber: string | null
  readonly bolNumber: string | null
  /** Who may see it. */
  readonly accounts: ReadonlyArray<string>
  /** Oldest first. */
  readonly entries: ReadonlyArray<JourneyEntry>
  /** Whether older entries were left out. */
  readonly truncated: boolean
  /** Newest first, 50 at most, of those that were looked at. */
  readonly deliveries: ReadonlyArray<JourneyDelivery>
  /** Deliveries of the tenant that are older than this were not looked at; `null` when all were. */
  readonly deliveriesSince: string | null
}
