/** The area of a destination's source. */
import { chargeSource, chargeWindowSource } from "../freight-charges/ChargeSubscriptions.ts"
import { pickupSource } from "../pickups/PickupSubscriptions.ts"
import { shipmentStatusSource } from "../shipment-status/StatusSubscriptions.ts"
import { transitEventSource } from "../transit-events/TransitSubscriptions.ts"

export type DeliveringArea = "transit-events" | "shipment-status" | "freight-charges" | "pickups"

/** The source names of each area. */
export const sourcesOfArea: Readonly<Record<DeliveringArea, ReadonlyArray<string>>> = {
  "transit-events": [transitEventSource],
  "shipment-status": [shipmentStatusSource],
  "freight-charges": [chargeSource, chargeWindowSource],
  "pickups": [pickupSource]
}

const areas = new Map(Object.entries(sourcesOfArea).flatMap(([area, sources]) => sources.map((source) => [source, area as DeliveringArea])))

/** A source of another area is returned unchanged. */
export const areaOfSource = (source: string): string => areas.get(source) ?? source
