/** A seeded random number generator: the same seed gives the same numbers in every process. */

export interface FuzzRandom {
  /** From 0 up to 1, exclusive. */
  readonly draw: () => number
  /** From 0 up to `bound`, exclusive. */
  readonly below: (bound: number) => number
  readonly pick: <const A>(values: ReadonlyArray<A>) => A
  readonly happens: (share: number) => boolean
}

/** Mulberry32. */
export const fuzzRandomOf = (seed: number): FuzzRandom => {
  let state = seed | 0
  const draw = () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (bound: number) => Math.floor(draw() * bound)
  return { draw, below, pick: (values) => values[below(values.length)]!, happens: (share) => draw() < share }
}
