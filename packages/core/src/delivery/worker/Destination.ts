/**
 * The state of one destination in its worker, and the attempts that may begin now. Plain data and pure functions: the engine reports events
 * and executes the decisions.
 *
 * All instants are in the worker's time, which nobody sets: a changed clock of the store, or a failover to a machine with another clock, would
 * stop a destination until the clock reaches its instants again. Only `settings` has them as they are stored.
 */
import { compareText } from "../../shared/CodePoints.ts"
import { type LoadedDestination, type TakeFrom, type TakenFrom, type WaitingDelivery, waitingPerDestination } from "../DeliveryStore.ts"
import { afterFailure, type Breaker, breakerState, closedBreaker } from "../model/Breaker.ts"
import { grantOf, markAfter, markAfterOthers, rateWindowMillis } from "../model/RateLimit.ts"
import type { OwnedPartitionState, ReadyGroup } from "./WorkSet.ts"

/** The tenant and client whose slots an attempt uses. */
export interface SlotOwner {
  readonly tenantId: string
  readonly client: string
}

/** Attempts that a destination may have in flight before one of them succeeded. */
const firstWindow = 2

/** Assumed bytes of an event until some were sent. */
const guessedEventBytes = 1024

/** A delivery between its take and the write of its outcome. */
interface InFlight {
  /** The largest of its keys. */
  readonly lastKey: string
  /** Whether it is sent for the first time, so that its keys are stored in its flight only. */
  readonly first: boolean
  /** Set if a load returned it as waiting, because its outcome is written or an operator retried it. The destination is then loaded again. */
  waits?: true
}

/** A delivery that waits for its next attempt, in memory. */
interface Waiting extends WaitingDelivery {
  /** Event number of the worker when it began to wait; 0 if a load returned it. A load that began before does not replace it. */
  readonly since: number
  /** Whether a take that requested it did not return it. */
  readonly leftOut: boolean
}

/** A pause that is not written yet. */
export interface PendingPause {
  readonly reason: string
  /** Whether it applies even if the endpoint has changed. */
  readonly always: boolean
  /** The delivery whose outcome is its cause. */
  readonly cause?: string
}

/** A destination in its worker's memory. */
export class Destination {
  readonly destinationId: string
  /** Its partition, from when this worker became the owner. */
  readonly owned: OwnedPartitionState
  /** Undefined until it is loaded. */
  settings: LoadedDestination | undefined
  /** Whether the store may have changes that are not loaded yet. */
  stale = false
  /** Whether the destination may send, by the last take. */
  sends = true
  /** The key after which the next take starts. */
  cursor: string | undefined
  /** Whether entries may wait after the cursor. */
  ahead = false
  /** Whether entries may wait at or before the cursor. */
  behind = false
  /** Whether entries wait under the key of an unfinished delivery. */
  blocked = false
  /** Event numbers of the worker at the last signal and at the last written outcome. */
  signalledAt = 0
  settledAt = 0
  /** Number of pending loads. */
  loads = 0
  /** Event number of the last load whose result was applied, from when it began. */
  loadedAt = 0
  /** By due time. */
  waiting: Array<Waiting> = []
  /** Until when `waiting` has all deliveries that are due. The store may have more that are due from then on. */
  waitingUntil = Infinity
  readonly inFlight = new Map<string, InFlight>()
  /** Attempts that have not ended. */
  running = 0
  breaker: Breaker = closedBreaker
  /** Up to which instant its rate limit is used. */
  rateMark = -Infinity
  /** Maximum number of running attempts: it grows with each success and halves with each failure. */
  window = firstWindow
  /** A pause that is not written yet; nothing is taken until then. */
  pause: PendingPause | undefined
  /** Set if this process cannot open its secret: nothing is taken until this time, then the destination is loaded again. */
  unreadableUntil: number | undefined
  /** Set while it may send and waits for its turn. */
  readyIn: ReadyGroup | undefined
  /** Whether a take that includes it is pending, or its attempts have not begun. */
  taking = false
  /** Averages of the last deliveries. */
  bytesPerDelivery = 0
  eventsPerDelivery = 1
  /** Bytes that a take reserves for a delivery: few until some were sent, because most destinations have one event. It grows at once and shrinks slowly. */
  reservedPerDelivery = guessedEventBytes
  /** When attempts last began. */
  usedAt = -Infinity
  /** Times of its scheduled checks, the next one last. */
  readonly checksAt: Array<number> = []
  /** Whether a signal of its own is scheduled, because another transaction has locked it. */
  signalScheduled = false

  /** A destination that is not loaded. */
  constructor(destinationId: string, owned: OwnedPartitionState) {
    this.destinationId = destinationId
    this.owned = owned
  }
}

