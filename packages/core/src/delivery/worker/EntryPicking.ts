/** Which waiting entries of a destination a take freezes, into which deliveries, and which signals it reports. Every store picks by these rules. */
import { compareText } from "../../shared/CodePoints.ts"
import type { Signal, TakenFrom } from "../DeliveryStore.ts"

export interface WaitingEntry {
  readonly key: string
  readonly size: number
  /** A delivery that is unfinished has its key. */
  readonly held: boolean
  /** The client may not see it. */
  readonly unseen: boolean
  /** Its bytes were read, so it can be taken. */
  readonly readable: boolean
}

/** Waiting entries after a key, in their order. */
export interface WaitingEntries<E extends WaitingEntry> {
  readonly entries: ReadonlyArray<E>
  /** More entries may follow, under the last key too. */
  readonly more: boolean
}

export interface BatchLimits {
  readonly batches: number
  readonly maxSize: number
  readonly maxBytes: number
}

export interface PickedEntries<E extends WaitingEntry> extends Pick<TakenFrom, "after" | "more" | "blocked" | "unseenKeys"> {
  readonly batches: ReadonlyArray<ReadonlyArray<E>>
}

/**
 * A batch is full when the weights of its entries add up to 1. An entry weighs its share of the count, or of half of the bytes if that is more, so a batch
 * is larger than `maxBytes` only if one of its entries is larger than half of it. Entries of one key are taken in one batch: the rest of them stay.
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

/** One signal of each destination, with its smallest key. */
export const smallestOfEach = (signals: ReadonlyArray<Signal>): ReadonlyArray<Signal> => {
  const smallest = new Map<string, Signal>()
  for (const { destinationId, key } of signals) {
    const before = smallest.get(destinationId)
    if (before === undefined || key === undefined || before.key !== undefined && compareText(key, before.key) < 0) smallest.set(destinationId, { destinationId, key })
  }
  return [...smallest.values()]
}
