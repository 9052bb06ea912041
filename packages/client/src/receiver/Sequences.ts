/** Which events of a shipment have not come, judged by their sequence numbers. */
import type { TransitEvent } from "../transit-events/TransitEvent.ts"

/** Every sequence number from `from` to `to`, both included. */
export interface SequenceRange {
  readonly from: number
  readonly to: number
}

/** Numbers of a shipment that lie between two that came. */
export interface MissingSequences extends SequenceRange {
  readonly shipmentId: string
  /** An earlier delivery showed this gap already. */
  readonly known: boolean
}

/** What a delivery's new events tell about order. Nothing is held back because of it. */
export interface SequenceReport {
  /** Gaps of these shipments, counting this delivery. They may still fill. */
  readonly missing: ReadonlyArray<MissingSequences>
  /** Came after a delivery that held a later event of the shipment. */
  readonly late: ReadonlyArray<TransitEvent>
  /** Stand in this delivery behind a later event of the shipment. */
  readonly outOfOrder: ReadonlyArray<TransitEvent>
  /** Have a number that another event of the shipment has: the sender counts wrongly. */
  readonly repeated: ReadonlyArray<TransitEvent>
}

/**
 * Where a receiver keeps which numbers came. Share it between processes that take turns with one subscription's
 * deliveries: each alone would see gaps that are none.
 */
export interface SequenceStore {
  /** The numbers that came, for each shipment that is known: ascending ranges that neither overlap nor touch. */
  readonly arrived: (shipmentIds: ReadonlyArray<string>) => Promise<ReadonlyMap<string, ReadonlyArray<SequenceRange>>>
  /** Adds numbers. Adding one twice changes nothing. */
  readonly add: (arrivals: ReadonlyMap<string, ReadonlyArray<number>>) => Promise<void>
}

/** The ranges with more numbers added: ascending, neither overlapping nor touching. */
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

/** The holes between ranges. */
export const holesBetween = (ranges: ReadonlyArray<SequenceRange>): ReadonlyArray<SequenceRange> =>
  ranges.slice(1).map((range, index) => ({ from: ranges[index]!.to + 1, to: range.from - 1 }))

/** The events' numbers by shipment. */
export const sequencesOf = (events: ReadonlyArray<TransitEvent>): ReadonlyMap<string, ReadonlyArray<number>> => {
  const numbers = new Map<string, Array<number>>()
  for (const event of events) {
    const known = numbers.get(event.shipment.shipmentId)
    if (known === undefined) numbers.set(event.shipment.shipmentId, [event.sequence])
    else known.push(event.sequence)
  }
  return numbers
}

/** Compares new events, in the order of their delivery, with what came before. */
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
    return holesBetween(addSequences(before, [...numbers])).map((hole) => ({ shipmentId, ...hole, known: isKnown(hole) }))
  })
  return { missing, late, outOfOrder, repeated }
}

export interface SequencesInMemoryOptions {
  /** How many shipments are followed; the one that was quiet longest is forgotten first. Default 10,000. */
  readonly shipments?: number | undefined
  /** How many gaps are followed in one shipment; the lowest are forgotten first. Default 100. */
  readonly gaps?: number | undefined
}

/** Keeps in this process which numbers came. */
export class SequencesInMemory implements SequenceStore {
  readonly #shipments: number
  readonly #gaps: number
  readonly #arrived = new Map<string, ReadonlyArray<SequenceRange>>()

  constructor(options: SequencesInMemoryOptions = {}) {
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
      // put last: a Map keeps its order, so the quietest shipment stands first
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
