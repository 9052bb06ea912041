/** Numbers by key, such as bytes that each client has in memory. A key with 0 is forgotten. */

export class KeyedCounts {
  readonly #counts = new Map<string, number>()
  #total = 0

  /** Of all keys. */
  get total(): number {
    return this.#total
  }

  of(key: string): number {
    return this.#counts.get(key) ?? 0
  }

  add(key: string, by: number): void {
    const count = this.of(key) + by
    if (count > 0) this.#counts.set(key, count)
    else this.#counts.delete(key)
    this.#total += by
  }
}
