/** A map that remembers what was put last: beyond its limit, the entry that was put longest ago is forgotten. */

export class RecentMap<Value> {
  private readonly entries = new Map<string, Value>()
  private readonly limit: number

  /** `limit`: how many entries it holds at most. */
  constructor(limit: number) {
    this.limit = limit
  }

  get(key: string): Value | undefined {
    return this.entries.get(key)
  }

  has(key: string): boolean {
    return this.entries.has(key)
  }

  /** The entry counts as the latest, also where it was there already. */
  put(key: string, value: Value): void {
    this.entries.delete(key)
    this.entries.set(key, value)
    if (this.entries.size > this.limit) this.entries.delete(this.entries.keys().next().value!)
  }

  delete(key: string): void {
    this.entries.delete(key)
  }

  get size(): number {
    return this.entries.size
  }
}
