/** One shipment across all areas, in the operator API. */
import type { OpenList } from "../shared/OpenList.ts"
import type { Delivery } from "./Delivery.ts"
import type { DeliveringArea } from "./OperatorSubscription.ts"

/** An area whose entries a journey has. */
export type Area = Exclude<DeliveringArea, "notices"> | "invoices"

/** A shipment that matches a reference. */
export interface NamedShipment {
  /** The PRO, when only that is known. */
  readonly shipmentId: string
  readonly proNumber: string | null
  readonly bolNumber: string | null
  /** Standard Carrier Alpha Code. */
  readonly carrier: string | null
  /** Its milestone, or the last event in the terms of its area. */
  readonly status: string | null
  readonly lastAt: string | null
}

/** One entry in the history of a shipment. */
export interface JourneyEntry {
  readonly at: string
  readonly area: OpenList<Area>
  /** The term of the area: an event type, a milestone, `updated`, `invoice created`, `pickup En Route`. */
  readonly kind: string
  /** One line of text for people. */
  readonly title: string
  /** Id in the area: an eventId, the uniqueID of a bill or invoice, a pickup number. */
  readonly reference: string | null
  /** The full JSON. */
  readonly document: unknown
}

/** A delivery that contained data of the shipment. */
export interface JourneyDelivery extends Delivery {
  readonly area: OpenList<DeliveringArea>
}

/** Everything that happened to one shipment in all areas, and the deliveries that sent it. */
export interface ShipmentJourney extends Pick<NamedShipment, "shipmentId" | "proNumber" | "bolNumber"> {
  /** Accounts that have access. */
  readonly accounts: ReadonlyArray<string>
  /** Oldest first. */
  readonly entries: ReadonlyArray<JourneyEntry>
  /** Whether older entries are missing. */
  readonly truncated: boolean
  /** Newest first, at most 50, out of the deliveries that were searched. */
  readonly deliveries: ReadonlyArray<JourneyDelivery>
  /** Older deliveries of the tenant were not searched; `null` when all were. */
  readonly deliveriesSince: string | null
}
