/** A destination under a worker's lease, and what is written of it. */
import type { Attempt, Verdict } from "./Attempts.ts"
import type { ClaimedDestination, DueDelivery, DestinationSettlement, Settlement } from "./DeliveryQueue.ts"
import { afterFailure, afterSuccess, type Breaker } from "./model/Breaker.ts"

/** What a worker knows of a destination it holds. */
export interface HeldDestination {
  readonly tenantId: string
  readonly destinationId: string
  readonly client: string
  readonly token: number
  readonly since: number
  /** By the last claim. Attempts that began before may still go to another. */
  endpointUrl: string
  /** What the store's clock is ahead of the worker's time, by the last claim. */
  storeAhead: number
  arrivals: number
  breaker: Breaker
  breakerChanged: boolean
  rateMark: number
  underWay: number
  /** Being claimed or started right now: not to be given back meanwhile. */
  busy: boolean
  /** Settled since the last look at what waits: their shipments are free again. */
  settled: boolean
  more: boolean
  /** Worker time before which nothing goes out. */
  notBefore: number
  /** Worker time before which another look finds what the last one found, unless an attempt ends. */
  lookAgainAt: number
  pause: string | undefined
  /** The lease went to somebody else. */
  lost: boolean
  /**
   * A write under this lease failed, and may still happen: nothing more is asked for under it. The destination is given back as soon as it can
   * be, and the token of its next lease fences what comes late.
   */
  doubtful: boolean
}

/** An attempt that ended, not written yet. */
export interface Finished {
  readonly destination: HeldDestination
  readonly attempt: Attempt
  readonly verdict: Verdict
}

/** A delivery given up without an attempt, not written yet. */
export interface Hopeless {
  readonly destination: HeldDestination
  readonly settlement: Settlement
}

export const byTenant = (destinations: Iterable<HeldDestination>): Map<string, Array<HeldDestination>> => {
  const tenants = new Map<string, Array<HeldDestination>>()
  for (const destination of destinations) {
    const own = tenants.get(destination.tenantId)
    if (own === undefined) tenants.set(destination.tenantId, [destination])
    else own.push(destination)
  }
  return tenants
}

const settlementOf = ({ attempt, destination, verdict }: Finished): Settlement => ({
  destinationId: destination.destinationId,
  token: destination.token,
  deliveryId: attempt.deliveryId,
  state: verdict.state,
  dueInMillis: verdict.dueInMillis,
  uncount: verdict.uncount,
  record: verdict.record
})

/** A delivery whose every sender died ends as a dead letter. */
export const deadSettlement = (destination: HeldDestination, { attempt, deliveryId }: DueDelivery): Settlement => ({
  destinationId: destination.destinationId,
  token: destination.token,
  deliveryId,
  state: "dead",
  dueInMillis: 0,
  uncount: false,
  record: undefined,
  attempt
})

const destinationSettlementOf = (destination: HeldDestination, release: boolean, now: number): DestinationSettlement => ({
  destinationId: destination.destinationId,
  token: destination.token,
  endpointUrl: destination.endpointUrl,
  breaker: destination.breaker,
  pause: destination.pause,
  release: release
    ? { arrivals: destination.arrivals, progress: destination.more || destination.settled, notBeforeMillis: Math.max(0, destination.notBefore - now) }
    : undefined
})

/** What is to be written of these destinations, tenant by tenant. */
export const outcomesOf = (
  changed: Iterable<HeldDestination>,
  { finished, hopeless, released }: {
    readonly finished: ReadonlyArray<Finished>
    readonly hopeless: ReadonlyArray<Hopeless>
    readonly released: ReadonlySet<HeldDestination>
  },
  now: number
) =>
  Array.from(byTenant(changed), ([tenantId, destinations]) => ({
    tenantId,
    deliveries: [
      ...finished.filter((each) => each.destination.tenantId === tenantId).map(settlementOf),
      ...hopeless.filter((each) => each.destination.tenantId === tenantId).map((each) => each.settlement)
    ],
    destinations: destinations.filter((destination) => destination.breakerChanged || destination.pause !== undefined || released.has(destination))
      .map((destination) => destinationSettlementOf(destination, released.has(destination), now))
  }))

/** A destination as it comes from a claim; busy until its attempts are started. */
export const holdDestination = (tenantId: string, destination: ClaimedDestination, now: number, storeAhead: number): HeldDestination => ({
  tenantId,
  destinationId: destination.destinationId,
  client: destination.client,
  token: destination.token,
  since: now,
  endpointUrl: destination.endpointUrl,
  storeAhead,
  arrivals: destination.arrivals,
  breaker: destination.breaker,
  breakerChanged: false,
  rateMark: destination.rateMark ?? 0,
  underWay: 0,
  busy: true,
  settled: false,
  more: false,
  notBefore: 0,
  lookAgainAt: 0,
  pause: undefined,
  lost: false,
  doubtful: false
})

/** What the store's clock is ahead of the worker's time, by an answer in which it said `storeNow`: as `before`, where that can be right. */
export const clockAhead = (storeNow: number, asked: number, answered: number, before: number): number =>
  Math.min(Math.max(before, storeNow - answered), storeNow - asked)

/** What an attempt says of its destination; once, however often its outcome has to be written. */
export const judge = (destination: HeldDestination, attempt: Attempt, verdict: Verdict): void => {
  destination.lookAgainAt = 0
  const elsewhere = attempt.destination.endpointUrl !== destination.endpointUrl
  // a dead letter pauses the destination wherever it was sent to; what the old endpoint is like says nothing of the new one
  if (verdict.pause !== undefined && (verdict.state === "dead" || !elsewhere)) destination.pause = verdict.pause
  if (elsewhere) return
  const storeNow = verdict.record.at + verdict.record.durationMillis
  if (verdict.health === "up" && destination.breaker.failures > 0) {
    destination.breaker = afterSuccess()
    destination.breakerChanged = true
    destination.notBefore = 0
  }
  if (verdict.health === "down") {
    const pauseMillis = verdict.state === "waiting" ? verdict.dueInMillis : attempt.destination.policy.initialBackoffSeconds * 1000
    destination.breaker = afterFailure(destination.breaker, storeNow, pauseMillis)
    destination.breakerChanged = true
    if (destination.breaker.openUntil !== undefined) destination.notBefore = Math.max(destination.notBefore, destination.breaker.openUntil - destination.storeAhead)
  }
}
