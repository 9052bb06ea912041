/** A report on a shipment's status in this area's terms, from any source. */
import type { Milestone, FreightException, TerminalStatus, TerminalType } from "./CodeLists.ts"
import type { StandardAddress, TerminalInfo } from "./FreightShapes.ts"
import type { DeliveryInformation } from "./StatusNotification.ts"

/** A piece of information with its fields. */
export type Information = Omit<DeliveryInformation, "proNumber" | "shipmentReferenceNumbers" | "TimeZoneOfShipment" | "UpdatedETA">

/** What a report says about a shipment, from an event or an update. */
export interface StatusReport {
  /** Time of the event, as the sender wrote it. */
  readonly occurredAt: string
  /** Time of the event in milliseconds since 1970. */
  readonly at: number
  /** The sender gave no time, so `at` is the time of the report. An undated report is never late, and permitted moves are not late after it. */
  readonly undated?: boolean
  /** An event of the log, an update, or a posted shipment. `id` is unique within its kind. */
  readonly source: { readonly kind: "event" | "update" | "shipment"; readonly id: string }
  readonly milestone?: Milestone
  /** Who has the freight after this. `Delivered` needs the final consignee, which is the default. */
  readonly custody?: "consignee" | "other"
  readonly statusText?: string
  readonly terminal?: { readonly status?: TerminalStatus; readonly type?: TerminalType; readonly info?: TerminalInfo }
  readonly updatedEta?: string
  readonly delayReasonCode?: string
  /** Reported as late, regardless of the dates. */
  readonly reportedLate?: boolean
  readonly timeZone?: string
  /** Place of the freight. `null`: it left the last known place for an unknown one. */
  readonly location?: StandardAddress | null
  readonly stopsAway?: number
  readonly trailerNumber?: string
  readonly partner?: { readonly name: string | null; readonly scac: string | null }
  readonly updatedPro?: string
  readonly exceptions?: ReadonlyArray<FreightException>
  readonly information?: ReadonlyArray<Information>
  /** Message for people. Generated from the facts when left out. */
  readonly message?: string
  /** Ignores a milestone that is not a permitted move, instead of refusing the report. */
  readonly onlyForward?: boolean
}

/** Result of a report. */
export type ReportOutcome =
  /** It changed the status or caused a notification. */
  | "applied"
  /** It repeats what is known, or contains nothing that the status shows. */
  | "unchanged"
  /** It is older than the current milestone: kept in the history only. */
  | "late"
  /** Its milestone is not a permitted move. */
  | "refused"

const maxAheadMillis = 30 * 86_400_000

/** Treats times more than 30 days ahead as undated, so that a wrong clock does not make every later report late. SPEC-GAP-A19 */
export const ignoreFarFutureTime = (report: StatusReport, now: number): StatusReport =>
  report.at > now + maxAheadMillis ? { ...report, at: now, undated: true } : report
