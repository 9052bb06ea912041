/** Storage of handled ids, so that a repeated delivery is handled once. */

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
 * Storage behind `DeliveryReceiver`. Implement it over a store that all processes of a receiver share, such as a table
 * or Redis; `SeenInMemory` is for one process.
 *
 * Ids are marked as seen only after the handler succeeded, so a delivery that a crash interrupts is handled when it is
 * retried. The three calls must be atomic for each id.
 */
export interface SeenStore {
  /** Claims each free id, and returns one answer per id, in order. An id with an expired claim is free. */
  readonly claim: (ids: ReadonlyArray<string>, claim: Claim) => Promise<ReadonlyArray<ClaimAnswer>>
  /** Marks the ids as handled. Keep them longer than the sender may retry. */
  readonly markSeen: (ids: ReadonlyArray<string>, claim: Claim) => Promise<void>
  /** Releases those ids that this claim still holds. */
  readonly release: (ids: ReadonlyArray<string>, claim: Claim) => Promise<void>
}

export interface SeenInMemoryOptions {
  /** Number of ids to keep; the oldest are evicted first. Default 100,000. */
  readonly capacity?: number | undefined
  readonly now?: (() => number) | undefined
}

/** Keeps ids in the memory of this process: they are lost on restart and not shared with other processes. */
export class SeenInMemory implements SeenStore {
  readonly #capacity: number
  readonly #now: () => number
  readonly #seen = new Set<string>()
  readonly #claims = new Map<string, { readonly token: string; readonly until: number }>()

  constructor(options: SeenInMemoryOptions = {}) {
    this.#capacity = options.capacity ?? 100_000
    this.#now = options.now ?? Date.now
    if (!(this.#capacity >= 1)) throw new RangeError("capacity is a number from 1.")
  }

  async claim(ids: ReadonlyArray<string>, claim: Claim): Promise<ReadonlyArray<ClaimAnswer>> {
    const now = this.#now()
    return ids.map((id) => {
      if (this.#seen.has(id)) return "seen"
      const held = this.#claims.get(id)
      if (held !== undefined && held.token !== claim.token && held.until > now) return "busy"
      this.#claims.set(id, { token: claim.token, until: now + claim.seconds * 1000 })
      return "claimed"
    })
  }

  async markSeen(ids: ReadonlyArray<string>, claim: Claim): Promise<void> {
    for (const id of ids) this.#seen.add(id)
    await this.release(ids, claim)
    for (const oldest of this.#seen) {
      if (this.#seen.size <= this.#capacity) return
      this.#seen.delete(oldest)
    }
  }

  async release(ids: ReadonlyArray<string>, claim: Claim): Promise<void> {
    for (const id of ids) if (this.#claims.get(id)?.token === claim.token) this.#claims.delete(id)
  }
}
