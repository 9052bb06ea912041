/** Reproducible random numbers: a failing test prints its seed, and `WAYBILL_SEED` repeats it. */

export interface Random {
  /** An integer from 0, below `limit`. */
  readonly below: (limit: number) => number
  readonly chance: (probability: number) => boolean
  readonly pick: <A>(items: ReadonlyArray<A>) => A
  readonly shuffle: <A>(items: ReadonlyArray<A>) => ReadonlyArray<A>
  readonly bytes: (length: number) => Uint8Array<ArrayBuffer>
}

/** Mulberry32. */
const randomOf = (seed: number): Random => {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return {
    below,
    chance: (probability) => next() < probability,
    pick: (items) => items[below(items.length)]!,
    shuffle: (items) => {
      const mixed = [...items]
      for (let at = mixed.length - 1; at > 0; at--) {
        const other = below(at + 1)
        const held = mixed[at]!
        mixed[at] = mixed[other]!
        mixed[other] = held
      }
      return mixed
    },
    bytes: (length) => Uint8Array.from({ length }, () => below(256))
  }
}

/** Runs a property `count` times, each time with other numbers that are the same in every run. `WAYBILL_SEED` runs one seed only. */
export const forRandom = async (count: number, law: (random: Random) => Promise<void> | void): Promise<void> => {
  const given = process.env["WAYBILL_SEED"]
  for (const seed of given === undefined ? Array.from({ length: count }, (_, index) => index + 1) : [Number(given)]) {
    try {
      await law(randomOf(seed))
    } catch (cause) {
      throw new Error(`WAYBILL_SEED=${seed}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    }
  }
}
