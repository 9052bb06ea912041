/** A take on Postgres: one statement reads, the rules of core pick, and another statement moves what was picked. */
import { compareText } from "@waybill/core"
import { deliveryIdOf, partitionOf, type PickedEntries, pickEntries, type Signal, smallestOfEach, type Taken, type TakenDelivery, type TakenFrom, type TakeRequest, type WaitingEntry } from "@waybill/core/delivery"
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { PgClient } from "../../client/PgClient.ts"
import { type Decoded, int4 } from "../../client/SqlRow.ts"
import type { Statement } from "../../client/SqlStatement.ts"
import { againRow, flownOf, flownRow, freeze, frozenRow, sentAgain } from "./FreezeSql.ts"
import { lockFence } from "./PartitionSql.ts"
import type { PayloadSource } from "../PayloadSource.ts"
import { entryState, findForTake, foundRow } from "./TakeSql.ts"

type Found = Decoded<typeof foundRow>

interface FoundEntry extends WaitingEntry {
  readonly sequence: number
  readonly ref: number
  readonly location: string
  readonly orderId: string
  readonly traceparent: string | null
  /** Where its bytes start in `bodies`, those of all entries of the destination. */
  readonly start: number
  readonly bodies: Uint8Array
}

/** What a take found, and picked. */
interface FoundForTake extends Pick<Taken, "owned" | "from"> {
  readonly signals: ReadonlyArray<FoundSignal>
  readonly deliveries: ReadonlyArray<NewDelivery>
  /** Deliveries that waited. */
  readonly again: ReadonlyArray<{ readonly destinationId: string; readonly deliveryId: string }>
}

interface NewDelivery {
  readonly ordinal: number
  readonly destinationId: string
  readonly entries: ReadonlyArray<FoundEntry>
}

/**
 * Between the two statements the owner's epoch may be raised, and others may remove entries. Both are rare: only if the second statement did not write what it was
 * given, it is asked what it wrote.
 */
export const takeWith = (sql: PgClient, schema: Statement, sources: ReadonlyArray<PayloadSource>) => {
  const write = Effect.fnUntraced(function*(request: TakeRequest, found: FoundForTake) {
    const { again, deliveries, owned, signals } = found
    if (signals.length + deliveries.length + again.length === 0) return found
    const entries = deliveries.flatMap(({ destinationId, entries, ordinal }) => {
      const traceparent = traceparentOf(entries)
      return entries.map(({ location, ref }) => ({ destinationId, location, ref, traceparent, ordinal }))
    })
    const frozen = yield* sql.rows(frozenRow, freeze(schema, request, { signals, entries, again: again.map(({ deliveryId }) => deliveryId) }))
    const named = deliveries.length + again.length === 0 ? owned : [...deliveries, ...again].map(({ destinationId }) => partitionOf(destinationId))
    const written = new Set(frozen.map(({ partition }) => partition))
    const isWhole = named.every((partition) => written.has(partition)) && frozen.reduce((sum, each) => sum + each.entries, 0) === entries.length
    return isWhole ? found : yield* onlyWritten(request, found)
  })

  const onlyWritten = Effect.fnUntraced(function*(request: TakeRequest, { again, deliveries, from, owned, signals }: FoundForTake) {
    const owning = yield* sql.rows(int4, lockFence(schema, request.tenantId, request.owned))
    const flown = yield* sql.rows(flownRow, flownOf(schema, request))
    const refs = new Map(flown.map((each) => [each.ordinal, new Set(each.refs)]))
    // another owner removes the flight; a reclaim of another take raises the epoch as well, and leaves it
    const held = new Set([...owning, ...flown.map(({ partition }) => partition)])
    const isHeld = ({ destinationId }: { readonly destinationId: string }) => held.has(partitionOf(destinationId))
    return {
      owned: owned.filter((partition) => held.has(partition)),
      signals: signals.filter(isHeld),
      from: from.filter(isHeld),
      again: again.filter(isHeld),
      deliveries: deliveries.flatMap((each) => {
        const own = isHeld(each) ? refs.get(each.ordinal) : undefined
        return own === undefined ? [] : [{ ...each, entries: each.entries.filter(({ ref }) => own.has(ref)) }]
      })
    }
  })

  return Effect.fnUntraced(function*(request: TakeRequest): Effect.fn.Return<Taken, SqlError> {
    const [whole, ...rows] = yield* sql.rows(foundRow, findForTake(schema, sources, request))
    const asked = new Map(request.from.map((each) => [each.destinationId, each]))
    const picked = rows.map((row) => pickedIn(row, asked.get(row.destinationId!) ?? firstDelivery, request.maxBatchBytes))
    const { again, deliveries, ...rest } = yield* write(request, {
      owned: whole!.owned!,
      signals: signalsIn(whole!, request.signals),
      from: picked.map(({ from }) => from),
      deliveries: picked.flatMap(({ batches, from: { destinationId } }) => batches.map((entries) => ({ destinationId, entries })))
        .map((each, ordinal) => ({ ...each, ordinal })),
      again: rows.flatMap(({ again, destinationId }) => (again ?? []).map((deliveryId) => ({ destinationId: destinationId!, deliveryId })))
    })
    const repeated = again.length === 0 ? [] : yield* sql.rows(againRow, sentAgain(schema, sources, request.tenantId, again.map(({ deliveryId }) => deliveryId)))
    return {
      ...rest,
      now: whole!.now!,
      signals: smallestOfEach(rest.signals),
      moreSignals: (whole!.signalled?.length ?? 0) > request.signals,
      deliveries: [...repeated.map((each) => ({ ...each, flight: request.flight })), ...deliveries.map((each) => deliveryOf(request, each))]
    }
  })
}

