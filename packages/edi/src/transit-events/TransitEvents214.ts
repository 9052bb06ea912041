/** 214 and transit events, in both directions. */
import type { ReportedEvent } from "@waybill/core/transit-events"
import { member, own } from "../mapping/Members.ts"
import { missingReference, withShipmentId } from "../mapping/References.ts"
import { finish, type ReadRecord, readSetInSteps, type SetFindings, type Steps } from "../mapping/ReadSet.ts"
import { type LostMember, type WriteSetResult, writeSet } from "../mapping/WriteSet.ts"
import type { PartnerProfile } from "../partners/PartnerProfile.ts"
import { type EdiFault, elementFaults } from "../x12/EdiFault.ts"
import { keyOfSet, type TransactionSet } from "../x12/Interchange.ts"
import { mapping214 } from "./Mapping214.ts"
import { ladingExceptions, statusCodes } from "./StatusCodes.ts"

/** An event as intake takes it. */
export type EdiEvent = typeof ReportedEvent.Encoded

/** An event of a 214, with its place in the set. */
export interface ReadEvent {
  readonly event: EdiEvent
  /** The AT7 that it comes from. */
  readonly segment: string
  readonly position: number
  readonly sources: ReadRecord["sources"]
}

/** The events of a 214. */
export interface ReadEvents extends SetFindings {
  readonly events: ReadonlyArray<ReadEvent>
}

/** Reads the events of a set. Their ids come from its control numbers, so the same file again has the same ids. */
export const eventsOf214 = (set: TransactionSet, partner: PartnerProfile): ReadEvents => finish(readEvents(set, partner))

export function* readEvents(set: TransactionSet, partner: PartnerProfile): Steps<ReadEvents> {
  const { faults, kept, records, warnings } = yield* readSetInSteps(mapping214, set, partner)
  const key = keyOfSet(set)
  // of each record once: a reference that LX has is one of its own events only
  const more = new Map<string, EdiFault>()
  const events = records.map(({ position, record, segment, sources }, index): ReadEvent => {
    const shipmentId = shipmentIdOf(record, partner)
    for (const fault of missingIn(record, shipmentId, partner)) more.set(fault.detail, fault)
    return { event: eventOf(record, `edi:${key}:${index + 1}`, shipmentId ?? "", partner), segment, position, sources }
  })
  return { events, faults: [...faults, ...more.values()], warnings, kept }
}

const eventOf = (record: ReadRecord["record"], eventId: string, shipmentId: string, partner: PartnerProfile): EdiEvent => {
  const { remarks, ...event } = record
  const shipment = (event["shipment"] ?? {}) as object
  const notes = ((remarks ?? []) as ReadonlyArray<Remark>).map(({ text }) => text).join("\n")
  const attributes = event["attributes"] as Attributes | undefined
  const exception = attributes?.exception ?? exceptionIn(attributes)
  return {
    ...event,
    ...notes === "" ? {} : { notes },
    ...exception === undefined ? {} : { attributes: { ...attributes, exception } },
    eventId,
    shipment: { shipmentId, ...partner.mode === undefined ? {} : { mode: partner.mode }, origin: {}, destination: {}, ...shipment }
  } as unknown as EdiEvent
}

interface Remark {
  readonly text: string
}

interface Attributes {
  readonly exception?: string
  readonly edi?: { readonly statusCode?: string; readonly exceptions?: ReadonlyArray<{ readonly code?: string }> }
}

/** The exception in Q7. */
const exceptionIn = (attributes: Attributes | undefined): string | undefined => {
  return (attributes?.edi?.exceptions ?? []).map(({ code }) => own(ladingExceptions, code)).find((exception) => exception !== undefined)
}

const idTypesOf = ({ shipmentId }: PartnerProfile): ReadonlyArray<string> => shipmentId ?? ["PRO", "SID"]

const shipmentIdOf = (record: unknown, partner: PartnerProfile): string | undefined => {
  for (const type of idTypesOf(partner)) {
    const value = member(record, `shipment.references[${type}]`)
    if (typeof value === "string") return value
  }
  return undefined
}

