/** Storage port: pickups, their keys and history, and answers stored by idempotency key. */
import { Context, type Effect, type Option } from "effect"
import type { StorageError } from "../shared/StoragePort.ts"
import type { PickupNumberTaken } from "./PickupErrors.ts"

/** A pickup as stored. */
export interface PickupRow {
  readonly pickupId: string
  /** The carrier's pickup number as text; `undefined` until one is issued. Unique per tenant among real pickups, and among test pickups. */
  readonly number: string | undefined
  /** Test pickups and real pickups are separate. */
  readonly isTest: boolean
  /** The client that ordered it. */
  readonly client: string
  /** Accounts in the request. Clients with one of them may see the pickup. */
  readonly accounts: ReadonlyArray<string>
  /** Grants of the carrier that decided it (`carrierOf`); `undefined` while every carrier of the tenant may. */
  readonly carrier: ReadonlyArray<string> | undefined
  /** Its status, one of `pickupStatuses`. */
  readonly status: string
  /** Whether its order, or a change of it, waits for the carrier's decision. */
  readonly waits: boolean
  /** JSON that only core reads. */
  readonly doc: string
  /** Normalised PROs for lookups. */
  readonly pros: ReadonlyArray<string>
  readonly createdAt: number
}

/** The pickups that a caller sees: all of a tenant; its own and those of its accounts; or those of one carrier and undecided ones. */
export type PickupViewer =
  | "all"
  | { readonly client: string; readonly accounts: ReadonlyArray<string> }
  | { readonly carrier: ReadonlyArray<string> }

/** One change of a pickup. `at` is in milliseconds since 1970. */
export interface PickupHistoryEntry {
  readonly pickupId: string
  /** Increases per pickup, in the order of arrival. */
  readonly position: number
  readonly at: number
  /** JSON that only core reads. */
  readonly doc: string
}

/** A new entry of the carrier's work list. */
export interface PickupChange {
  readonly body: Uint8Array
  readonly traceparent: string | undefined
}

/** A stored entry of the carrier's work list. */
export interface PickupChangeRow {
  /** Increases in commit order, per tenant. */
  readonly changeNo: number
  /** The entry's JSON. */
  readonly body: Uint8Array
}

/** A page of a tenant's pickups, for operators. */
export interface PickupListRange {
  /** Only pickups that wait for a decision, in the order of their ids. Otherwise all, in the opposite order. */
  readonly waiting: boolean
  /** The pickup before the first one, in the order of the list. */
  readonly after: string | undefined
  readonly limit: number
}

/** A range of the work list, after `after`. */
export interface PickupChangeRange {
  readonly viewer: PickupViewer
  readonly after: number
  /** Entries from this instant on, in milliseconds since 1970. */
  readonly since: number | undefined
  /** The present status of the pickup. */
  readonly status: string | undefined
  readonly limit: number
  /** Most bytes of entries, unless the first one alone is larger. */
  readonly bytes: number
}

/** A page of the work list as the store returns it. */
export interface PickupChangeRows {
  readonly entries: ReadonlyArray<PickupChangeRow>
  /** All entries up to here are returned or do not match, if nothing is returned. Below `after` if the list ends before it. */
  readonly through: number
  /** Whether the read ended before the end of the list without a match. */
  readonly more: boolean
}

/** Maximum number of entries that one read compares, so that a filter with few matches cannot block the database. */
export const changesPerRead = 2_000

/** A pickup with its history. */
export interface FollowedPickup {
  readonly pickup: PickupRow
  /** Oldest first. */
  readonly history: ReadonlyArray<PickupHistoryEntry>
}

/** The answer that was given under an idempotency key. SPEC-GAP-C18 */
export interface AnsweredRequest {
  /** Fingerprint of the answered request. */
  readonly fingerprint: string
  /** JSON that only core reads. */
  readonly answer: string
}

type WritePickup = (
  tenantId: string,
  pickup: PickupRow,
  history: PickupHistoryEntry,
  change?: PickupChange | undefined
) => Effect.Effect<void, PickupNumberTaken | StorageError>

/** Storage port: pickups with their history and lookup keys, the carriers' work list, and answers by idempotency key. */
export class PickupStore extends Context.Service<PickupStore, {
  /**
   * The stored answer for a client's idempotency key, or `None`. Serialises calls with the same key until the transaction ends, so that
   * concurrent retries are carried out once.
   */
  readonly answered: (tenantId: string, client: string, key: string) => Effect.Effect<Option.Option<AnsweredRequest>, StorageError>
  readonly remember: (tenantId: string, client: string, key: string, answered: AnsweredRequest) => Effect.Effect<void, StorageError>
  /** The next value of the tenant's counter, from 1. A rollback may release the value again. */
  readonly nextNumber: (tenantId: string, isTest: boolean) => Effect.Effect<number, StorageError>
  /**
   * Stores a pickup. `change` is its entry in the carrier's work list, as JSON bytes; none for test pickups. It is queued for the
   * subscriptions of carriers that see the pickup.
   */
  readonly insert: WritePickup
  /** Replaces everything except id, client, test flag and creation time. The client is the stored one. */
  readonly update: WritePickup
  /**
   * Reads the work list in commit order. Entries are numbered under a lock of the tenant that lasts until commit, so no entry appears
   * before one that was read.
   */
  readonly changes: (tenantId: string, range: PickupChangeRange) => Effect.Effect<PickupChangeRows, StorageError>
  /** Finds a pickup by number. With `forUpdate`, locks it until the transaction ends. */
  readonly find: (
    tenantId: string,
    viewer: PickupViewer,
    by: { readonly number: string; readonly isTest: boolean },
    forUpdate?: boolean
  ) => Effect.Effect<Option.Option<PickupRow>, StorageError>
  /** Finds the latest pickup with this PRO, by its id. Only pickups with a number. SPEC-GAP-C39 */
  readonly findByPro: (
    tenantId: string,
    viewer: PickupViewer,
    by: { readonly pro: string; readonly isTest: boolean }
  ) => Effect.Effect<Option.Option<PickupRow>, StorageError>
  /** Finds a pickup by Waybill's id. With `forUpdate`, locks it until the transaction ends. */
  readonly findById: (
    tenantId: string,
    viewer: PickupViewer,
    pickupId: string,
    forUpdate?: boolean
  ) => Effect.Effect<Option.Option<PickupRow>, StorageError>
  /** Finds real pickups by PRO, with or without a number, latest order first; at most `limit`. Of all their histories, no older entries after `maxHistoryBytes`. */
  readonly ofPros: (tenantId: string, pros: ReadonlyArray<string>, limit: number) => Effect.Effect<ReadonlyArray<FollowedPickup>, StorageError>
  /** Lists pickups, tests included. Their ids are in the order of the orders. */
  readonly list: (tenantId: string, range: PickupListRange) => Effect.Effect<ReadonlyArray<PickupRow>, StorageError>
  /** Oldest first; no older entries after `maxHistoryBytes`. */
  readonly history: (tenantId: string, pickupId: string) => Effect.Effect<ReadonlyArray<PickupHistoryEntry>, StorageError>
  /** Bytes of the histories of a client's pickups, with their entries in the work list. */
  readonly storedBytes: (tenantId: string, client: string) => Effect.Effect<number, StorageError>
  /** Deletes pickups ordered before `ordered`, unless a change of them waits, is in flight or dead, and answers stored before `answered`. Returns their number; at most a few thousand per call. */
  readonly prune: (
    tenantId: string,
    before: { readonly ordered: number; readonly answered: number }
  ) => Effect.Effect<number, StorageError>
}>()("@waybill/core/pickups/PickupStore") {}
