/** Random input that is the same in every run. A failing law prints its seed; `WAYBILL_SEED` runs it alone. */

/** Mulberry32. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  /** A whole number from 0, below `limit`. */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit
  }

  chance(probability: number): boolean {
    return this.below(1_000_000) < probability * 1_000_000
  }

  pick<A>(values: ReadonlyArray<A>): A {
    return values[this.below(values.length)]!
  }

  text(characters: ReadonlyArray<string>, least: number, most: number): string {
    return Array.from({ length: least + this.below(most - least + 1) }, () => this.pick(characters)).join("")
  }
}

/** Checks a law `count` times. */
export const forRandom = (count: number, law: (random: Random) => void) => {
  const only = process.env["WAYBILL_SEED"]
  for (let seed = 1; seed <= count; seed++) {
    if (only !== undefined && Number(only) !== seed) continue
    try {
      law(new Random(seed))
    } catch (cause) {
      throw new Error(`WAYBILL_SEED=${seed}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    }
  }
}
