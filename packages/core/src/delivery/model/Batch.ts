/** Which waiting entries go out together. */

/** What the decision needs to know of a waiting entry. */
export interface WaitingEntry {
  /** Entries of one ordering key (one shipment) go out one delivery after the other. */
  readonly key: string
  readonly sequence: number
  /** Breaks ties of key and sequence: the event's own id. */
  readonly orderId: string
  /** Bytes that go out for it. */
  readonly size: number
}

export interface BatchLimits {
  readonly maxSize: number
  readonly maxBytes: number
  readonly maxBatches: number
}

/** The order within a batch: shipment, sequence, id. */
export const byOrder = (a: WaitingEntry, b: WaitingEntry): number =>
  a.key < b.key ? -1 : a.key > b.key ? 1 : a.sequence - b.sequence || (a.orderId < b.orderId ? -1 : a.orderId > b.orderId ? 1 : 0)

/**
 * Cuts batches from the front of `entries`, which come grouped by key and in sequence.
 *
 * A key is in at most one of the batches: they are sent side by side, and a shipment's later events must not overtake
 * its earlier ones. An entry larger than `maxBytes` goes alone rather than never.
 */
export const cutBatches = <E extends WaitingEntry>(entries: ReadonlyArray<E>, limits: BatchLimits): ReadonlyArray<ReadonlyArray<E>> => {
  const batches: Array<ReadonlyArray<E>> = []
  if (limits.maxBatches <= 0) return batches
  const closedKeys = new Set<string>()
  let current: Array<E> = []
  let bytes = 0
  const close = () => {
    for (const entry of current) closedKeys.add(entry.key)
    batches.push(current.sort(byOrder))
    current = []
    bytes = 0
  }
  for (const entry of entries) {
    if (closedKeys.has(entry.key)) continue
    const full = current.length > 0 && (current.length >= limits.maxSize || bytes + entry.size > limits.maxBytes)
    if (full) {
      close()
      if (batches.length >= limits.maxBatches) return batches
      if (closedKeys.has(entry.key)) continue
    }
    current.push(entry)
    bytes += entry.size
  }
  if (current.length > 0 && batches.length < limits.maxBatches) close()
  return batches
}
