/** A lane under a worker's lease, and what is written of it. */
import type { Attempt, Verdict } from "./Attempts.ts"
import type { LaneSettlement, Settlement } from "./DeliveryQueue.ts"
import type { Breaker } from "./model/Breaker.ts"

/** What a worker knows of a lane it holds. */
export interface HeldLane {
  readonly tenantId: string
  readonly laneId: string
  readonly token: number
  readonly since: number
  /** What the store's clock is ahead of this process's. */
  readonly storeAhead: number
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
  /** Process-clock instant before which nothing goes out. */
  notBefore: number
  pause: string | undefined
  /** The lease went to somebody else. */
  lost: boolean
}

/** An attempt that ended, not written yet. */
export interface Finished {
  readonly lane: HeldLane
  readonly attempt: Attempt
  readonly verdict: Verdict
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

export const settlementOf = ({ attempt, lane, verdict }: Finished): Settlement => ({
  laneId: lane.laneId,
  token: lane.token,
  deliveryId: attempt.deliveryId,
  state: verdict.state,
  dueInMillis: verdict.dueInMillis,
  uncount: verdict.uncount,
  record: verdict.record
})

export const laneSettlementOf = (lane: HeldLane, release: boolean, now: number): LaneSettlement => ({
  laneId: lane.laneId,
  token: lane.token,
  breaker: lane.breaker,
  pause: lane.pause,
  release: release
    ? { arrivals: lane.arrivals, progress: lane.more || lane.settled, notBeforeMillis: Math.max(0, lane.notBefore - now) }
    : undefined
})