/** The owner of the slots that its attempts use. Its client never changes. */
export const ownerOf = ({ owned, settings }: Destination): SlotOwner => ({ tenantId: owned.tenantId, client: settings?.client ?? "" })

/** Whether its last attempt failed. */
export const isFailing = ({ breaker }: Destination): boolean => breaker.failures > 0

/** Whether it has, or may have, entries or deliveries to send. */
export const hasWork = (destination: Destination): boolean =>
  destination.inFlight.size > 0 || destination.waiting.length > 0 || destination.waitingUntil < Infinity || destination.ahead || destination.behind ||
  destination.blocked

/** Attempts of a destination that may begin now. */
export interface Plan {
  /** Due retries. */
  readonly again: ReadonlyArray<WaitingDelivery>
  /** Maximum number of new deliveries. */
  readonly batches: number
  /** When to plan again, if only time prevents further attempts. */
  readonly lookAt: number | undefined
}

const nothing: Plan = { again: [], batches: 0, lookAt: undefined }

/** Plans at most `room` attempts of a loaded destination at `now`, retries first. */
export const planOf = (destination: Destination, now: number, room: number): Plan => {
  const { breaker, settings, unreadableUntil, waiting, waitingUntil } = destination
  if (settings === undefined || !destination.sends || destination.pause !== undefined) return nothing
  if (unreadableUntil !== undefined) return { ...nothing, lookAt: unreadableUntil }
  // one that is returned without an attempt counts until that is written
  if (isFailing(destination) && destination.inFlight.size > 0) return nothing
  const due = countDue(waiting, now)
  const next = Math.min(waiting[due]?.dueAt ?? Infinity, waitingUntil > now ? waitingUntil : Infinity)
  const nextDue = next === Infinity ? undefined : next
  if (due === 0 && !destination.ahead && !destination.behind) return { ...nothing, lookAt: nextDue }
  if (breakerState(breaker, now) === "open") return { ...nothing, lookAt: breaker.openUntil }
  // a probe needs no rule of its own: a failing destination has one attempt
  const allowed = Math.min(room, isFailing(destination) ? 1 : destination.window - destination.running)
  if (allowed <= 0) return nothing
  const grant = grantOf(settings.policy.rateLimitPerMinute, destination.rateMark, now, allowed)
  if (grant.granted === 0) return { ...nothing, lookAt: now + Math.max(1, grant.waitMillis) }
  const again = waiting.slice(0, Math.min(due, grant.granted))
  return { again, batches: destination.ahead || destination.behind ? grant.granted - again.length : 0, lookAt: nextDue }
}

const countDue = (waiting: ReadonlyArray<WaitingDelivery>, now: number): number => {
  let due = 0
  while (due < waiting.length && waiting[due]!.dueAt <= now) due++
  return due
}

/** Converts the plan to a part of a take. If the cursor is exhausted and earlier entries may wait, the take starts at the first key. */
export const takeFromOf = (destination: Destination, plan: Plan, bytes: number): TakeFrom => {
  if (!destination.ahead && destination.behind) {
    destination.cursor = undefined
    destination.ahead = true
    destination.behind = false
  }
  const again = plan.again.map(({ deliveryId }) => deliveryId)
  const after = destination.cursor
  const inFlight: Array<string> = []
  for (const [deliveryId, { first, lastKey }] of destination.inFlight) {
    if (first && (again.length > 0 || after === undefined || compareText(lastKey, after) > 0)) inFlight.push(deliveryId)
  }
  return { destinationId: destination.destinationId, after, batches: plan.batches, bytes, inFlight, again }
}

/** Applies a signal: entries were published at this key or later; without a key, anything may have changed. */
export const signalled = (destination: Destination, key: string | undefined, at: number): void => {
  destination.signalledAt = at
  if (key === undefined) {
    destination.stale = true
    destination.sends = true
    destination.behind = true
  } else if (destination.cursor === undefined || compareText(key, destination.cursor) > 0) destination.ahead = true
  else destination.behind = true
}

/** Milliseconds until a retry is requested again that a take did not return because another delivery of its shipment is unfinished. */
const leftOutMillis = 1000

/**
 * Applies the result of a take. `asked`: the request, undefined if the take chose this destination itself; `taken`: ids of the returned
 * deliveries; `since`: event number of the request. The take may not have seen later signals and outcomes.
 */
