/** Rows of the memory store: pickups by number and PRO, their history, and answered requests. */
import { compareText, isOwn, type SubscriptionRow } from "@waybill/core"
import {
  type AnsweredRequest,
  changesPerRead,
  type PickupChange,
  type PickupChangeRange,
  type PickupChangeRows,
  type PickupHistoryEntry,
  type PickupListRange,
  type PickupRow,
  type PickupViewer,
  type TimeRange
} from "@waybill/core/pickups"
import { Context, Layer } from "effect"
import { AreaRows, areaRows } from "../access/AreaRows.ts"
import { newestWithin } from "../shared/NewestFirst.ts"
import { setIn } from "../shared/EntryIn.ts"
import type { RemovedSubscription } from "../subscriptions/EditableSubscriptions.ts"

interface StoredAnswer extends AnsweredRequest {
  readonly storedAt: number
}

/** An entry of the work list. */
interface ListedChange extends PickupChange {
  readonly changeNo: number
  readonly pickupId: string
  readonly at: number
}

class TenantPickups {
  readonly rows = new Map<string, PickupRow>()
  readonly byNumber = new Map<string, string>()
  readonly byPro = new Map<string, Set<string>>()
  /** History of each pickup, by position. */
  readonly history = new Map<string, Array<PickupHistoryEntry>>()
  /** By number, in its order. */
  readonly changes = new Map<number, ListedChange>()
  readonly answers = new Map<string, StoredAnswer>()
  /** The last issued number, for real pickups and for tests. */
  readonly counters = new Map<boolean, number>()
  /** Bytes of the histories of a client's pickups, with their entries in the work list. */
  readonly usage = new Map<string, number>()
  readonly subscriptions = new Map<string, SubscriptionRow>()
  readonly removed = new Map<string, RemovedSubscription>()
  /** The last number and time of the work list. */
  readonly feed = { last: 0, lastAt: -Infinity }
}

/** The maximum number removed by one call. */
const pruneLimit = 5000

export class PickupTables extends Context.Service<PickupTables, PickupRows>()("@waybill/testkit/pickups/PickupTables") {
  static readonly layer = Layer.effect(PickupTables, areaRows((shared) => new PickupRows(shared, () => new TenantPickups())))
}

class PickupRows extends AreaRows<TenantPickups> {
  next(tenantId: string, isTest: boolean): number {
    const { counters } = this.of(tenantId)
    const number = (counters.get(isTest) ?? 0) + 1
    this.journal.put(counters, isTest, number)
    return number
  }

  /** The pickup with this number. */
  numbered(tenantId: string, number: string, isTest: boolean): PickupRow | undefined {
    const { byNumber, rows } = this.of(tenantId)
    const pickupId = byNumber.get(sideKey(number, isTest))
    return pickupId === undefined ? undefined : rows.get(pickupId)
  }

  put(tenantId: string, row: PickupRow): void {
    this.unlink(tenantId, row.pickupId)
    const { byNumber, byPro, rows } = this.of(tenantId)
    this.journal.put(rows, row.pickupId, row)
    if (row.number !== undefined) this.journal.put(byNumber, sideKey(row.number, row.isTest), row.pickupId)
    for (const pro of row.pros) this.journal.add(setIn(byPro, sideKey(pro, row.isTest)), row.pickupId)
  }

  private unlink(tenantId: string, pickupId: string): void {
    const { byNumber, byPro, rows } = this.of(tenantId)
    const before = rows.get(pickupId)
    if (before === undefined) return
    if (before.number !== undefined) this.journal.drop(byNumber, sideKey(before.number, before.isTest))
    for (const pro of before.pros) this.journal.remove(setIn(byPro, sideKey(pro, before.isTest)), pickupId)
    this.journal.drop(rows, pickupId)
  }

