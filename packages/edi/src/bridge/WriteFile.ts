/** Writes files for a partner. Lists the members that a set cannot carry. */
import type { Invoice } from "@waybill/core/invoices"
import { write210 } from "../invoices/Invoices210.ts"
import { mapping210 } from "../invoices/Mapping210.ts"
import { mapping214 } from "../transit-events/Mapping214.ts"
import { type EdiEvent, statusesOf, write214 } from "../transit-events/TransitEvents214.ts"
import type { LostMember, WriteSetResult } from "../mapping/WriteSet.ts"
import type { PartnerProfile } from "../partners/PartnerProfile.ts"
import { mapping990 } from "../pickups/Mapping990.ts"
import { type EdiPickupAnswer, write990 } from "../pickups/Answers.ts"
import { DelimiterInValue, writeInterchange, writeSegment, type WrittenSet } from "../x12/SegmentWriter.ts"
import { envelopeOf } from "./Envelopes.ts"

/** Envelope of a file for a partner. */
export interface WriteOptions {
  readonly partner: PartnerProfile
  /** Of the interchange; the group has the same. */
  readonly controlNumber: number
  readonly at: Date
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
  /** Empty if no set was written. */
  readonly text: string
  readonly sets: number
  readonly notWritten: ReadonlyArray<NotWritten>
}

/** 214: one set for each status of each event. */
export const writeTransitEvents = (events: ReadonlyArray<EdiEvent>, options: WriteOptions): WrittenFile =>
  writeFile(mapping214.functionalId, events.map((event) => statusesOf(event).map((status) => write214(status, options.partner))), options)

/** 210: one set for each invoice. */
export const writeInvoices = (invoices: ReadonlyArray<Invoice>, options: WriteOptions): WrittenFile =>
  writeFile(mapping210.functionalId, invoices.map((invoice) => [write210(invoice, options.partner)]), options)

/** 990: one set for each answer. */
export const writePickupAnswers = (answers: ReadonlyArray<EdiPickupAnswer>, options: WriteOptions): WrittenFile =>
  writeFile(mapping990.functionalId, answers.map((answer) => [write990(answer, options.partner)]), options)

/** One item may need several sets. */
export const writeFile = (functionalId: string, items: ReadonlyArray<ReadonlyArray<WriteSetResult>>, { at, controlNumber, partner }: WriteOptions): WrittenFile => {
  const envelope = envelopeOf(partner)
  const sets: Array<WrittenSet> = []
  const notWritten: Array<NotWritten> = []
  for (const [index, results] of items.entries()) {
    let written = 0
    const members: Array<LostMember> = []
    for (const result of results) {
      const fault = "refused" in result ? undefined : delimiterIn(result.set, envelope.delimiters!)
      if ("refused" in result) members.push(...result.refused)
      else if (fault !== undefined) members.push(fault)
      else {
        written += 1
        sets.push(result.set)
        members.push(...result.lost)
      }
    }
    if (members.length > 0 || written === 0) notWritten.push({ index, refused: written === 0, members })
  }
  const text = sets.length === 0 ? "" : [...writeInterchange(envelope, controlNumber, at, [{ functionalId, controlNumber, sets }])].join("")
  return { text, sets: sets.length, notWritten }
}

/** A value with a delimiter refuses its set, not the file. */
const delimiterIn = ({ segments }: WrittenSet, delimiters: Parameters<typeof writeSegment>[1]): LostMember | undefined => {
  try {
    for (const segment of segments) writeSegment(segment, delimiters)
    return undefined
  } catch (error) {
    if (error instanceof DelimiterInValue) return { member: error.segment, reason: error.message }
    throw error
  }
}
