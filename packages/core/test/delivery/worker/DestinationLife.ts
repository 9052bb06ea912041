/**
 * A destination with a simple model of the store. Publications, takes, outcomes and loads are requested, run and answered at independent
 * times. Two takes may be pending at once: one that names the destination, and one that only consumes signals.
 */
import { assert } from "@effect/vitest"
import { type DeliveryPolicy, defaultPolicy, type LoadedDestination, type TakenFrom, type TakeFrom, type WaitingDelivery } from "@waybill/core/delivery"
import { eventBatchEnvelope } from "@waybill/core/transit-events"
import {
  attemptsBegin,
  begun,
  Destination,
  failed,
  foundBy,
  loadInto,
  needsLoad,
  planOf,
  settled,
  signalled,
  succeeded,
  takeFromOf
} from "../../../src/delivery/worker/Destination.ts"
import { OwnedPartitionState, OwnedTenant } from "../../../src/delivery/worker/WorkSet.ts"

export const makeLoaded = (policy: Partial<DeliveryPolicy> = {}, rest: Partial<LoadedDestination> = {}): LoadedDestination => ({
  destinationId: "destination",
  client: "client",
  source: "transit-events",
  endpointUrl: "https://receiver.example/hook",
  hmacSecretId: "main",
  policy: { ...defaultPolicy, batchMaxSize: 1, rateLimitPerMinute: 6_000_000, ...policy },
  envelope: eventBatchEnvelope,
  signing: "required",
  whenDead: "continue",
  version: 1,
  secrets: [],
  isActive: true,
  secretRefused: false,
  bodySignature: false,
  breaker: { failures: 0, openUntil: undefined },
  rateMark: undefined,
  waiting: [],
  moreWaiting: false,
  holdsBack: false,
  ...rest
})

export const newDestination = (othersUntil?: number): Destination =>
  new Destination("destination", new OwnedPartitionState(new OwnedTenant("acme"), { tenantId: "acme", partition: 0, epoch: 1, othersUntil }, Infinity, 0))

/** Entries that a take looks at. */
const lookAt = 3

/** Waiting deliveries that a load names. */
const namedWaiting = 3

interface Delivery {
  readonly id: string
  readonly keys: ReadonlyArray<string>
  readonly first: boolean
  state: "in flight" | "waiting" | "ended"
  dueAt: number
}

/** The store's rows of the destination. */
class PlainStore {
  entries: Array<string> = []
  signals: Array<string | undefined> = []
  readonly deliveries = new Map<string, Delivery>()
  isActive = true
  version = 1
  private ids = 0

  publish(key: string): void {
    this.entries = [...this.entries, key].sort()
    this.signals.push(key)
  }

  change(): void {
    this.version += 1
    this.signals.push(undefined)
  }

  get waiting(): ReadonlyArray<Delivery> {
    return [...this.deliveries.values()].filter(({ state }) => state === "waiting")
  }

  load(): LoadedDestination {
    const heads = this.waiting.filter(({ id, keys }) => !keys.some((key) => this.unsettledKeys(id).has(key)))
    const waiting = heads.map(({ dueAt, id }): WaitingDelivery => ({ deliveryId: id, dueAt })).sort((a, b) => a.dueAt - b.dueAt)
    const more = { moreWaiting: heads.length > namedWaiting, holdsBack: heads.length < this.waiting.length }
    return makeLoaded({}, { version: this.version, waiting: waiting.slice(0, namedWaiting), ...more })
  }

  take(from: TakeFrom | undefined): { readonly signals: ReadonlyArray<string | undefined>; readonly found: TakenFrom | undefined; readonly taken: ReadonlyArray<Delivery> } {
    if (from === undefined) return { signals: this.signals.splice(0), found: undefined, taken: [] }
    const signals: ReadonlyArray<string | undefined> = []
    const base = { destinationId: "destination", version: this.version, unseenKeys: [], unseenDeliveries: [] }
    if (!this.isActive) return { signals, found: { ...base, sends: false, after: from.after, more: false, blocked: false }, taken: [] }
    const named = from.inFlight.flatMap((id) => this.deliveries.get(id)!.keys)
    const again = from.again.flatMap((id) => this.sendAgain(id, named))
    const { blocked, more, reached, taken } = this.takeNew(from, named)
    return { signals, found: { ...base, sends: true, after: reached, more, blocked }, taken: [...again, ...taken] }
  }

  private unsettledKeys(before?: string): ReadonlySet<string> {
    const all = [...this.deliveries.values()].filter((each) => each.state === "waiting" && (before === undefined || each.id < before) || each.state === "in flight" && !each.first)
    return new Set(all.flatMap(({ keys }) => keys))
  }

