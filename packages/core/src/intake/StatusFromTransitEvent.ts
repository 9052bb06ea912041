/** Maps transit events to shipment status reports: the published mapping as a table, and the functions that apply it. SPEC-GAP-A15 */
import { Schema } from "effect"
import { parseInstant } from "../shared/Instant.ts"
import { membersOf, withoutUndefined } from "../shared/Json.ts"
import {
  AppointmentChange,
  CountryCode,
  CustomsStatus,
  DelayReasonCode,
  DeliveryMessage,
  type Milestone,
  type FreightException,
  type TerminalStatus,
  TerminalType
} from "../shipment-status/model/CodeLists.ts"
import { plainNumber, plainPostalCode } from "../shipment-status/model/LookupKey.ts"
import { DateOrInstant, plainText, someText, StandardAddress, type TerminalInfo, UtcOffset } from "../shipment-status/model/FreightShapes.ts"
import type { Information, StatusReport } from "../shipment-status/model/StatusReport.ts"
import type { EventType } from "../transit-events/model/EventType.ts"
import type { ReportedEvent } from "../transit-events/model/TransitEvent.ts"

/** The meaning of an event type. An empty one appears in the history only. */
interface EventMeaning {
  readonly milestone?: Milestone
  readonly terminal?: TerminalStatus
  readonly information?: DeliveryMessage
  /** Default, if the attributes have none. */
  readonly customs?: CustomsStatus
  /** Uses attributes: `exception` for a freight exception, `delay` for a delay reason. */
  readonly reads?: "exception" | "delay"
}

/** What each event type does to a shipment's status. SPEC-GAP-A15 */
export const meaningOfEvent: Readonly<Record<EventType, EventMeaning>> = {
  PICKUP_SCHEDULED: {},
  PICKUP_ATTEMPTED: {},
  PICKED_UP: { milestone: "Picked-up" },
  ARRIVED_AT_TERMINAL: { milestone: "In Transit", terminal: "Arrived" },
  DEPARTED_TERMINAL: { milestone: "In Transit", terminal: "Departed" },
  IN_TRANSIT: { milestone: "In Transit" },
  DELAY: { reads: "delay" },
  EXCEPTION: { reads: "exception" },
  CUSTOMS_HOLD: { information: "Customs information", customs: "Hold" },
  CUSTOMS_CLEARED: { information: "Customs information", customs: "Cleared Customs" },
  OUT_FOR_DELIVERY: { milestone: "Out for Delivery" },
  DELIVERY_ATTEMPTED: { information: "Missed delivery" },
  DELIVERED: { milestone: "Delivered" },
  PROOF_OF_DELIVERY: { information: "POD available" },
  CANCELLED: {},
  GATE_IN: { milestone: "In Transit", terminal: "Arrived" },
  GATE_OUT: { milestone: "In Transit", terminal: "Departed" },
  VESSEL_LOADED: { milestone: "In Transit", terminal: "Loaded" },
  VESSEL_UNLOADED: { milestone: "In Transit", terminal: "Unloaded" },
  RAIL_ARRIVAL: { milestone: "In Transit", terminal: "Arrived" },
  RAIL_DEPARTURE: { milestone: "In Transit", terminal: "Departed" },
  AIR_DEPARTURE: { milestone: "In Transit", terminal: "Departed" },
  AIR_ARRIVAL: { milestone: "In Transit", terminal: "Arrived" },
  OTHER: {}
}

/** Attributes that are used. Others, and values of another type, are ignored. */
const attributeSchemas = {
  stopsAway: Schema.Int,
  delayReasonCode: DelayReasonCode,
  updatedEta: DateOrInstant,
  exception: Schema.Literals(["damaged", "short", "lost", "reconsigned"]),
  custody: Schema.Literals(["consignee", "partner", "other"]),
  partnerCarrierName: someText(200),
  partnerCarrierScac: someText(20),
  updatedPro: someText(100),
  trailerNumber: plainText(100),
  terminalType: TerminalType,
  timeZone: UtcOffset,
  message: someText(2000),
  customsStatus: CustomsStatus,
  customsEntryNumber: plainText(100),
  appointmentStatus: AppointmentChange,
  appointmentDate: DateOrInstant,
  utcOffset: UtcOffset,
  responsibleParty: plainText(200),
  majorStatusCategory: plainText(200),
  generalDescription: plainText(1000),
  carrierSpecificDescription: plainText(1000),
  deliveryInformation_messages: DeliveryMessage
} as const

