/** A map with a size limit. Beyond the limit it removes the entry that was put least recently. */

export class RecentMap<Value> {
  private readonly entries = new Map<string, Value>()
  private readonly limit: number

  /** `limit`: most entries. */
  constructor(limit: number) {
    this.limit = limit
  }

  get(key: string): Value | undefined {
    return this.entries.get(key)
  }

  has(key: string): boolean {
    return this.entries.has(key)
  }

  /** Makes the entry the most recent one, also when the key already exists. */
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