type Asked = Pick<TakeRequest["from"][number], "after" | "batches">

/** Of a destination that only a signal names. */
const firstDelivery: Asked = { after: undefined, batches: 1 }

const pickedIn = (row: Found, { after, batches }: Asked, maxBytes: number): { readonly from: TakenFrom; readonly batches: PickedEntries<FoundEntry>["batches"] } => {
  const destinationId = row.destinationId!
  const found = { destinationId, version: row.version!, sends: row.sends!, unseenDeliveries: row.unseenAgain ?? [] }
  if (!found.sends || batches === 0) return { from: { ...found, after, more: row.more! && found.sends, blocked: false, unseenKeys: [] }, batches: [] }
  const { batches: picked, ...rest } = pickEntries(after, { entries: entriesIn(row), more: row.more! }, { batches, maxSize: row.batchMaxSize!, maxBytes })
  return { from: { ...found, ...rest }, batches: picked.map((entries) => entries.toSorted(byPlace)) }
}

const entriesIn = ({ bodies, keys, locations, orderIds, refs, sequences, sizes, states, traceparents, unseenKeys }: Found): ReadonlyArray<FoundEntry> => {
  const unseen = new Set(unseenKeys)
  let at = 0
  return (keys ?? []).map((key, n) => {
    const start = at
    const size = (sizes as ReadonlyArray<number | null>)[n] ?? undefined
    if (size !== undefined) at += size + 1
    const state = states![n]
    return {
      key,
      sequence: sequences![n]!,
      ref: refs![n]!,
      location: locations![n]!,
      held: state === entryState.held,
      unseen: state === entryState.unseen || state === entryState.takeable && (size === undefined || unseen.has(key)),
      readable: state === entryState.takeable || state === entryState.unseen,
      orderId: orderIds![n] ?? "",
      traceparent: traceparents![n] ?? null,
      size: size ?? 0,
      start,
      bodies: bodies ?? noBytes
    }
  })
}

/** Entries come by key and sequence. */
const byPlace = (a: FoundEntry, b: FoundEntry): number => a.key === b.key && a.sequence === b.sequence ? compareText(a.orderId, b.orderId) : 0

const noBytes = new Uint8Array()
const comma = new Uint8Array([0x2c])

/** Entries that were read one after the other stand in one piece, with the commas between them. */
const bodyOf = (entries: ReadonlyArray<FoundEntry>): Uint8Array => {
  const pieces: Array<Uint8Array> = []
  for (let from = 0; from < entries.length;) {
    const first = entries[from]!
    let end = first.start + first.size
    let next = from + 1
    while (next < entries.length && entries[next]!.start === end + 1) end = entries[next]!.start + entries[next++]!.size
    pieces.push(...pieces.length === 0 ? [] : [comma], first.bodies.subarray(first.start, end))
    from = next
  }
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
}

const deliveryOf = ({ flight, sentAt }: TakeRequest, { destinationId, entries, ordinal }: NewDelivery): TakenDelivery => ({
  destinationId,
  deliveryId: deliveryIdOf(flight, ordinal),
  flight,
  sentAt,
  attempt: 1,
  tries: 1,
  events: entries.length,
  body: bodyOf(entries),
  lastKey: entries.at(-1)!.key,
  traceparent: traceparentOf(entries) ?? undefined
})

/** The first one, in every attempt. */
const traceparentOf = (entries: ReadonlyArray<FoundEntry>): string | null => entries.find(({ traceparent }) => traceparent !== null)?.traceparent ?? null

type FoundSignal = Signal & { readonly no: number; readonly location: string }

const signalsIn = ({ signalKeys, signalled, signalLocations, signalNos }: Found, most: number): ReadonlyArray<FoundSignal> =>
  (signalled ?? []).slice(0, most).map((destinationId, n) => ({
    destinationId,
    key: (signalKeys as ReadonlyArray<string | null>)[n] ?? undefined,
    no: signalNos![n]!,
    location: signalLocations![n]!
  }))
