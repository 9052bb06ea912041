/** What somebody says of a shipment's status, in this area's own words, wherever it came from. */
import type { Milestone, NotedFact, TerminalStatus, TerminalType } from "./CodeLists.ts"
import type { StandardAddress, TerminalInfo } from "./FreightShapes.ts"
import type { DeliveryInformation } from "./StatusNotification.ts"

/** A thing to know, with the fields that go with it. */
export type Information = Omit<DeliveryInformation, "proNumber" | "shipmentReferenceNumbers" | "TimeZoneOfShipment" | "UpdatedETA">

export interface StatusReport {
  /** When it happened, as the sender wrote it. */
  readonly occurredAt: string
  /** The same in milliseconds since 1970. */
  readonly at: number
  /** Nobody said when it happened, and `at` is when it was reported: it is never late, and makes little else late. */
  readonly undated?: boolean
  /** An event of the log, an update, or what was posted of the shipment itself; `id` within its kind. */
  readonly source: { readonly kind: "event" | "update" | "shipment"; readonly id: string }
  readonly milestone?: Milestone
  /** Who has the freight after this; `Delivered` needs the final consignee, who is meant when it is left out. */
  readonly custody?: "consignee" | "other"
  readonly statusText?: string
  readonly terminal?: { readonly status?: TerminalStatus; readonly type?: TerminalType; readonly info?: TerminalInfo }
  readonly updatedEta?: string
  readonly delayReasonCode?: string
  /** Said to be late whatever the dates say. */
  readonly saidLate?: boolean
  readonly timeZone?: string
  /** Where the freight is; `null` when it is somewhere else than last known, but nobody says where. */
  readonly location?: StandardAddress | null
  readonly stopsAway?: number
  readonly trailerNumber?: string
  readonly partner?: { readonly name: string | null; readonly scac: string | null }
  readonly updatedPro?: string
  readonly noted?: ReadonlyArray<NotedFact>
  readonly information?: ReadonlyArray<Information>
  /** For people; a sentence is made from the facts when it is left out. */
  readonly message?: string
  /** A milestone that is no permitted move is passed over instead of refused. */
  readonly onlyForward?: boolean
}

/** What became of a report. */
export type ReportOutcome =
  /** Something changed, or was worth telling. */
  | "applied"
  /** It says what is known already, or nothing that shows in the status. */
  | "noted"
  /** It happened before what is known: kept in the history only. */
  | "late"
  /** The move it asks for is not permitted. */
  | "refused"

const maxAheadMillis = 30 * 86_400_000

/** A clock that runs wild must not make late whatever comes after it: what it dates so far ahead happened when it was reported. SPEC-GAP-A19 */
export const believable = (report: StatusReport, now: number): StatusReport =>
  report.at > now + maxAheadMillis ? { ...report, at: now, undated: true } : report
