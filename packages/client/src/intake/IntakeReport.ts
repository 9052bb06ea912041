/** Results of the items of an intake call. */
import type { ProblemFault } from "../connection/WaybillProblem.ts"
import type { OpenList } from "../shared/OpenList.ts"

/** Result of one item. `Key` identifies the stored item. `index` is its position in the call, from 0. */
export type ItemResult<Key> =
  /** `duplicate`: the same content was accepted before. */
  | { readonly index: number; readonly result: "accepted" | "duplicate" } & Key
  | { readonly index: number; readonly result: "error"; readonly errors: ReadonlyArray<ProblemFault> }

/** Result of one published event. */
export type EventPublication = ItemResult<{
  readonly shipmentId: string
  /** The given id, or the one that the service assigned. */
  readonly eventId: string
  readonly sequence: number
}>

/** Result of one registered shipment. */
export type ShipmentRegistration = ItemResult<{ readonly shipmentId: string }>

/**
 * - `applied`: the report changed the shipment or produced a notification.
 * - `unchanged`: it repeats what was known.
 * - `late`: it happened before the known state; it is kept in the history only.
 * - `refused`: the transition is not permitted; occurs only in a history.
 */
export type StatusOutcome = "applied" | "unchanged" | "late" | "refused"

/** Result of one reported status update. */
export type StatusPublication = ItemResult<{
  readonly shipmentId: string
  /** Id of the event in the log. */
  readonly eventId: string
  /** Effect on the shipment; absent for a duplicate. */
  readonly outcome?: OpenList<StatusOutcome>
  /** The notifications to subscriptions that follow the shipment: messages, or milestones with a terminal status; absent for a duplicate. */
  readonly notified?: ReadonlyArray<string>
  /** Why they are sent nothing. */
  readonly notNotified?: string
}>

/** Result of one reported freight bill. */
export type ChargePublication = ItemResult<{
  /** Identifies the bill. */
  readonly uniqueID: string
  /** The version of the bill that this change produced, now or earlier. */
  readonly version: number
}>

/** What happened to each item of an intake call. */
export interface IntakeReport<Result = EventPublication> {
  /** One result per item, in the order of the call. */
  readonly results: ReadonlyArray<Result>
}
