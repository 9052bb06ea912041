/** A deterministic random number generator: the same seed gives the same numbers on every machine. */

/** A 32-bit hash of a string. */
const hashOf = (text: string): number => {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash >>> 0
}

export class NetworkRandom {
  #state: number

  /** An independent generator for each purpose: draws for other purposes do not change it. */
  constructor(seed: string, purpose: string) {
    this.#state = hashOf(`${seed}\n${purpose}`)
  }

  /** From 0 to 2 ** 32 - 1. */
  #next(): number {
    this.#state = (this.#state + 0x9e3779b9) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return (mixed ^ (mixed >>> 15)) >>> 0
  }

  /** A whole number from `least` to `most`. */
  between(least: number, most: number): number {
    return least + Math.floor(this.#next() / 2 ** 32 * (most - least + 1))
  }

  /** True with this probability, from 0 to 1. */
  happens(share: number): boolean {
    return this.#next() / 2 ** 32 < share
  }

  oneOf<A>(values: ReadonlyArray<A>): A {
    if (values.length === 0) throw new RangeError("There is nothing to choose from.")
    return values[this.between(0, values.length - 1)]!
  }
}
