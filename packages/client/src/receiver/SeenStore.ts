/** Storage of handled ids, so that a repeated delivery is handled once. */
import type { OptionKinds } from "../shared/CheckOptions.ts"

/** A lease on ids that are being handled. */
export interface Claim {
  /** Unique for each delivery in progress. */
  readonly token: string
  readonly seconds: number
}

/**
 * - `claimed`: not handled and not in progress; the claim is yours.
 * - `seen`: handled before.
 * - `busy`: another claim on it has not expired.
 */
export type ClaimAnswer = "claimed" | "seen" | "busy"

/**
 * Storage behind `DeliveryReceiver`, shared by all processes of a receiver.
 *
 * Ids are marked as seen only after the handler succeeded, so a delivery that a crash interrupts is handled when it is
 * retried. The three calls must be atomic for each id.
 */
export interface SeenStore {
  /**
   * Claims each free id, and returns one answer per id, in order. An id with an expired claim is free. The same claim
   * may ask again.
   */
  readonly claim: (ids: ReadonlyArray<string>, claim: Claim) => Promise<ReadonlyArray<ClaimAnswer>>
  /** Marks the ids as handled. Keep them longer than the sender may retry. */
  readonly markSeen: (ids: ReadonlyArray<string>, claim: Claim) => Promise<void>
  /** Releases those ids that this claim still holds. */
  readonly release: (ids: ReadonlyArray<string>, claim: Claim) => Promise<void>
}

/**
 * Storage that claims ids in a transaction which the handler writes in too. Ids and writes are committed together, so
 * that each delivery has its effect exactly once.
 */
export interface TransactionalSeenStore<Transaction> {
  /**
   * Begins a transaction, claims the ids in it, and calls `handle` with one answer per id, in order. When `handle`
   * resolves, commits: the claimed ids are seen. When it rejects, rolls back and rejects too: no claim is left.
   */
  readonly transact: (
    ids: ReadonlyArray<string>,
    handle: (answers: ReadonlyArray<ClaimAnswer>, transaction: Transaction) => Promise<void>
  ) => Promise<void>
}

/** How long a shared store keeps handled ids. */
export interface SeenRetention {
  /**
   * Days until a handled id is forgotten. Default 30. A delivery that the sender repeats or replays later than that is
   * handled again.
   */
  readonly keepDays?: number | undefined
}

export const retentionKinds: OptionKinds<SeenRetention> = {
  keepDays: ["a number above 0 and up to 36500", (value) => typeof value === "number" && value > 0 && value <= 36_500]
}

export const keepSecondsOf = ({ keepDays = 30 }: SeenRetention): number => keepDays * 86_400