  /** The newest entries of all these pickups, oldest first. */
  newestHistories(tenantId: string, pickupIds: ReadonlyArray<string>): ReadonlyArray<PickupHistoryEntry> {
    const { history } = this.of(tenantId)
    const newestFirst = pickupIds.flatMap((pickupId) => history.get(pickupId) ?? [])
      .sort((a, b) => b.at - a.at || compareText(b.pickupId, a.pickupId) || b.position - a.position)
    return newestWithin(newestFirst, newestFirst.length, ({ doc }) => Buffer.byteLength(doc)).toSorted((a, b) => a.position - b.position)
  }

  append(tenantId: string, entry: PickupHistoryEntry): void {
    const entries = this.journal.listIn(this.of(tenantId).history, entry.pickupId)
    this.journal.insert(entries, entries.length, entry)
  }

  /** Adds an entry to the work list, and queues it for the subscriptions of carriers that see the pickup. */
  list(tenantId: string, { at, pickupId }: PickupHistoryEntry, change: PickupChange, now: number): void {
    const { changes, feed } = this.of(tenantId)
    const changeNo = feed.last + 1
    this.journal.set(feed, "last", changeNo)
    this.journal.set(feed, "lastAt", Math.max(feed.lastAt, at))
    this.journal.put(changes, changeNo, { ...change, changeNo, pickupId, at: feed.lastAt })
    for (const subscription of this.of(tenantId).subscriptions.values()) {
      if (subscription.matched) this.queue(tenantId, subscription, changes.get(changeNo)!, now)
    }
  }

  /** Queues a change, if the subscription's client sees the pickup and the change does not wait already. Returns whether it was queued. */
  private queue(tenantId: string, { client, id }: SubscriptionRow, { body, changeNo, pickupId, traceparent }: ListedChange, now: number): boolean {
    const destination = this.clientSees(tenantId, client, pickupId) ? this.destinations.find(tenantId, id) : undefined
    const place = { key: pickupId, sequence: changeNo, orderId: String(changeNo) }
    if (destination === undefined || this.destinations.waits(destination, place)) return false
    const seenBy = (own: string) => this.clientSees(tenantId, own, pickupId)
    this.destinations.enqueue(destination, { ...place, payload: body, traceparent, seenBy }, now)
    this.destinations.signal(destination, pickupId)
    return true
  }

  /** Queues entries of the work list again. Returns their number. */
  replay(tenantId: string, record: SubscriptionRow, { from, to = Infinity }: TimeRange, now: number): number {
    const within = [...this.of(tenantId).changes.values()].filter(({ at }) => at >= from && at < to)
    return within.filter((change) => this.queue(tenantId, record, change, now)).length
  }

  /** Whether a client may see the pickup now. Carriers without a number see all, others pickups that they or no carrier has decided. */
  clientSees(tenantId: string, client: string, pickupId: string): boolean {
    if (this.access.maySee(tenantId, client, [])) return true
    const row = this.of(tenantId).rows.get(pickupId)
    const carrier = [...this.access.accountsOf(tenantId, client)].filter((account) => account.startsWith(" "))
    return row !== undefined && carrier.length > 0 && (row.carrier === undefined || isOwn(carrier, row.carrier))
  }

  listed(tenantId: string, { after, bytes, limit, since, status, viewer }: PickupChangeRange): PickupChangeRows {
    const { changes, feed, rows } = this.of(tenantId)
    const from = since === undefined ? 0 : [...changes.values()].find(({ at }) => at >= since)?.changeNo ?? Infinity
    const scanned = [...changes.values()].filter(({ changeNo }) => changeNo > after && changeNo >= from).slice(0, changesPerRead)
    const matching = scanned.filter(({ pickupId }) => {
      const row = rows.get(pickupId)
      return row !== undefined && (status === undefined || row.status === status) && maySeePickup(viewer, row)
    }).slice(0, limit)
    let size = 0
    const entries = matching.filter(({ body }, index) => {
      size += body.length
      return index === 0 || size <= bytes
    }).map(({ body, changeNo }) => ({ changeNo, body }))
    const through = scanned.at(-1)?.changeNo ?? feed.last
    return { entries, through, more: entries.length === 0 && scanned.length === changesPerRead }
  }