/** The attributes of an event that affect the status. */
type StatusAttributes = { readonly [K in keyof typeof attributeSchemas]?: (typeof attributeSchemas)[K]["Type"] }

/** Members of an event's `attributes` that change the shipment's status. SPEC-GAP-A16 */
export const statusAttributeNames = Object.keys(attributeSchemas) as ReadonlyArray<keyof StatusAttributes>

const readers = Object.entries(attributeSchemas).map(([name, schema]) => [name, Schema.is(schema as Schema.Codec<unknown>)] as const)

/** SPEC-GAP-A16: attributes are free-form, so an unusable one is ignored instead of refused. */
const attributesOf = (event: ReportedEvent): StatusAttributes => {
  const written = membersOf(event.attributes)
  return Object.fromEntries(readers.filter(([name, reads]) => Object.hasOwn(written, name) && reads(plain(name, written[name]))).map(([name]) => [name, plain(name, written[name])]))
}

/** Lower-cases values that senders write in any case. */
const plain = (name: string, value: unknown): unknown =>
  typeof value === "string" && (name === "exception" || name === "custody") ? value.toLowerCase() : value

/** Converts an event to a report. Whether its milestone is a permitted move depends on the shipment's state. */
export const statusFromTransitEvent = (event: ReportedEvent, eventId: string): StatusReport => {
  const meaning = meaningOfEvent[event.type]
  const attributes = attributesOf(event)
  return {
    occurredAt: event.occurredAt,
    at: parseInstant(event.occurredAt)!,
    source: { kind: "event", id: eventId },
    onlyForward: true,
    ...milestoneOf(meaning, event, attributes),
    ...placeOf(meaning, event, attributes),
    ...detailsOf(meaning, attributes),
    ...(meaning.milestone !== undefined && event.status !== undefined && plainStatus.test(event.status) ? { statusText: event.status } : {})
  }
}

const plainStatus = /^[^\p{Cc}\p{Cs}]{1,500}$/u

/** While a partner carrier has the freight, its movements and deliveries count as Interline. SPEC-GAP-A17 */
const milestoneOf = (meaning: EventMeaning, event: ReportedEvent, attributes: StatusAttributes): Partial<StatusReport> => {
  const { milestone } = meaning
  const partner = attributes.partnerCarrierName === undefined && attributes.partnerCarrierScac === undefined
    ? {}
    : { partner: { name: attributes.partnerCarrierName ?? null, scac: attributes.partnerCarrierScac ?? null } }
  if (milestone === undefined) return {}
  if (attributes.custody === "partner" && (milestone === "Delivered" || milestone === "In Transit")) return { milestone: "Interline", ...partner }
  if (milestone === "Delivered") {
    return { milestone, custody: consigneeHasIt(event, attributes) ? "consignee" : "other", ...partner }
  }
  return { milestone, ...partner }
}

/** True if stated, or if nothing is stated and the event's place does not differ from the destination. */
const consigneeHasIt = (event: ReportedEvent, { custody }: StatusAttributes): boolean => {
  if (custody !== undefined) return custody === "consignee"
  const { destination } = event.shipment
  const differ = (here: string | undefined, there: string | undefined, plain: (text: string) => string): boolean =>
    here !== undefined && there !== undefined && plain(here) !== "" && plain(there) !== "" && plain(here) !== plain(there)
  return !differ(event.location?.locationId, destination.locationId, plainNumber) &&
    !differ(event.location?.postalCode, destination.postalCode, plainPostalCode)
}

