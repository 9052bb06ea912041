/** A lane under a worker's lease, and what is written of it. */
import type { Attempt, Verdict } from "./Attempts.ts"
import type { ClaimedLane, DueDelivery, LaneSettlement, Settlement } from "./DeliveryQueue.ts"
import { afterFailure, afterSuccess, type Breaker } from "./model/Breaker.ts"

/** What a worker knows of a lane it holds. */
export interface HeldLane {
  readonly tenantId: string
  readonly laneId: string
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
   * A write under this lease failed, and may still happen: nothing more is asked for under it. The lane is given back as soon as it can
   * be, and the token of its next lease fences what comes late.
   */
  doubtful: boolean
}

/** An attempt that ended, not written yet. */
export interface Finished {
  readonly lane: HeldLane
  readonly attempt: Attempt
  readonly verdict: Verdict
}

/** A delivery given up without an attempt, not written yet. */
export interface Hopeless {
  readonly lane: HeldLane
  readonly settlement: Settlement
}

export const byTenant = (lanes: Iterable<HeldLane>): Map<string, Array<HeldLane>> => {
  const tenants = new Map<string, Array<HeldLane>>()
  for (const lane of lanes) {
    const own = tenants.get(lane.tenantId)
    if (own === undefined) tenants.set(lane.tenantId, [lane])
    else own.push(lane)
  }
  return tenants
}

const settlementOf = ({ attempt, lane, verdict }: Finished): Settlement => ({
  laneId: lane.laneId,
  token: lane.token,
  deliveryId: attempt.deliveryId,
  state: verdict.state,
  dueInMillis: verdict.dueInMillis,
  uncount: verdict.uncount,
  record: verdict.record
})

/** A delivery whose every sender died ends as a dead letter. */
export const deadSettlement = (lane: HeldLane, { attempt, deliveryId }: DueDelivery): Settlement => ({
  laneId: lane.laneId,
  token: lane.token,
  deliveryId,
  state: "dead",
  dueInMillis: 0,
  uncount: false,
  record: undefined,
  attempt
})

const laneSettlementOf = (lane: HeldLane, release: boolean, now: number): LaneSettlement => ({
  laneId: lane.laneId,
  token: lane.token,
  endpointUrl: lane.endpointUrl,
  breaker: lane.breaker,
  pause: lane.pause,
  release: release
    ? { arrivals: lane.arrivals, progress: lane.more || lane.settled, notBeforeMillis: Math.max(0, lane.notBefore - now) }
    : undefined
})

/** What is to be written of these lanes, tenant by tenant. */
export const outcomesOf = (
  changed: Iterable<HeldLane>,
  { finished, hopeless, released }: {
    readonly finished: ReadonlyArray<Finished>
    readonly hopeless: ReadonlyArray<Hopeless>
    readonly released: ReadonlySet<HeldLane>
  },
  now: number
) =>
  Array.from(byTenant(changed), ([tenantId, lanes]) => ({
    tenantId,
    deliveries: [
      ...finished.filter((each) => each.lane.tenantId === tenantId).map(settlementOf),
      ...hopeless.filter((each) => each.lane.tenantId === tenantId).map((each) => each.settlement)
    ],
    lanes: lanes.filter((lane) => lane.breakerChanged || lane.pause !== undefined || released.has(lane))
      .map((lane) => laneSettlementOf(lane, released.has(lane), now))
  }))

/** A lane as it comes from a claim; busy until its attempts are started. */
export const holdLane = (tenantId: string, lane: ClaimedLane, now: number, storeAhead: number): HeldLane => ({
  tenantId,
  laneId: lane.laneId,
  client: lane.client,
  token: lane.token,
  since: now,
  endpointUrl: lane.endpointUrl,
  storeAhead,
  arrivals: lane.arrivals,
  breaker: lane.breaker,
  breakerChanged: false,
  rateMark: lane.rateMark ?? 0,
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

/** What an attempt says of its lane; once, however often its outcome has to be written. */
export const judge = (lane: HeldLane, attempt: Attempt, verdict: Verdict): void => {
  lane.lookAgainAt = 0
  const elsewhere = attempt.lane.endpointUrl !== lane.endpointUrl
  // a dead letter pauses the lane wherever it was sent to; what the old endpoint is like says nothing of the new one
  if (verdict.pause !== undefined && (verdict.state === "dead" || !elsewhere)) lane.pause = verdict.pause
  if (elsewhere) return
  const storeNow = verdict.record.at + verdict.record.durationMillis
  if (verdict.health === "up" && lane.breaker.failures > 0) {
    lane.breaker = afterSuccess()
    lane.breakerChanged = true
    lane.notBefore = 0
  }
  if (verdict.health === "down") {
    const pauseMillis = verdict.state === "waiting" ? verdict.dueInMillis : attempt.lane.policy.initialBackoffSeconds * 1000
    lane.breaker = afterFailure(lane.breaker, storeNow, pauseMillis)
    lane.breakerChanged = true
    if (lane.breaker.openUntil !== undefined) lane.notBefore = Math.max(lane.notBefore, lane.breaker.openUntil - lane.storeAhead)
  }
}
