/** A binary heap: `take` returns the smallest element. */
export class Heap<A> {
  readonly #entries: Array<A> = []
  readonly #isBefore: (one: A, other: A) => boolean

  constructor(isBefore: (one: A, other: A) => boolean) {
    this.#isBefore = isBefore
  }

  /** Returns the smallest element without removing it. */
  get first(): A | undefined {
    return this.#entries[0]
  }

  add(entry: A): void {
    const entries = this.#entries
    let place = entries.length
    while (place > 0) {
      const above = (place - 1) >> 1
      if (!this.#isBefore(entry, entries[above]!)) break
      entries[place] = entries[above]!
      place = above
    }
    entries[place] = entry
  }

  take(): A | undefined {
    const entries = this.#entries
    const first = entries[0]
    const last = entries.pop()
    if (last === undefined || entries.length === 0) return first
    let place = 0
    for (;;) {
      let below = 2 * place + 1
      if (below >= entries.length) break
      if (below + 1 < entries.length && this.#isBefore(entries[below + 1]!, entries[below]!)) below += 1
      if (!this.#isBefore(entries[below]!, last)) break
      entries[place] = entries[below]!
      place = below
    }
    entries[place] = last
    return first
  }
}
