/** A deterministic random number generator: a seed gives the same numbers on every machine, and its streams are independent of each other. */

export class SeededRandom {
  private state: number

  constructor(seed: number, stream: string) {
    let state = mixed((seed >>> 0) ^ Math.imul(Math.floor(seed / 0x1_0000_0000) >>> 0, 0x9e37_79b1))
    for (let at = 0; at < stream.length; at++) state = mixed(state ^ stream.charCodeAt(at))
    this.state = state
  }

  /** From 0 inclusive to 1 exclusive. */
  next(): number {
    this.state = (this.state + 0x6d2b_79f5) | 0
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 0x1_0000_0000
  }

  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1))
  }

  /** True with this probability. */
  share(probability: number): boolean {
    return this.next() < probability
  }

  pick<A>(values: ReadonlyArray<A>): A {
    return values[Math.floor(this.next() * values.length)]!
  }
}

const mixed = (value: number): number => {
  let x = value | 0
  x = Math.imul(x ^ (x >>> 16), 0x21f0_aaad)
  x = Math.imul(x ^ (x >>> 15), 0x735a_2d97)
  return x ^ (x >>> 15)
}
