/** What became of the items of an intake call. */
import type { ProblemFault } from "../connection/WaybillProblem.ts"
import type { OpenList } from "../shared/OpenList.ts"

/** What became of one item; `Key` is what it is known by from now on. `index` is its place in the call, from 0. */
export type ItemResult<Key> =
  /** `duplicate`: the same content was accepted before. */
  | { readonly index: number; readonly result: "accepted" | "duplicate" } & Key
  | { readonly index: number; readonly result: "error"; readonly errors: ReadonlyArray<ProblemFault> }

export type EventPublication = ItemResult<{
  readonly shipmentId: string
  /** Given, or assigned by the service. */
  readonly eventId: string
  readonly sequence: number
}>

export type ShipmentRegistration = ItemResult<{ readonly shipmentId: string }>

/**
 * - `applied`: something changed, or was worth telling.
 * - `noted`: it says what was known already.
 * - `late`: it happened before what is known, and is kept in the history only.
 * - `refused`: the move it asks for is not permitted; only in a history.
 */
export type StatusOutcome = "applied" | "noted" | "late" | "refused"

export type StatusPublication = ItemResult<{
  readonly shipmentId: string
  /** Of its event in the log. */
  readonly eventId: string
  /** What it made of the shipment; a duplicate makes nothing. */
  readonly outcome?: OpenList<StatusOutcome>
}>

export type ChargePublication = ItemResult<{
  /** Names the bill. */
  readonly uniqueID: string
  /** The version that the change made of the bill, now or before. */
  readonly version: number
}>

export interface IntakeReport<Result = EventPublication> {
  /** One for each item, in the order they were handed in. */
  readonly results: ReadonlyArray<Result>
}