  /** Pickups by id: waiting ones in ascending order, or all in descending order. */
  inOrder(tenantId: string, { after, limit, waiting }: PickupListRange): ReadonlyArray<PickupRow> {
    const sign = waiting ? 1 : -1
    return [...this.of(tenantId).rows.values()]
      .filter((row) => (row.waits || !waiting) && (after === undefined || sign * compareText(row.pickupId, after) > 0))
      .sort((a, b) => sign * compareText(a.pickupId, b.pickupId))
      .slice(0, limit)
  }

  /** Pickups with a number and this PRO, newest order first. */
  carrying(tenantId: string, pro: string, isTest: boolean): ReadonlyArray<PickupRow> {
    return this.ofPros(tenantId, [pro], isTest).filter((row) => row.number !== undefined)
  }

  /** Pickups with one of the PROs, with or without a number, newest order first. */
  ofPros(tenantId: string, pros: ReadonlyArray<string>, isTest: boolean): ReadonlyArray<PickupRow> {
    const { byPro, rows } = this.of(tenantId)
    const pickupIds = new Set(pros.flatMap((pro) => [...byPro.get(sideKey(pro, isTest)) ?? []]))
    return [...pickupIds].map((pickupId) => rows.get(pickupId)!)
      .sort((a, b) => b.createdAt - a.createdAt || compareText(b.pickupId, a.pickupId))
  }

  answer(tenantId: string, client: string, key: string): AnsweredRequest | undefined {
    const stored = this.of(tenantId).answers.get(answerKey(client, key))
    return stored === undefined ? undefined : { fingerprint: stored.fingerprint, answer: stored.answer }
  }

  remember(tenantId: string, client: string, key: string, answered: AnsweredRequest, now: number): void {
    this.journal.put(this.of(tenantId).answers, answerKey(client, key), { ...answered, storedAt: now })
  }

  /** Adds bytes, possibly negative, to what a client's pickups take. */
  use(tenantId: string, client: string, bytes: number): void {
    const { usage } = this.of(tenantId)
    this.journal.put(usage, client, (usage.get(client) ?? 0) + bytes)
  }

  prune(tenantId: string, before: { readonly ordered: number; readonly answered: number }): number {
    const { answers, changes, history, rows } = this.of(tenantId)
    const inUse = this.destinations.payloadsInUse(tenantId)
    const needed = new Set([...changes.values()].flatMap(({ body, pickupId }) => inUse.has(body) ? [pickupId] : []))
    const old = [...rows.values()].filter((row) => row.createdAt < before.ordered && !needed.has(row.pickupId)).slice(0, pruneLimit)
    const removed = new Map(old.map(({ client, pickupId }) => [pickupId, client]))
    for (const { body, pickupId } of changes.values()) if (removed.has(pickupId)) this.use(tenantId, removed.get(pickupId)!, -body.length)
    this.journal.dropWhere(changes, ({ pickupId }) => removed.has(pickupId))
    for (const { client, pickupId } of old) {
      for (const { doc } of history.get(pickupId) ?? []) this.use(tenantId, client, -Buffer.byteLength(doc))
      this.unlink(tenantId, pickupId)
      this.journal.drop(history, pickupId)
    }
    return old.length + this.journal.dropWhere(answers, ({ storedAt }) => storedAt < before.answered, pruneLimit)
  }
}

const sideKey = (text: string, isTest: boolean): string => `${isTest ? "test" : "real"} ${text}`

const answerKey = (client: string, key: string): string => JSON.stringify([client, key])

export const maySeePickup = (viewer: PickupViewer, row: PickupRow): boolean => {
  if (viewer === "all") return true
  if ("carrier" in viewer) return row.carrier === undefined || isOwn(viewer.carrier, row.carrier)
  return viewer.client === row.client || row.accounts.some((account) => viewer.accounts.includes(account))
}