  private sendAgain(id: string, named: ReadonlyArray<string>): ReadonlyArray<Delivery> {
    const delivery = this.deliveries.get(id)!
    const held = this.unsettledKeys(id)
    if (delivery.state !== "waiting" || delivery.keys.some((key) => held.has(key) || named.includes(key))) return []
    this.deliveries.delete(id)
    return [this.fly({ ...delivery, first: false })]
  }

  private takeNew({ after, batches }: TakeFrom, named: ReadonlyArray<string>) {
    const beyond = (key: string | undefined) => this.entries.filter((entry) => key === undefined || entry > key)
    if (batches === 0) return { reached: after, more: beyond(after).length > 0, blocked: false, taken: [] }
    const held = new Set([...this.unsettledKeys(), ...named])
    const taken: Array<Delivery> = []
    let reached = after
    for (const key of beyond(after).slice(0, lookAt)) {
      if (taken.length === batches) break
      reached = key
      if (held.has(key)) continue
      held.add(key)
      this.entries.splice(this.entries.indexOf(key), 1)
      taken.push(this.fly({ id: String(++this.ids).padStart(6, "0"), keys: [key], first: true, state: "in flight", dueAt: 0 }))
    }
    const blocked = this.entries.some((entry) => reached !== undefined && (after === undefined || entry > after) && entry <= reached)
    return { reached, more: beyond(reached).length > 0, blocked, taken }
  }

  /** A key is in at most one delivery in flight. */
  private fly(delivery: Delivery): Delivery {
    const inFlight = [...this.deliveries.values()].filter(({ state }) => state === "in flight").flatMap(({ keys }) => keys)
    for (const key of delivery.keys) assert.notInclude(inFlight, key)
    const flown: Delivery = { ...delivery, state: "in flight" }
    this.deliveries.set(flown.id, flown)
    return flown
  }

  /** Deliveries of a lost take were not sent, so they wait. */
  giveBack(taken: ReadonlyArray<Delivery>, now: number): void {
    for (const { id } of taken) Object.assign(this.deliveries.get(id)!, { state: "waiting", dueAt: now, first: false })
  }
}

interface Request {
  readonly from: TakeFrom | undefined
  readonly since: number
  readonly epoch: number
  answer: ReturnType<PlainStore["take"]> | undefined
}

interface Write {
  readonly id: string
  readonly waits: boolean
  readonly dueAt: number
  isWritten: boolean
}

/** Chooses an element; undefined if there is none. */
const at = <A>(all: ReadonlyArray<A>, n: number): A | undefined => all[Math.floor(n / 3) % all.length]

/** A worker that owns the destination. */
export class Life {
  readonly store = new PlainStore()
  readonly destination = newDestination()
  now = 1_763_600_000_000
  private events = 0
  private epoch = 1
  private readonly requests: Array<Request> = []
  private readonly lost: Array<Request> = []
  private readonly loads: Array<{ readonly since: number; answer: LoadedDestination | undefined }> = []
  private readonly attempts: Array<string> = []
  private readonly writes: Array<Write> = []

  /** Makes the next call of the worker. Returns whether there was one. */
  ask(room: number): boolean {
    const { destination, lost } = this
    if (lost.length > 0) this.reclaim()
    if (needsLoad(destination, this.now) || destination.settings === undefined) {
      destination.stale = false
      this.loads.push({ since: ++this.events, answer: undefined })
      return true
    }
    if (destination.taking) return false
    const plan = planOf(destination, this.now, room)
    const wanted = plan.again.length + plan.batches
    if (wanted === 0) return false
    assert.isAtMost(destination.running + wanted, Math.max(destination.window, 1), "the window")
    destination.taking = true
    this.requests.push({ from: takeFromOf(destination, plan, 1), since: ++this.events, epoch: this.epoch, answer: undefined })
    return true
  }

  hear(): void {
    if (this.lost.length === 0 && this.requests.every(({ from }) => from !== undefined)) {
      this.requests.push({ from: undefined, since: ++this.events, epoch: this.epoch, answer: undefined })
    }
  }

  /** The store runs a pending call, some time before its response. */
  run(n: number): void {
    const request = at(this.requests, n)
    if (n % 3 === 0) this.runTake(request)
    const load = at(this.loads, n)
    if (n % 3 === 1 && load !== undefined) load.answer ??= this.store.load()
    if (n % 3 === 2) this.runWrite(at(this.writes, n))
  }

