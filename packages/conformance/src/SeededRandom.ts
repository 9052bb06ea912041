/** A deterministic random number generator: a seed gives the same numbers on every machine, and its streams are independent of each other. */

export class SeededRandom {
  private state: number

  /** Without a stream, for a test that has only one: mulberry32. */
  constructor(seed: number, stream?: string) {
    this.state = stream === undefined ? seed | 0 : stateOf(seed, stream)
  }

  /** From 0 inclusive to 1 exclusive. */
  next(): number {
    this.state = (this.state + 0x6d2b_79f5) | 0
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 0x1_0000_0000
  }

  /** A whole number from 0, below `limit`. */
  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1)
  }

  /** True with this probability. */
  share(probability: number): boolean {
    return this.next() < probability
  }

  pick<A>(values: ReadonlyArray<A>): A {
    return values[this.below(values.length)]!
  }

  shuffle<A>(values: ReadonlyArray<A>): ReadonlyArray<A> {
    return values.map((value) => [this.next(), value] as const).sort(([a], [b]) => a - b).map(([, value]) => value)
  }

  bytes(length: number): Uint8Array<ArrayBuffer> {
    return Uint8Array.from({ length }, () => this.below(256))
  }

  text(characters: ReadonlyArray<string>, least: number, most: number): string {
    return Array.from({ length: this.between(least, most) }, () => this.pick(characters)).join("")
  }
}

const stateOf = (seed: number, stream: string): number => {
  let state = mixed((seed >>> 0) ^ Math.imul(Math.floor(seed / 0x1_0000_0000) >>> 0, 0x9e37_79b1))
  for (let at = 0; at < stream.length; at++) state = mixed(state ^ stream.charCodeAt(at))
  return state
}

const mixed = (value: number): number => {
  let x = value | 0
  x = Math.imul(x ^ (x >>> 16), 0x21f0_aaad)
  x = Math.imul(x ^ (x >>> 15), 0x735a_2d97)
  return x ^ (x >>> 15)
}

/** Checks a law `count` times, each time with other numbers that are the same in every run. A failure names its seed, which `WAYBILL_SEED` runs alone. */
export const forRandom = async (count: number, law: (random: SeededRandom) => Promise<void> | void): Promise<void> => {
  const given = process.env["WAYBILL_SEED"]
  for (const seed of given === undefined ? Array.from({ length: count }, (_, index) => index + 1) : [Number(given)]) {
    try {
      await law(new SeededRandom(seed))
    } catch (cause) {
      throw new Error(`WAYBILL_SEED=${seed}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    }
  }
}
