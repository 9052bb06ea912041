/** A priority queue by time, then by insertion order. */
import { Heap } from "@waybill/core"

interface Entry<A> {
  readonly at: number
  readonly order: number
  readonly what: A
}

export class TimedQueue<A> {
  readonly #entries = new Heap<Entry<A>>((one, other) => one.at < other.at || (one.at === other.at && one.order < other.order))

  /** `Infinity` if empty. */
  firstAt(): number {
    return this.#entries.first?.at ?? Infinity
  }

  add(at: number, order: number, what: A): void {
    this.#entries.add({ at, order, what })
  }

  take(): Entry<A> | undefined {
    return this.#entries.take()
  }
}
