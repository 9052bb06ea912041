/**
 * A list in which every element can be removed, for many that come and go.
 *
 * A `Set` would do, but V8 gives it a new table after every few removals, and every old table refers to the next one, also when nobody uses it. As soon as one
 * of them is in the old generation, each later one survives there with all it held, until the whole heap is collected. A removed entry refers to none.
 */

/** The place of an element. */
export interface ListEntry<Value> {
  readonly value: Value
  before: ListEntry<Value> | undefined
  after: ListEntry<Value> | undefined
}

export class LinkedList<Value> implements Iterable<Value> {
  private head: ListEntry<Value> | undefined
  private tail: ListEntry<Value> | undefined

  /** The element that was added first. */
  get first(): Value | undefined {
    return this.head?.value
  }

  get isEmpty(): boolean {
    return this.head === undefined
  }

  /** Adds an element at the end. */
  add(value: Value): ListEntry<Value> {
    const entry: ListEntry<Value> = { value, before: this.tail, after: undefined }
    if (this.tail === undefined) this.head = entry
    else this.tail.after = entry
    this.tail = entry
    return entry
  }

  /** Removes an element of this list. One that was removed before must not be removed again. */
  remove(entry: ListEntry<Value>): void {
    const { after, before } = entry
    if (before === undefined) this.head = after
    else before.after = after
    if (after === undefined) this.tail = before
    else after.before = before
    entry.before = undefined
    entry.after = undefined
  }

  *[Symbol.iterator](): Iterator<Value> {
    for (let entry = this.head; entry !== undefined; entry = entry.after) yield entry.value
  }
}
