/** What is due next: a heap by time, and by order among what is due at once. */

interface Entry<A> {
  readonly at: number
  readonly order: number
  readonly what: A
}

const isBefore = <A>(one: Entry<A>, other: Entry<A>): boolean => one.at < other.at || (one.at === other.at && one.order < other.order)

export class Agenda<A> {
  readonly #entries: Array<Entry<A>> = []

  /** `Infinity` of nothing. */
  firstAt(): number {
    return this.#entries[0]?.at ?? Infinity
  }

  add(at: number, order: number, what: A): void {
    const entries = this.#entries
    const entry = { at, order, what }
    let place = entries.length
    while (place > 0) {
      const above = (place - 1) >> 1
      if (!isBefore(entry, entries[above]!)) break
      entries[place] = entries[above]!
      place = above
    }
    entries[place] = entry
  }

  take(): Entry<A> | undefined {
    const entries = this.#entries
    const first = entries[0]
    const last = entries.pop()
    if (first === undefined || last === undefined || first === last) return first
    let place = 0
    for (;;) {
      let below = 2 * place + 1
      if (below >= entries.length) break
      if (below + 1 < entries.length && isBefore(entries[below + 1]!, entries[below]!)) below += 1
      if (!isBefore(entries[below]!, last)) break
      entries[place] = entries[below]!
      place = below
    }
    entries[place] = last
    return first
  }
}
