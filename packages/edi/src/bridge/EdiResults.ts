/** The results of a file: one for each transaction set, and counts. */
import type { SetFindings } from "../mapping/ReadSet.ts"
import type { EdiFault } from "../x12/EdiFault.ts"
import type { InterchangeVerdict } from "../x12/Interchange.ts"

/** The outcome of a set. */
export type SetOutcome = "accepted" | "duplicate" | "refused"

/** One item of a set, such as an event. */
export interface RecordResult {
  readonly id: string
  /** Where it stands. */
  readonly segment: string
  readonly position: number
  readonly result: "accepted" | "duplicate"
}

/** The result of a set, with its faults. */
export interface SetResult extends SetFindings {
  /** Interchange, group and set control numbers, with the sender and the date: the same file again has the same keys. */
  readonly key: string
  /** ST-01, such as `214`. */
  readonly set: string
  readonly interchange: string
  readonly group: string
  readonly controlNumber: string
  /** `duplicate`: all of its items were known. */
  readonly outcome: SetOutcome
  readonly records: ReadonlyArray<RecordResult>
}

/** An acknowledgement that the partner sent: 997 or 999 of a group, or TA1 of an interchange. */
export type ReceivedAcknowledgement = GroupVerdict | InterchangeVerdict

/** AK1 and AK9. */
export interface GroupVerdict {
  readonly functionalId: string
  readonly group: string
  /** AK9-01: A, E, P or R. */
  readonly verdict: string
  /** Control numbers of the sets that the partner refused. */
  readonly refused: ReadonlyArray<string>
}

/** Whether the partner refused all or a part of what it acknowledges. */
export const isRefusal = ({ verdict }: ReceivedAcknowledgement): boolean => verdict !== "A" && verdict !== "E"

/** A 997 or 999 as a file for the partner. */
export interface Acknowledgement {
  readonly controlNumber: number
  readonly text: string
}

/** The result of a file. */
export interface FileReport {
  readonly interchanges: number
  readonly accepted: number
  readonly duplicates: number
  readonly refused: number
  /** Faults of envelopes and of text outside of them; at most 100. */
  readonly faults: ReadonlyArray<EdiFault>
  /** The first fault of the first refused set. */
  readonly refusal?: EdiFault | undefined
  readonly acknowledged: ReadonlyArray<ReceivedAcknowledgement>
  /** Interchanges to send back: 997 or 999, and TA1 where an envelope is wrong. */
  readonly acknowledgements: ReadonlyArray<Acknowledgement>
}
