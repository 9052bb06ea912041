/** Which waiting entries of a destination a take freezes, into which deliveries, and which signals it reports. Every store picks by these rules. */
import { compareText } from "../../shared/CodePoints.ts"
import type { Signal, TakenFrom } from "../DeliveryStore.ts"

/** A waiting entry, as far as picking needs it. */
export interface WaitingEntry {
  readonly key: string
  /** Bytes. */
  readonly size: number
  /** Whether an unfinished delivery has its key. */
  readonly held: boolean
  /** Whether the client may not see it. */
  readonly unseen: boolean
  /** Whether its bytes were read, so that it can be taken. */
  readonly readable: boolean
}

/** Waiting entries after a key, in their order. */
export interface WaitingEntries<E extends WaitingEntry> {
  readonly entries: ReadonlyArray<E>
  /** Whether more entries may follow, possibly under the last key. */
  readonly more: boolean
}

/** Limits of the deliveries of one destination in one take. */
export interface BatchLimits {
  /** Maximum number of deliveries. */
  readonly batches: number
  /** Maximum number of entries in one delivery. */
  readonly maxSize: number
  /** Maximum bytes of the entries in one delivery. */
  readonly maxBytes: number
}

/** The entries of each new delivery, and where the next take starts. */
export interface PickedEntries<E extends WaitingEntry> extends Pick<TakenFrom, "after" | "more" | "blocked" | "unseenKeys"> {
  readonly batches: ReadonlyArray<ReadonlyArray<E>>
}

/**
 * Picks entries after a key. A batch is full when the weights of its entries add up to 1. The weight of an entry is its share of the count, or of half of the bytes if that
 * is more, so a batch is larger than `maxBytes` only if one of its entries is larger than half of it. A key is in one batch only: its further entries stay.
 */
export const pickEntries = <E extends WaitingEntry>(after: string | undefined, { entries, more }: WaitingEntries<E>, limits: BatchLimits): PickedEntries<E> => {
  const unseen = new Set(entries.flatMap(({ key, unseen }) => unseen ? [key] : []))
  const batches: Array<Array<E>> = []
  const batchOf = new Map<string, number>()
  const full = limits.maxBytes * limits.maxSize
  let weight = 0
  let last = -1
  let reached = after
  let blocked = false
  for (const entry of entries) {
    const { key } = entry
    if (!unseen.has(key)) {
      const batch = Math.floor(weight / full)
      if (entry.held || (batchOf.get(key) ?? batch) !== batch) blocked = true
      else if (batch >= limits.batches || !entry.readable) return { batches, after: reached, more: true, blocked: blocked || key === reached, unseenKeys: [...unseen] }
      else {
        if (batch > last) batches.push([])
        batches.at(-1)!.push(entry)
        batchOf.set(key, batch)
        last = batch
        weight += Math.max(2 * entry.size * limits.maxSize, limits.maxBytes)
      }
    }
    reached = key
  }
  return { batches, after: reached, more, blocked: blocked || more && reached !== after && !unseen.has(reached!), unseenKeys: [...unseen] }
}

/** Reduces signals to one for each destination, with its smallest key. */
export const smallestOfEach = (signals: ReadonlyArray<Signal>): ReadonlyArray<Signal> => {
  const smallest = new Map<string, Signal>()
  for (const { destinationId, key } of signals) {
    const before = smallest.get(destinationId)
    if (before === undefined || key === undefined || before.key !== undefined && compareText(key, before.key) < 0) smallest.set(destinationId, { destinationId, key })
  }
  return [...smallest.values()]
}
