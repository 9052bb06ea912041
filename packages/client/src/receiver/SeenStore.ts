/** What a receiver remembers, so that a delivery that comes twice is handled once. */

/** Who is handling something, and for how long nobody else may. */
export interface Claim {
  /** Different for every delivery that is being handled. */
  readonly token: string
  readonly seconds: number
}

/**
 * - `claimed`: nobody has handled it and nobody is: the claim is yours.
 * - `seen`: handled before.
 * - `busy`: somebody else's claim on it has not run out.
 */
export type ClaimAnswer = "claimed" | "seen" | "busy"

/**
 * The memory behind `DeliveryReceiver`. Implement it over a store that all processes of a receiver share, such as a
 * table or Redis; `SeenInMemory` is for one process.
 *
 * Ids are remembered as seen only after the handler succeeded, so what a crash interrupts is handled when it comes
 * again. For each id the three calls must be atomic.
 */
export interface SeenStore {
  /** Claims each id that is free, and says for each, in order, what it found. A claim that ran out is free. */
  readonly claim: (ids: ReadonlyArray<string>, claim: Claim) => Promise<ReadonlyArray<ClaimAnswer>>
  /** The ids are handled for good. They must be remembered longer than a sender may repeat them. */
  readonly markSeen: (ids: ReadonlyArray<string>, claim: Claim) => Promise<void>
  /** Frees the ids that this claim still holds. */
  readonly release: (ids: ReadonlyArray<string>, claim: Claim) => Promise<void>
}

export interface SeenInMemoryOptions {
  /** How many ids are remembered; the oldest are forgotten first. Default 100,000. */
  readonly capacity?: number | undefined
  readonly now?: (() => number) | undefined
}

/** Remembers in this process: forgets all on restart and knows nothing of other processes. */
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
