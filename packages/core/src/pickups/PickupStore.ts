/** Storage port: pickups, what they are found by, what became of them, and which requests were answered already. */
import { Context, type Effect, type Option } from "effect"
import type { StorageError } from "../shared/StorageError.ts"
import type { PickupNumberTaken } from "./PickupErrors.ts"

export interface PickupRow {
  readonly pickupId: string
  /** The carrier's pickup number, text as it is; `undefined` until one is issued. Unique among real ones, and among test ones, of a tenant. */
  readonly number: string | undefined
  /** Test pickups and real ones never see one another. */
  readonly isTest: boolean
  /** Who ordered it. */
  readonly client: string
  /** Accounts that it names: whoever has one may see it. */
  readonly accounts: ReadonlyArray<string>
  /** What the carrier that decided it is known by (`carrierOf`); `undefined` while any carrier of the tenant may. */
  readonly carrier: ReadonlyArray<string> | undefined
  /** JSON that only core reads. */
  readonly doc: string
  /** Normalised PROs that it is found by. */
  readonly pros: ReadonlyArray<string>
  readonly createdAt: number
}

/** Whose pickups a caller may see: all of a tenant, its own and those of its accounts, or what one carrier decided and nobody did yet. */
export type PickupViewer =
  | "all"
  | { readonly client: string; readonly accounts: ReadonlyArray<string> }
  | { readonly carrier: ReadonlyArray<string> }

export interface PickupHistoryEntry {
  readonly pickupId: string
  /** Rising per pickup, in the order the entries came. */
  readonly position: number
  readonly at: number
  /** JSON that only core reads. */
  readonly doc: string
}

/** A pickup with what became of it. */
export interface FollowedPickup {
  readonly pickup: PickupRow
  /** Oldest first. */
  readonly history: ReadonlyArray<PickupHistoryEntry>
}

export interface AnsweredRequest {
  /** Of the request that was answered. */
  readonly fingerprint: string
  /** JSON that only core reads. */
  readonly answer: string
}

export class PickupStore extends Context.Service<PickupStore, {
  /**
   * What a client's request under this key was answered, or `None`. Serialises with every other call for the same key until
   * the transaction ends: a request that is sent twice at once is carried out once.
   */
  readonly answered: (tenantId: string, client: string, key: string) => Effect.Effect<Option.Option<AnsweredRequest>, StorageError>
  readonly remember: (tenantId: string, client: string, key: string, answered: AnsweredRequest) => Effect.Effect<void, StorageError>
  /** The next number of the tenant's own counter, from 1; a number of a transaction that is rolled back may be given out again. */
  readonly nextNumber: (tenantId: string, isTest: boolean) => Effect.Effect<number, StorageError>
  readonly insert: (tenantId: string, pickup: PickupRow, history: PickupHistoryEntry) => Effect.Effect<void, PickupNumberTaken | StorageError>
  /** Replaces everything but id, client, test flag and creation. */
  readonly update: (tenantId: string, pickup: PickupRow, history: PickupHistoryEntry) => Effect.Effect<void, PickupNumberTaken | StorageError>
  /** By number; locked until the transaction ends with `forUpdate`. */
  readonly find: (
    tenantId: string,
    viewer: PickupViewer,
    by: { readonly number: string; readonly isTest: boolean },
    forUpdate?: boolean
  ) => Effect.Effect<Option.Option<PickupRow>, StorageError>
  /** By PRO: of several, the one ordered last. Only pickups that have a number. */
  readonly findByPro: (
    tenantId: string,
    viewer: PickupViewer,
    by: { readonly pro: string; readonly isTest: boolean }
  ) => Effect.Effect<Option.Option<PickupRow>, StorageError>
  /** By the service's own id, locked until the transaction ends: for the carrier's side. */
  readonly findById: (tenantId: string, viewer: PickupViewer, pickupId: string) => Effect.Effect<Option.Option<PickupRow>, StorageError>
  /** Real pickups found by one of these PROs, with a number or without, the one ordered last first; `limit` at most. */
  readonly ofPros: (tenantId: string, pros: ReadonlyArray<string>, limit: number) => Effect.Effect<ReadonlyArray<FollowedPickup>, StorageError>
  readonly history: (tenantId: string, pickupId: string) => Effect.Effect<ReadonlyArray<PickupHistoryEntry>, StorageError>
  /** Forgets pickups that were ordered before one instant, and answers remembered before another. Answers how many; at most a few thousand a call. */
  readonly prune: (
    tenantId: string,
    before: { readonly ordered: number; readonly answered: number }
  ) => Effect.Effect<number, StorageError>
}>()("@waybill/core/pickups/PickupStore") {}