  private runTake(request: Request | undefined): void {
    if (request !== undefined && request.answer === undefined && request.epoch === this.epoch) request.answer = this.store.take(request.from)
  }

  private runWrite(write: Write | undefined): void {
    if (write === undefined || write.isWritten) return
    write.isWritten = true
    Object.assign(this.store.deliveries.get(write.id)!, { state: write.waits ? "waiting" : "ended", dueAt: write.dueAt })
  }

  answer(n: number): void {
    if (n % 3 === 0) this.answerTake(n)
    if (n % 3 === 1) this.answerLoad(n)
    if (n % 3 === 2) this.answerWrite(n)
  }

  private answerTake(n: number): void {
    const request = at(this.requests, n)
    if (request === undefined) return
    this.requests.splice(this.requests.indexOf(request), 1)
    this.runTake(request)
    this.learn(request)
  }

  private answerLoad(n: number): void {
    const load = at(this.loads, n)
    if (load === undefined) return
    this.loads.splice(this.loads.indexOf(load), 1)
    loadInto(this.destination, load.answer ?? this.store.load(), { since: load.since, now: this.now, storeAhead: 0 })
  }

  private answerWrite(n: number): void {
    const write = at(this.writes, n)
    if (write === undefined) return
    this.writes.splice(this.writes.indexOf(write), 1)
    this.runWrite(write)
    const waiting = { deliveryId: write.id, dueAt: write.dueAt }
    settled(this.destination, write.id, write.waits ? waiting : undefined, ++this.events)
  }

  private learn({ answer, from, since }: Request): void {
    const { destination } = this
    if (from !== undefined) destination.taking = false
    // fenced: nothing was taken, and the signals are unread
    if (answer === undefined) return
    const { found, signals, taken } = answer
    if (found !== undefined) {
      foundBy(destination, { asked: from, found, now: this.now, since, taken: new Set(taken.map(({ id }) => id)) })
      if (destination.settings?.version !== found.version) destination.stale = true
    }
    for (const key of signals) signalled(destination, key, ++this.events)
    for (const { first, id, keys } of taken) {
      begun(destination, id, { lastKey: keys.at(-1)!, first })
      attemptsBegin(destination, this.now, 1)
      this.attempts.push(id)
    }
  }

  /** The response of a take is lost, whether it ran or not. */
  lose(n: number): void {
    const request = at(this.requests, n)
    if (request === undefined) return
    this.requests.splice(this.requests.indexOf(request), 1)
    this.lost.push(request)
    if (request.from === undefined) return
    this.destination.taking = false
    this.destination.behind = true
  }

  private reclaim(): void {
    this.epoch += 1
    for (const { answer } of this.lost.splice(0)) this.store.giveBack(answer?.taken ?? [], this.now)
    if (this.store.entries.length + this.store.waiting.length > 0) signalled(this.destination, undefined, ++this.events)
  }

  /** An attempt ends, and its outcome is queued for writing. */
  end(n: number, isAccepted: boolean): void {
    const [id] = this.attempts.splice(n % Math.max(1, this.attempts.length), 1)
    if (id === undefined) return
    this.destination.running -= 1
    const pause = 1000 + n * 10
    if (isAccepted) succeeded(this.destination, 8)
    else failed(this.destination, this.now, pause)
    this.writes.push({ id, waits: !isAccepted, dueAt: this.now + pause, isWritten: false })
  }

  retry(n: number): void {
    const ended = [...this.store.deliveries.values()].filter(({ state }) => state === "ended")
    if (ended.length === 0) return
    Object.assign(ended[n % ended.length]!, { state: "waiting", dueAt: this.now, first: false })
    this.store.signals.push(undefined)
  }

  pause(): void {
    this.store.isActive = false
    this.store.change()
  }

  resume(): void {
    if (this.store.isActive) return
    this.store.isActive = true
    this.store.change()
  }

  /** Without faults and publications, the worker continues until there is no work left. */
  settleDown(): void {
    this.resume()
    for (let turn = 0; turn < 2000; turn++) {
      while (this.requests.length > 0) this.answerTake(0)
      while (this.loads.length > 0) this.answerLoad(0)
      while (this.attempts.length > 0) this.end(0, true)
      while (this.writes.length > 0) this.answerWrite(0)
      if (this.store.signals.length > 0) this.hear()
      const isBusy = this.ask(4) || this.requests.length > 0
      if (isBusy) continue
      const { lookAt: next } = planOf(this.destination, this.now, 4)
      if (next === undefined) return
      this.now = next
    }
    assert.fail("the worker never becomes idle")
  }
}