const missingIn = (record: unknown, shipmentId: string | undefined, partner: PartnerProfile): ReadonlyArray<EdiFault> => {
  const missing = (partner.requiredReferences ?? []).filter((type) => member(record, `shipment.references[${type}]`) === undefined)
  return [
    ...shipmentId !== undefined ? [] : [{
      level: "element" as const,
      code: elementFaults.missing,
      segment: "B10",
      position: 2,
      element: 1,
      detail: `The set names no shipment: it has no reference of type ${idTypesOf(partner).join(" or ")}.`
    }],
    ...missing.map(missingReference)
  ]
}

/**
 * The statuses that an event is written as. An estimate of the delivery, and an appointment, need an AT7 of their own, because AT7 has one
 * time.
 */
export const statusesOf = (event: EdiEvent): ReadonlyArray<EdiEvent> => {
  const attributes = (event.attributes ?? {}) as Readonly<Record<string, unknown>>
  const { appointmentDate: _date, appointmentStatus, edi, updatedEta, ...rest } = attributes
  const { appointmentCode, statusCode } = (edi ?? {}) as Readonly<Record<string, unknown>>
  if (statusCode !== undefined || appointmentCode !== undefined) return [event]
  const eta = updatedEta === undefined ? [] : [{ ...event, type: "OTHER" as const, status: "Estimated delivery", attributes: { updatedEta, edi: { statusCode: "AG" } } }]
  const appointment = attributes["appointmentDate"] === undefined
    ? []
    : [{ ...event, type: "OTHER" as const, status: "Delivery appointment", attributes: { appointmentDate: attributes["appointmentDate"], appointmentStatus, edi: { appointmentCode: "AB" } } }]
  const extra = [...eta, ...appointment]
  if (extra.length === 0) return [event]
  return event.type === "OTHER" ? extra : [{ ...event, attributes: rest }, ...extra]
}

/** Most K1 of a set. */
const maxRemarks = 10

/** Members that are written in another form: notes as lines, and an exception that Q7 says. */
const writable = ({ notes, ...event }: EdiEvent, partner: PartnerProfile): Pick<EdiEvent, "shipment"> => {
  const attributes = event.attributes as Attributes | undefined
  const statusCode = attributes?.edi?.statusCode
  const { exception, ...others } = attributes ?? {}
  const isOfStatus = statusCode !== undefined && Object.hasOwn(statusCodes, statusCode) && statusCodes[statusCode]!.exception === exception
  const isOfFreight = statusCode !== undefined && exception !== undefined && !isOfStatus && exceptionIn(attributes) === exception
  return {
    ...event,
    ...isOfFreight ? { attributes: others } : {},
    ...notes === undefined ? {} : { remarks: notes.split("\n").slice(0, maxRemarks).map((text) => ({ text })) },
    shipment: { ...event.shipment, references: withShipmentId(event.shipment.references ?? [], event.shipment.shipmentId, idTypesOf(partner)), ...event.shipment.scac === undefined && partner.scac !== undefined ? { scac: partner.scac } : {} }
  }
}

/** Whether no reference that is the id of the shipment was written. */
const isUnidentified = ({ references = [] }: EdiEvent["shipment"], lost: ReadonlyArray<LostMember>, partner: PartnerProfile): boolean =>
  references.every(({ type }, index) => !idTypesOf(partner).includes(type ?? "") || lost.some(({ member }) => member.startsWith(`shipment.references.${index}.`)))

/** Writes one event as the contents of a set. Lists the members that it does not carry; refuses an event that has no code, or whose shipment it cannot name. */
export const write214 = (event: EdiEvent, partner: PartnerProfile, version: string = partner.version): WriteSetResult => {
  const record = writable(event, partner)
  const result = writeSet(mapping214, record, partner, version)
  if ("refused" in result) return result
  if (isUnidentified(record.shipment, result.lost, partner)) return { refused: [{ member: "shipment.shipmentId", reason: `no reference of type ${idTypesOf(partner).join(" or ")} can carry it` }] }
  const lost = result.lost.map((each) => each.member.startsWith("remarks.") ? { ...each, member: "notes" } : each)
  const tooMany = (event.notes ?? "").split("\n").length > maxRemarks ? [{ member: "notes", reason: `the set has at most ${maxRemarks} remarks` }] : []
  return { ...result, lost: [...lost, ...tooMany] }
}
