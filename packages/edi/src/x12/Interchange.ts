/** Envelopes: interchange (ISA to IEA), functional group (GS to GE), transaction set (ST to SE). */
import type { Delimiters } from "./Delimiters.ts"
import type { Segment } from "./Segment.ts"

/** Sender or receiver of an interchange. */
export interface Party {
  /** ISA-05 or ISA-07, such as `02` for a SCAC or `ZZ` for an agreed id. */
  readonly qualifier: string
  readonly id: string
}

/** The envelope ISA to IEA. */
export interface Interchange {
  readonly sender: Party
  readonly receiver: Party
  readonly controlNumber: string
  /** ISA-09 and ISA-10, as written: `YYMMDD` and `HHMM`, without a time zone. */
  readonly date: string
  readonly time: string
  /** ISA-12, such as `00401`. */
  readonly version: string
  readonly wantsAcknowledgement: boolean
  /** ISA-15 is not P: it is T, or I, which is for information. */
  readonly isTest: boolean
  readonly delimiters: Delimiters
}

/** TA1: what the partner made of an interchange that it got. */
export interface InterchangeVerdict {
  /** TA1-01, the control number. */
  readonly interchange: string
  /** TA1-04: A accepted, E accepted with errors, R refused. */
  readonly verdict: string
  /** TA1-05: 000, or what is wrong. */
  readonly code: string
}

/** The functional group GS to GE. */
export interface Group {
  /** GS-01, such as `QM` for 214. */
  readonly functionalId: string
  readonly sender: string
  readonly receiver: string
  /** GS-04 and GS-05: `CCYYMMDD` and `HHMM`, without a time zone. */
  readonly date: string
  readonly time: string
  readonly controlNumber: string
  /** GS-08, such as `004010`. */
  readonly version: string
}

/** The transaction set ST to SE. */
export interface TransactionSet {
  /** ST-01, such as `214`. */
  readonly id: string
  readonly controlNumber: string
  /** The number of the set in its group, from 1. */
  readonly index: number
  /** From ST to SE. */
  readonly segments: ReadonlyArray<Segment>
  readonly group: Group
  readonly interchange: Interchange
}

/** The natural key of a transaction set. The date is in it because partners start their control numbers again. */
export const keyOfSet = ({ controlNumber, group, interchange }: TransactionSet): string => `${keyOfInterchange(interchange)}:${group.controlNumber}:${controlNumber}`

/** The same for an interchange that comes twice: sender, date and control number. */
export const keyOfInterchange = ({ controlNumber, date, sender }: Interchange): string => `${sender.qualifier}-${sender.id}:${date}:${controlNumber}`
