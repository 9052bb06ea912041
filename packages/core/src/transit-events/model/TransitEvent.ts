/** One event of a shipment in transit (area D, Event). */
import { Schema } from "effect"
import { AccountNumber, EventId, ShipmentId } from "../../shared/Identifier.ts"
import { InstantText } from "../../shared/Instant.ts"
import { LargeInteger, textUpTo } from "../../shared/Members.ts"
import { EventType } from "./EventType.ts"

const Latitude = Schema.Finite.check(Schema.isBetween({ minimum: -90, maximum: 90 }, { message: "latitude is a number from -90 to 90." }))
const Longitude = Schema.Finite.check(
  Schema.isBetween({ minimum: -180, maximum: 180 }, { message: "longitude is a number from -180 to 180." })
)

/** A place. `country` is ISO 3166-1 alpha-3; coordinates are decimal degrees. */
export const Location = Schema.Struct({
  locationId: Schema.optionalKey(textUpTo(200)),
  name: Schema.optionalKey(textUpTo(500)),
  type: Schema.optionalKey(Schema.Literals(["FACILITY", "CITY", "GEOPOINT"]).annotate({ message: "type is one of FACILITY, CITY, GEOPOINT." })),
  latitude: Schema.optionalKey(Latitude),
  longitude: Schema.optionalKey(Longitude),
  city: Schema.optionalKey(textUpTo(200)),
  state: Schema.optionalKey(textUpTo(200)),
  postalCode: Schema.optionalKey(textUpTo(40)),
  country: Schema.optionalKey(
    Schema.String.check(Schema.isPattern(/^[A-Za-z]{3}$/u, { message: "country is an ISO 3166-1 alpha-3 code, such as USA." }))
  ),
  address1: Schema.optionalKey(textUpTo(500)),
  address2: Schema.optionalKey(textUpTo(500))
}).annotate({ identifier: "Location" })

const Reference = Schema.Struct({ type: Schema.optionalKey(textUpTo(200)), value: Schema.optionalKey(textUpTo(500)) })

/** The shipment of an event. Dates keep the offset they were sent with. */
export const Shipment = Schema.Struct({
  shipmentId: ShipmentId,
  mode: Schema.optionalKey(
    Schema.Literals(["FTL", "LTL", "PARCEL", "OCEAN", "AIR", "RAIL", "INTERMODAL", "OTHER"]).annotate({
      message: "mode is one of FTL, LTL, PARCEL, OCEAN, AIR, RAIL, INTERMODAL, OTHER."
    })
  ),
  scac: Schema.optionalKey(textUpTo(20)),
  references: Schema.optionalKey(Schema.Array(Reference).check(Schema.isMaxLength(200, { message: "At most 200 references." }))),
  requestedPickupDate: Schema.optionalKey(InstantText),
  startDate: Schema.optionalKey(InstantText),
  endDate: Schema.optionalKey(InstantText),
  origin: Location,
  destination: Location
}).annotate({ identifier: "Shipment" })

/** The largest sequence that a sender may assign. It leaves room to continue counting without losing precision. */
export const maxGivenSequence = 9_000_000_000_000_000

const Sequence = LargeInteger.check(
  Schema.isBetween({ minimum: 0, maximum: maxGivenSequence }, { message: `sequence is an integer from 0 to ${maxGivenSequence}.` })
)

const Document = Schema.Struct({
  type: Schema.optionalKey(Schema.Literals(["POD", "BOL", "INVOICE", "LABEL", "OTHER"]).annotate({ message: "type is one of POD, BOL, INVOICE, LABEL, OTHER." })),
  url: Schema.optionalKey(textUpTo(2048)),
  mimeType: Schema.optionalKey(textUpTo(200))
})

const described = {
  type: EventType,
  status: Schema.optionalKey(textUpTo(500)),
  occurredAt: InstantText,
  reportedAt: Schema.optionalKey(InstantText),
  location: Schema.optionalKey(Location),
  notes: Schema.optionalKey(textUpTo(10_000)),
  attributes: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
  documents: Schema.optionalKey(Schema.Array(Document).check(Schema.isMaxLength(200, { message: "At most 200 documents." }))),
  shipment: Shipment
}

/** An event as Waybill returns it. Unknown fields are kept and returned. SPEC-GAP-D7, SPEC-GAP-D8 */
export const TransitEvent = Schema.Struct({ eventId: EventId, sequence: Sequence, ...described }).annotate({ identifier: "Event" })
export type TransitEvent = typeof TransitEvent.Type

/** Accounts that may see the shipment from now on. They replace the earlier ones. SPEC-GAP-D23 */
export const Parties = Schema.Struct({
  accounts: Schema.Array(AccountNumber).check(Schema.isMaxLength(1000, { message: "At most 1000 accounts." }))
}).annotate({ identifier: "Parties" })

/** An event as the carrier's system posts it. Waybill assigns `eventId` and `sequence` if they are left out. */
export const ReportedEvent = Schema.Struct({
  eventId: Schema.optionalKey(EventId),
  sequence: Schema.optionalKey(Sequence),
  ...described,
  parties: Schema.optionalKey(Parties)
}).annotate({ identifier: "ReportedEvent" })
export type ReportedEvent = typeof ReportedEvent.Type

/** The largest event, in bytes of JSON. */
export const maxEventBytes = 64 * 1024
