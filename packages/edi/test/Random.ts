/** Random input that is the same in every run. A failing law prints its seed; `WAYBILL_SEED` runs it alone. */

export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  /** A whole number from 0, below `limit`. */
  below(limit: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0
    const mixed = Math.imul(this.#state ^ (this.#state >>> 16), 0x45d9f3b)
    return ((mixed ^ (mixed >>> 15)) >>> 0) % limit
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