export const foundBy = (
  destination: Destination,
  { asked, found, now, since, taken }: {
    readonly asked: TakeFrom | undefined
    readonly found: TakenFrom
    readonly now: number
    readonly since: number
    readonly taken: ReadonlySet<string>
  }
): void => {
  const isOutdated = destination.signalledAt > since
  destination.sends = found.sends || isOutdated
  if (isOutdated) destination.behind = true
  if (!found.sends) return
  if (asked !== undefined && asked.again.length > 0) {
    const gone = new Set(found.unseenDeliveries)
    const named = new Set(asked.again)
    const leftOut = destination.waiting.filter(({ deliveryId }) => named.has(deliveryId) && !taken.has(deliveryId) && !gone.has(deliveryId))
    destination.waiting = destination.waiting.filter(({ deliveryId }) => !named.has(deliveryId))
    for (const each of leftOut) insertWaiting(destination, { ...each, dueAt: now + leftOutMillis, leftOut: true })
    // if two takes did not return it, its outcome may be written already, or one waits of which this worker does not know
    if (leftOut.some(({ leftOut }) => leftOut)) destination.stale = true
  }
  if (asked !== undefined && asked.batches === 0) return
  if (found.blocked && destination.settledAt > since) destination.behind = true
  // a take from the first key sees all blocked entries
  else destination.blocked = found.blocked || (destination.blocked && asked?.after !== undefined)
  destination.ahead = found.more
  destination.cursor = found.more ? found.after : undefined
}

/** Records that a delivery is in flight. */
export const begun = (destination: Destination, deliveryId: string, what: InFlight): void => {
  destination.inFlight.set(deliveryId, what)
  // a load that began before the take may have returned it as waiting
  if (!what.first) forgetWaiting(destination, deliveryId)
}

/** Applies a written outcome, which unblocks entries with the same keys. */
export const settled = (destination: Destination, deliveryId: string, waiting: WaitingDelivery | undefined, at: number): void => {
  const flown = destination.inFlight.get(deliveryId)
  destination.settledAt = at
  // also if it waits: an operator's retry makes it due sooner
  if (flown?.waits === true) destination.stale = true
  destination.inFlight.delete(deliveryId)
  if (flown?.first === false && destination.settings?.holdsBack === true) destination.waitingUntil = -Infinity
  if (waiting !== undefined) insertWaiting(destination, { ...waiting, since: at, leftOut: false })
  forgetLastWaiting(destination)
  if (!destination.blocked) return
  destination.blocked = false
  destination.behind = true
}

const forgetWaiting = (destination: Destination, deliveryId: string): void => {
  const at = destination.waiting.findIndex((each) => each.deliveryId === deliveryId)
  if (at >= 0) destination.waiting.splice(at, 1)
}

/** A receiver may fail for days, with thousands of deliveries that wait. A load that is pending may have missed those that are written meanwhile, so they stay. */
const forgetLastWaiting = (destination: Destination): void => {
  const { loads, waiting } = destination
  if (waiting.length <= 2 * waitingPerDestination || loads > 0) return
  waiting.length = waitingPerDestination
  destination.waitingUntil = Math.min(destination.waitingUntil, waiting.at(-1)!.dueAt)
}

/** Pauses the destination: nothing is taken until the pause is written. One for the current endpoint only adds nothing to one for any endpoint. */
export const pause = (destination: Destination, pending: PendingPause): void => {
  if (pending.always || destination.pause?.always !== true) destination.pause = pending
}

/** Applies a written pause. From now on the store decides whether the destination may send. */
export const changeWritten = (destination: Destination, pause: PendingPause | undefined): void => {
  // another attempt may have requested a pause since, with the same reason
  if (pause === undefined || destination.pause !== pause) return
  destination.pause = undefined
  destination.behind = true
}

/** Adds a waiting delivery in order of due time, unless it is there. */
export const insertWaiting = (destination: Destination, waiting: Waiting): void => {
  const list = destination.waiting
  if (list.some(({ deliveryId }) => deliveryId === waiting.deliveryId)) return
  let at = list.length
  while (at > 0 && list[at - 1]!.dueAt > waiting.dueAt) at--
  list.splice(at, 0, waiting)
}

/**
 * Replaces the state by the one that was loaded at `now`, except for changes by this worker since event number `since`, when the load began. Returns whether it did: a later
 * load may have been answered first.
 */
