/** Handled ids in the memory of one process. */
import { checkOptions, type OptionKinds, optionKinds } from "../shared/CheckOptions.ts"
import type { Claim, ClaimAnswer, SeenStore } from "./SeenStore.ts"

/** Limits of the memory of handled ids. */
export interface SeenInMemoryOptions {
  /** Number of ids to keep; the oldest are evicted first. Default 100,000. */
  readonly capacity?: number | undefined
  /** Milliseconds from any start. Default: monotonic time, which goes on when the clock is set back. */
  readonly now?: (() => number) | undefined
}

const kinds: OptionKinds<SeenInMemoryOptions> = {
  capacity: ["a number from 1", (value) => typeof value === "number" && value >= 1],
  now: optionKinds.function
}

/**
 * Keeps ids in the memory of this process: they are lost on restart and not shared with other processes. Not for
 * serverless functions, whose memory may be empty at each request.
 */
export class SeenInMemory implements SeenStore {
  readonly #capacity: number
  readonly #now: () => number
  readonly #seen = new Set<string>()
  readonly #claims = new Map<string, { readonly token: string; readonly until: number }>()

  constructor(options: SeenInMemoryOptions = {}) {
    checkOptions("SeenInMemory", options, kinds)
    this.#capacity = options.capacity ?? 100_000
    this.#now = options.now ?? (() => performance.now())
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
