/** One event of a shipment in transit (area D, Event). */
import type { OpenList } from "../shared/OpenList.ts"

/** The published event types, in published order. */
export const eventTypes = [
  "PICKUP_SCHEDULED",
  "PICKUP_ATTEMPTED",
  "PICKED_UP",
  "ARRIVED_AT_TERMINAL",
  "DEPARTED_TERMINAL",
  "IN_TRANSIT",
  "DELAY",
  "EXCEPTION",
  "CUSTOMS_HOLD",
  "CUSTOMS_CLEARED",
  "OUT_FOR_DELIVERY",
  "DELIVERY_ATTEMPTED",
  "DELIVERED",
  "PROOF_OF_DELIVERY",
  "CANCELLED",
  "GATE_IN",
  "GATE_OUT",
  "VESSEL_LOADED",
  "VESSEL_UNLOADED",
  "RAIL_ARRIVAL",
  "RAIL_DEPARTURE",
  "AIR_DEPARTURE",
  "AIR_ARRIVAL",
  "OTHER"
] as const

/** An event type of the published list of area D, such as `PICKED_UP`. */
export type EventType = typeof eventTypes[number]

/** A mode of the published list of area D. */
export type TransportationMode = "FTL" | "LTL" | "PARCEL" | "OCEAN" | "AIR" | "RAIL" | "INTERMODAL" | "OTHER"

/** What a location names: a facility, a city or a point. */
export type LocationType = "FACILITY" | "CITY" | "GEOPOINT"

/** A document type of the published list of area D. */
export type DocumentType = "POD" | "BOL" | "INVOICE" | "LABEL" | "OTHER"

/** A place. Coordinates are decimal degrees. */
export interface Location {
  readonly locationId?: string
  readonly name?: string
  readonly type?: OpenList<LocationType>
  readonly latitude?: number
  readonly longitude?: number
  readonly city?: string
  readonly state?: string
  readonly postalCode?: string
  /** ISO 3166-1 alpha-3, such as `USA`. */
  readonly country?: string
  readonly address1?: string
  readonly address2?: string
}

/** Another identifier of the shipment, such as its PRO or BOL number. */
export interface ShipmentReference {
  readonly type?: string
  readonly value?: string
}

/** The shipment of an event. Dates are RFC 3339 with their original offset. */
export interface Shipment {
  readonly shipmentId: string
  readonly mode?: OpenList<TransportationMode>
  readonly scac?: string
  readonly references?: ReadonlyArray<ShipmentReference>
  readonly requestedPickupDate?: string
  readonly startDate?: string
  readonly endDate?: string
  readonly origin: Location
  readonly destination: Location
}

/** A document of an event, such as the proof of delivery. */
export interface EventDocument {
  readonly type?: OpenList<DocumentType>
  readonly url?: string
  readonly mimeType?: string
}

/** Something that happened to a shipment (area D). */
export interface TransitEvent {
  /** Unique; the same in every delivery and list. */
  readonly eventId: string
  readonly type: OpenList<EventType>
  /** The carrier's own code or text. */
  readonly status?: string
  /** When it happened: RFC 3339, with the offset of the location. */
  readonly occurredAt: string
  /** When the carrier's system recorded it. */
  readonly reportedAt?: string
  /** Increases within a shipment; sort by it, not by time. */
  readonly sequence: number
  readonly location?: Location
  readonly notes?: string
  readonly attributes?: Readonly<Record<string, unknown>>
  readonly documents?: ReadonlyArray<EventDocument>
  readonly shipment: Shipment
}
