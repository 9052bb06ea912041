/** Sample transit events as a carrier's system reports them: valid, arbitrary, and all events of a journey. */
import { formatInstant } from "@waybill/core"
import { type EventType, eventTypes, type ReportedEvent } from "@waybill/core/transit-events"
import { Arbitrary, Schema } from "effect"
import { oneOf } from "../shared/Draws.ts"

/** The parts of a sample that tests usually set. */
export interface EventOverrides {
  readonly eventId?: string
  readonly sequence?: number
  readonly type?: EventType
  readonly occurredAt?: string
  readonly accounts?: ReadonlyArray<string>
  /** Any further member of the event. */
  readonly more?: Readonly<Record<string, unknown>>
}

const chicago = { name: "Chicago Terminal", type: "FACILITY", city: "Chicago", state: "IL", postalCode: "60608", country: "USA" } as const
const dallas = { name: "Dallas Terminal", type: "FACILITY", city: "Dallas", state: "TX", postalCode: "75201", country: "USA" } as const

/** A valid event of a shipment. */
export const reportedEvent = (shipmentId: string, overrides: EventOverrides = {}): ReportedEvent & Readonly<Record<string, unknown>> => ({
  ...(overrides.eventId === undefined ? {} : { eventId: overrides.eventId }),
  ...(overrides.sequence === undefined ? {} : { sequence: overrides.sequence }),
  type: overrides.type ?? "IN_TRANSIT",
  occurredAt: overrides.occurredAt ?? "2026-11-20T08:15:00-06:00",
  shipment: { shipmentId, mode: "LTL", scac: "WAYB", origin: chicago, destination: dallas },
  ...(overrides.accounts === undefined ? {} : { parties: { accounts: overrides.accounts } }),
  ...overrides.more
})

/** Accounts and start of a sample journey. */
export interface JourneyOptions {
  readonly accounts?: ReadonlyArray<string>
  /** When it was picked up, in milliseconds since 1970. */
  readonly start?: number
}

const steps: ReadonlyArray<readonly [type: EventType, afterHours: number, place: typeof chicago | typeof dallas, status: string]> = [
  ["PICKUP_SCHEDULED", -20, chicago, "Pickup scheduled"],
  ["PICKED_UP", 0, chicago, "Picked up"],
  ["ARRIVED_AT_TERMINAL", 3, chicago, "At origin terminal"],
  ["DEPARTED_TERMINAL", 9, chicago, "Left origin terminal"],
  ["IN_TRANSIT", 15, chicago, "On the road"],
  ["ARRIVED_AT_TERMINAL", 27, dallas, "At destination terminal"],
  ["OUT_FOR_DELIVERY", 44, dallas, "Out for delivery"],
  ["DELIVERED", 48, dallas, "Delivered"],
  ["PROOF_OF_DELIVERY", 49, dallas, "Signed by the consignee"]
]

/** Every event of a less-than-truckload shipment from pickup to proof of delivery, in order, without event ids. */
export const ltlJourney = (shipmentId: string, options: JourneyOptions = {}): ReadonlyArray<ReportedEvent & Readonly<Record<string, unknown>>> =>
  steps.map(([type, afterHours, location, status]) =>
    reportedEvent(shipmentId, {
      type,
      occurredAt: formatInstant((options.start ?? Date.UTC(2026, 10, 20, 14)) + afterHours * 3_600_000),
      ...(options.accounts === undefined ? {} : { accounts: options.accounts }),
      more: { status, location }
    })
  )

/** Ids as senders choose them: UUIDs, numbers, spaces, slashes, letters of all scripts. */
export const arbitraryShipmentId: Arbitrary.Arbitrary<string> = oneOf([
  "SHP-1",
  "SHP-2",
  "041-8367745",
  "0b8f2c1e-6f0a-7c3d-9a55-2d1f0c9e8b77",
  "PRO 12 / 7",
  "Spedition Müller #4",
  "船荷-9",
  "😀-1",
  "\uffee-1"
])

/** A valid event with arbitrary content. */
export const arbitraryReportedEvent: Arbitrary.Arbitrary<ReportedEvent & Readonly<Record<string, unknown>>> = Arbitrary.map(
  Arbitrary.all({
    shipmentId: arbitraryShipmentId,
    type: oneOf(eventTypes),
    notes: Arbitrary.schema(Schema.String.check(Schema.isMaxLength(40))),
    attributes: Arbitrary.schema(Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Int, Schema.Boolean, Schema.Null]))),
    hour: oneOf([0, 7, 23]),
    offset: oneOf(["Z", "+00:00", "-06:00", "+05:30", "+14:00"])
  }),
  ({ attributes, hour, notes, offset, shipmentId, type }) =>
    reportedEvent(shipmentId, {
      type,
      occurredAt: `2026-11-20T${String(hour).padStart(2, "0")}:15:00.250${offset}`,
      more: { notes, attributes }
    })
)
