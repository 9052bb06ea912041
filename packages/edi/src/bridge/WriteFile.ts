/** Writes files for a partner. Lists the members that a set cannot carry. */
import { checkOptions, type OptionKinds, optionKinds } from "@waybill/core"
import type { Invoice } from "@waybill/core/invoices"
import { write210 } from "../invoices/Invoices210.ts"
import { mapping210 } from "../invoices/Mapping210.ts"
import { mapping214 } from "../transit-events/Mapping214.ts"
import { type EdiEvent, statusesOf, write214 } from "../transit-events/TransitEvents214.ts"
import type { LostMember, WriteSetResult } from "../mapping/WriteSet.ts"
import type { PartnerProfile } from "../partners/PartnerProfile.ts"
import { mapping990 } from "../pickups/Mapping990.ts"
import { type EdiPickupAnswer, write990 } from "../pickups/Answers.ts"
import { encodable } from "../x12/Encoding.ts"
import { DelimiterInValue, writeInterchange, writeSegment, type WrittenSet } from "../x12/SegmentWriter.ts"
import { envelopeOf } from "./Envelopes.ts"

/** Envelope of a file for a partner. */
export interface WriteOptions {
  readonly partner: PartnerProfile
  /** Of the interchange; the group has the same. */
  readonly controlNumber: number
  readonly at: Date
}

const kinds: OptionKinds<WriteOptions> = {
  partner: optionKinds.object,
  controlNumber: { what: "a whole number of at most nine digits", accepts: (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) < 1e9 },
  at: { what: "a valid Date", accepts: (value) => value instanceof Date && !Number.isNaN(value.getTime()) }
}

/** The members of an item that are not in the file. */
export interface NotWritten {
  /** Index of the item. */
  readonly index: number
  /** Whether the whole item was left out. */
  readonly refused: boolean
  readonly members: ReadonlyArray<LostMember>
}

/** A file for a partner, and what could not be written. */
export interface WrittenFile {
  /** Empty if no set was written. `encodeText` makes its bytes. */
  readonly text: string
  readonly sets: number
  readonly notWritten: ReadonlyArray<NotWritten>
}

/** 214: one set for each status of each event. */
export const writeTransitEvents = (events: ReadonlyArray<EdiEvent>, options: WriteOptions): WrittenFile =>
  written("writeTransitEvents", mapping214.functionalId, options, (partner) => events.map((event) => statusesOf(event).map((status) => write214(status, partner))))

/** 210: one set for each invoice. */
export const writeInvoices = (invoices: ReadonlyArray<Invoice>, options: WriteOptions): WrittenFile =>
  written("writeInvoices", mapping210.functionalId, options, (partner) => invoices.map((invoice) => [write210(invoice, partner)]))

/** 990: one set for each answer. */
export const writePickupAnswers = (answers: ReadonlyArray<EdiPickupAnswer>, options: WriteOptions): WrittenFile =>
  written("writePickupAnswers", mapping990.functionalId, options, (partner) => answers.map((answer) => [write990(answer, partner)]))

/** One item may need several sets. */
export const writeFile = (functionalId: string, items: ReadonlyArray<ReadonlyArray<WriteSetResult>>, options: WriteOptions): WrittenFile =>
  written("writeFile", functionalId, options, () => items)

const written = (of: string, functionalId: string, options: WriteOptions, itemsFor: (partner: PartnerProfile) => ReadonlyArray<ReadonlyArray<WriteSetResult>>): WrittenFile => {
  checkOptions(of, options, kinds)
  const { at, controlNumber, partner } = options
  const envelope = envelopeOf(partner, partner.version)
  const sets: Array<WrittenSet> = []
  const notWritten: Array<NotWritten> = []
  for (const [index, results] of itemsFor(partner).entries()) {
    let count = 0
    const members: Array<LostMember> = []
    for (const result of results) {
      const fault = "refused" in result ? undefined : unwritableIn(result.set, envelope.delimiters, partner)
      if ("refused" in result) members.push(...result.refused)
      else if (fault !== undefined) members.push(fault)
      else {
        count += 1
        sets.push(result.set)
        members.push(...result.lost)
      }
    }
    if (members.length > 0 || count === 0) notWritten.push({ index, refused: count === 0, members })
  }
  const text = sets.length === 0 ? "" : [...writeInterchange(envelope, controlNumber, at, [{ functionalId, controlNumber, sets }])].join("")
  return { text, sets: sets.length, notWritten }
}

/** A value with a delimiter, or a character that the encoding has not, refuses its set and not the file. */
const unwritableIn = ({ segments }: WrittenSet, delimiters: Parameters<typeof writeSegment>[1], { encoding }: PartnerProfile): LostMember | undefined => {
  try {
    for (const segment of segments) {
      const text = writeSegment(segment, delimiters)
      if (encodable(text, encoding) !== text) return { member: segment[0], reason: "a value has a character that the encoding of the partner profile has not" }
    }
    return undefined
  } catch (error) {
    if (error instanceof DelimiterInValue) return { member: error.segment, reason: error.message }
    throw error
  }
}