const placeOf = (meaning: EventMeaning, event: ReportedEvent, attributes: StatusAttributes): Partial<StatusReport> => {
  const { location } = event
  const terminal = withoutUndefined({ status: meaning.terminal, type: attributes.terminalType, info: location === undefined ? undefined : terminalOf(location) })
  return withoutUndefined({
    terminal: meaning.terminal === undefined && meaning.reads !== "exception" ? undefined : terminal,
    location: meaning.milestone === undefined || location === undefined ? undefined : addressOf(location),
    timeZone: attributes.timeZone
  })
}

type EventLocation = NonNullable<ReportedEvent["location"]>

/** Events may contain text that status answers may not. Such text is left out. */
const usable = Schema.is(plainText(200))

const terminalOf = (location: EventLocation): TerminalInfo => {
  const members = {
    AddressLine1: location.address1,
    AddressLine2: location.address2,
    City: location.city,
    State: location.state,
    PostalCode: location.postalCode,
    Country: location.country
  }
  const known = Object.entries(members).filter(([name, value]) => name === "Country" ? Schema.is(CountryCode)(value) : usable(value))
  return { TerminalID: usable(location.locationId) ? location.locationId : null, ...Object.fromEntries(known) }
}

/** Only a complete address can be shown. `null` means that the freight left its last known place. */
const addressOf = (location: EventLocation): StandardAddress | null => {
  const { address1: addressLine1, address2: addressLine2, city, country, name: addressName, postalCode, state } = location
  const address = { addressName, addressLine1, ...(addressLine2 === undefined ? {} : { addressLine2 }), city, state, postalCode, country }
  return Schema.is(StandardAddress)(address) ? address : null
}

const exceptionOf = { damaged: "Damaged", short: "Short", lost: "Lost", reconsigned: "Reconsigned" } as const satisfies Record<string, FreightException>

const detailsOf = (meaning: EventMeaning, attributes: StatusAttributes): Partial<StatusReport> => {
  const { delayReasonCode, exception, message, stopsAway, trailerNumber, updatedEta, updatedPro } = attributes
  return withoutUndefined({
    message,
    trailerNumber,
    updatedPro,
    // any event may have an estimate; the dates decide whether the shipment is late
    updatedEta,
    stopsAway: meaning.milestone === "Out for Delivery" ? stopsAway : undefined,
    delayReasonCode: meaning.reads === "delay" ? delayReasonCode : undefined,
    exceptions: meaning.reads === "exception" && exception !== undefined ? [exceptionOf[exception]] : undefined,
    information: informationsOf(meaning, attributes)
  })
}

const informationsOf = (meaning: EventMeaning, attributes: StatusAttributes): ReadonlyArray<Information> | undefined => {
  const informations = [
    ...(meaning.information === undefined ? [] : [informationOf(meaning.information, meaning, attributes)]),
    // a delay is an expectation, unless the carrier notes that the shipment is late
    ...(meaning.reads === "delay" && attributes.deliveryInformation_messages === "Noted late" ? [informationOf("Noted late", meaning, attributes)] : []),
    // appointments have no event type of their own
    ...(attributes.appointmentStatus === undefined ? [] : [informationOf("Appointment Update", meaning, attributes)])
  ]
  return informations.length === 0 ? undefined : informations
}

const informationOf = (message: DeliveryMessage, meaning: EventMeaning, attributes: StatusAttributes): Information => {
  const { appointmentDate, appointmentStatus, customsEntryNumber, customsStatus, utcOffset, ...rest } = attributes
  const { carrierSpecificDescription, delayReasonCode, generalDescription, majorStatusCategory, responsibleParty } = rest
  const reason = { delayReasonCode, responsibleParty, majorStatusCategory, generalDescription, carrierSpecificDescription }
  const details = message === "Customs information"
    ? { customsStatus: customsStatus ?? meaning.customs, customsEntryNumber }
    : message === "Missed delivery" || message === "Noted late"
    ? reason
    : message === "Appointment Update"
    ? { appointmentStatus, appointmentDate, utcOffset, ...(appointmentStatus === "appointment missed" ? reason : {}) }
    : {}
  return { deliveryInformation_messages: message, ...withoutUndefined<object>(details) }
}
