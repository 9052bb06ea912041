/** Detects missing events of a shipment by their sequence numbers. */
import { checkOptions, type OptionKinds, optionKinds } from "../shared/CheckOptions.ts"
import type { TransitEvent } from "../transit-events/TransitEvent.ts"

/** Every sequence number from `from` to `to`, both included. */
export interface SequenceRange {
  readonly from: number
  readonly to: number
}

/** Sequence numbers of a shipment between two received ones. */
export interface MissingSequences extends SequenceRange {
  readonly shipmentId: string
  /** Whether an earlier delivery already revealed this gap. */
  readonly known: boolean
}

/** Order of the new events of a delivery. Events are never held back because of it. */
export interface SequenceReport {
  /** Gaps of these shipments after this delivery. They may still be filled. */
  readonly missing: ReadonlyArray<MissingSequences>
  /** Events that came after a delivery with a later event of the shipment. */
  readonly late: ReadonlyArray<TransitEvent>
  /** Events that follow a later event of the shipment in this delivery. */
  readonly outOfOrder: ReadonlyArray<TransitEvent>
  /** Events whose number belongs to another event of the shipment already: an error of the sender. */
  readonly repeated: ReadonlyArray<TransitEvent>
}

/**
 * Stores the received sequence numbers. Share it between processes that receive deliveries of the same subscription;
 * otherwise each reports gaps that do not exist.
 */
export interface SequenceStore {
  /** The received numbers of each known shipment: ascending ranges that neither overlap nor touch. */
  readonly arrived: (shipmentIds: ReadonlyArray<string>) => Promise<ReadonlyMap<string, ReadonlyArray<SequenceRange>>>
  /** Adds numbers. Idempotent. */
  readonly add: (arrivals: ReadonlyMap<string, ReadonlyArray<number>>) => Promise<void>
}

/** Adds numbers to ranges: ascending, neither overlapping nor touching. */
export const addSequences = (ranges: ReadonlyArray<SequenceRange>, numbers: ReadonlyArray<number>): ReadonlyArray<SequenceRange> => {
  const all = [...ranges, ...numbers.map((number) => ({ from: number, to: number }))].sort((a, b) => a.from - b.from)
  const merged: Array<SequenceRange> = []
  for (const range of all) {
    const last = merged.at(-1)
    if (last !== undefined && range.from <= last.to + 1) merged[merged.length - 1] = { from: last.from, to: Math.max(last.to, range.to) }
    else merged.push(range)
  }
  return merged
}

/** The gaps between ranges. */
export const gapsBetween = (ranges: ReadonlyArray<SequenceRange>): ReadonlyArray<SequenceRange> =>
  ranges.slice(1).map((range, index) => ({ from: ranges[index]!.to + 1, to: range.from - 1 }))

/** The events' sequence numbers by shipment. */
export const sequencesOf = (events: ReadonlyArray<TransitEvent>): ReadonlyMap<string, ReadonlyArray<number>> => {
  const numbers = new Map<string, Array<number>>()
  for (const event of events) {
    const known = numbers.get(event.shipment.shipmentId)
    if (known === undefined) numbers.set(event.shipment.shipmentId, [event.sequence])
    else known.push(event.sequence)
  }
  return numbers
}

/** Compares new events, in delivery order, with the numbers received before. */
export const reportSequences = (
  arrived: ReadonlyMap<string, ReadonlyArray<SequenceRange>>,
  events: ReadonlyArray<TransitEvent>
): SequenceReport => {
  const late: Array<TransitEvent> = []
  const outOfOrder: Array<TransitEvent> = []
  const repeated: Array<TransitEvent> = []
  const here = new Map<string, { highest: number; readonly numbers: Set<number> }>()
  for (const event of events) {
    const { sequence, shipment: { shipmentId } } = event
    const before = arrived.get(shipmentId) ?? []
    const batch = here.get(shipmentId) ?? { highest: -1, numbers: new Set<number>() }
    here.set(shipmentId, batch)
    if (batch.numbers.has(sequence) || before.some(({ from, to }) => from <= sequence && sequence <= to)) repeated.push(event)
    else {
      if (sequence < (before.at(-1)?.to ?? -1)) late.push(event)
      if (sequence < batch.highest) outOfOrder.push(event)
    }
    batch.numbers.add(sequence)
    batch.highest = Math.max(batch.highest, sequence)
  }
  const missing = [...here].flatMap(([shipmentId, { numbers }]) => {
    const before = arrived.get(shipmentId) ?? []
    const isKnown = ({ from, to }: SequenceRange) => before.length > 0 && from > before[0]!.to && to < before.at(-1)!.from
    return gapsBetween(addSequences(before, [...numbers])).map((gap) => ({ shipmentId, ...gap, known: isKnown(gap) }))
  })
  return { missing, late, outOfOrder, repeated }
}

/** Limits of the memory of sequence numbers. */
export interface SequencesInMemoryOptions {
  /** Number of shipments to keep; the least recently updated is evicted first. Default 10,000. */
  readonly shipments?: number | undefined
  /** Number of gaps to keep per shipment; the lowest are dropped first. Default 100. */
  readonly gaps?: number | undefined
}

const kinds: OptionKinds<SequencesInMemoryOptions> = { shipments: optionKinds.number, gaps: optionKinds.pause }

/** Keeps the received numbers in the memory of this process. */
export class SequencesInMemory implements SequenceStore {
  readonly #shipments: number
  readonly #gaps: number
  readonly #arrived = new Map<string, ReadonlyArray<SequenceRange>>()

  constructor(options: SequencesInMemoryOptions = {}) {
    checkOptions("SequencesInMemory", options, kinds)
    this.#shipments = options.shipments ?? 10_000
    this.#gaps = options.gaps ?? 100
  }

  async arrived(shipmentIds: ReadonlyArray<string>): Promise<ReadonlyMap<string, ReadonlyArray<SequenceRange>>> {
    return new Map(shipmentIds.flatMap((id) => {
      const ranges = this.#arrived.get(id)
      return ranges === undefined ? [] : [[id, ranges] as const]
    }))
  }

  async add(arrivals: ReadonlyMap<string, ReadonlyArray<number>>): Promise<void> {
    for (const [shipmentId, numbers] of arrivals) {
      const ranges = addSequences(this.#arrived.get(shipmentId) ?? [], numbers)
      // Move it to the end: a Map keeps insertion order, so the least recently updated shipment comes first.
      this.#arrived.delete(shipmentId)
      this.#arrived.set(shipmentId, forgetLowest(ranges, this.#gaps))
    }
    for (const quietest of this.#arrived.keys()) {
      if (this.#arrived.size <= this.#shipments) return
      this.#arrived.delete(quietest)
    }
  }
}

const forgetLowest = (ranges: ReadonlyArray<SequenceRange>, mostGaps: number): ReadonlyArray<SequenceRange> => {
  const surplus = ranges.length - 1 - mostGaps
  return surplus <= 0 ? ranges : [{ from: ranges[0]!.from, to: ranges[surplus]!.to }, ...ranges.slice(surplus + 1)]
}