export const loadInto = (
  destination: Destination,
  loaded: LoadedDestination,
  { now, since, storeAhead }: { readonly now: number; readonly since: number; readonly storeAhead: number }
): boolean => {
  if (since < destination.loadedAt) return false
  destination.loadedAt = since
  const before = destination.settings
  destination.settings = loaded
  const { inFlight } = destination
  // where one is gone, a crash of the store may have lost its outcome: the next take notices that, also if only entries behind it wait
  if (destination.blocked && destination.waiting.some(({ deliveryId }) => !loaded.waiting.some((each) => each.deliveryId === deliveryId))) destination.behind = true
  destination.waiting = destination.waiting.filter((each) => each.since > since)
  // one that ended during the load may be among them; a take leaves it out
  for (const { deliveryId, dueAt } of loaded.waiting) {
    const own = inFlight.get(deliveryId)
    if (own === undefined) insertWaiting(destination, { deliveryId, dueAt: instantOf(dueAt, loaded, now, storeAhead), since: 0, leftOut: false })
    else own.waits = true
  }
  destination.waitingUntil = loaded.moreWaiting ? instantOf(loaded.waiting.at(-1)!.dueAt, loaded, now, storeAhead) : Infinity
  // what ended during the load may have held one back
  if (loaded.holdsBack && destination.settledAt > since) destination.waitingUntil = -Infinity
  if (before === undefined) {
    // the mark of the previous owner; after a takeover, as if that owner had sent the maximum
    const mark = Math.max((loaded.rateMark ?? -Infinity) - storeAhead, markAfterOthers(loaded.policy.rateLimitPerMinute, destination.owned.othersUntil))
    // a later one was stored before the clock was set back
    destination.rateMark = Math.min(mark, now + rateWindowMillis)
    destination.bytesPerDelivery = loaded.policy.batchMaxSize * guessedEventBytes
  }
  // outcomes of the old endpoint do not apply to the new one
  if (before === undefined || before.endpointUrl !== loaded.endpointUrl) {
    const { failures, openUntil } = loaded.breaker
    destination.breaker = { failures, openUntil: openUntil === undefined ? undefined : instantOf(openUntil, loaded, now, storeAhead) }
    destination.window = firstWindow
    if (destination.pause?.always === false) destination.pause = undefined
  }
  return true
}

/** A stored instant until which a delivery or the breaker waits. A later one than the policy permits was stored before the clock was set back. */
const instantOf = (stored: number, { policy }: LoadedDestination, now: number, storeAhead: number): number =>
  Math.min(stored - storeAhead, now + policy.maxBackoffSeconds * 1000)

/** Milliseconds until a destination is tried again whose secret this process cannot open: a version of the secret may expire in that time. */
const unreadableMillis = 60_000

/** Records whether its signing keys could be opened. */
export const secretOpened = (destination: Destination, isOpen: boolean, now: number): void => {
  destination.unreadableUntil = isOpen ? undefined : now + unreadableMillis
}

/** Whether it must be loaded again before the next take. */
export const needsLoad = (destination: Destination, now: number): boolean =>
  destination.stale || (destination.unreadableUntil ?? Infinity) <= now || destination.waitingUntil <= now && isExhausted(destination, now)

/** Whether all that is due of what is known was taken. What a take left out waits for a new delivery: a load would return it again. */
const isExhausted = ({ waiting }: Destination, now: number): boolean => waiting.every(({ dueAt, leftOut }) => dueAt > now && !leftOut)

/**
 * Whether its rate mark was stored before the clock was set back. Every load would delay the destination by a minute until the clock reaches the mark,
 * so its owner keeps the destination in memory, and replaces the mark when it releases the partition.
 */
export const isMarkAhead = ({ settings }: Destination, storeNow: number): boolean => (settings?.rateMark ?? 0) > storeNow + rateWindowMillis

/** Counts attempts that begin now for the rate limit. */
export const attemptsBegin = (destination: Destination, now: number, attempts: number): void => {
  destination.rateMark = markAfter(destination.settings!.policy.rateLimitPerMinute, destination.rateMark, now, attempts)
  destination.running += attempts
  destination.usedAt = now
}

/** Whether this worker has sent to it, so that its averages are of deliveries. */
export const hasSent = ({ usedAt }: Destination): boolean => usedAt > -Infinity

/** Learns from a delivery that is about to be sent. */
export const learnSize = (destination: Destination, bytes: number, events: number): void => {
  destination.bytesPerDelivery += (bytes - destination.bytesPerDelivery) / 8
  destination.eventsPerDelivery += (events - destination.eventsPerDelivery) / 8
  destination.reservedPerDelivery = Math.max(bytes, destination.reservedPerDelivery + (bytes - destination.reservedPerDelivery) / 8)
}

/** Applies an accepted delivery. */
export const succeeded = (destination: Destination, mostInFlight: number): void => {
  destination.window = Math.min(mostInFlight, destination.window + 1)
  if (isFailing(destination)) destination.breaker = closedBreaker
}

/** Applies a failed attempt, whose delivery is retried after `retryInMillis`. */
export const failed = (destination: Destination, now: number, retryInMillis: number): void => {
  destination.window = Math.max(1, Math.floor(destination.window / 2))
  destination.breaker = afterFailure(destination.breaker, now, retryInMillis)
}
