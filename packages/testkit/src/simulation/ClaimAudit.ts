/** Checks claims against the reference model. */
import type { Claim, ClaimedLane, ClaimRequest } from "@waybill/core"
import { type Ledger, type LedgerDelivery, type LedgerLane, laneKeyOf } from "./Ledger.ts"
import type { SimulationContext } from "./SimulationContext.ts"

/** A lane as a worker claimed it. Its freezes and attempts are checked against this. */
export interface Grant {
  readonly lane: LedgerLane
  readonly token: number
  readonly claimedAt: number
  /** The step of the schedule with the claim. */
  readonly claimedStep: number
  readonly claimed: ClaimedLane
  readonly keys: ReadonlyArray<Uint8Array>
}

export class ClaimAudit {
  private readonly simulation: SimulationContext
  private readonly ledger: Ledger
  /** Whether processes, store and network have no faults. */
  private readonly onlyReceiversFail: boolean

  constructor(simulation: SimulationContext, ledger: Ledger, onlyReceiversFail: boolean) {
    this.simulation = simulation
    this.ledger = ledger
    this.onlyReceiversFail = onlyReceiversFail
  }

  /** Checks a claim that the store has just made, and returns its grants by lane. */
  claimed(who: string, request: ClaimRequest, claim: Claim): ReadonlyMap<string, Grant> {
    const { ledger, simulation } = this
    const now = simulation.storeNow
    const grants = new Map<string, Grant>()
    const refilled = new Set(request.refill.map(({ laneId, token }) => `${laneId} ${token}`))
    let fresh = 0
    let dropped = 0
    this.endExpiredLeases(request, now)
    for (const claimed of claim.lanes) {
      const lane = ledger.lane(request.tenantId, claimed.laneId)
      if (lane === undefined || !lane.open) {
        simulation.violate("A claim returns only open lanes", `${who} got ${claimed.laneId}`)
        continue
      }
      if (lane.state !== "active") simulation.violate("A claim returns no paused or inactive lane", `${who} got ${lane.name}, which is ${lane.state}`)
      if (!ledger.access.admits(lane, now)) simulation.violate("A claim returns no lane without access", `${who} got ${lane.name}`)
      if (refilled.has(`${claimed.laneId} ${claimed.token}`)) {
        if (!lane.leased || lane.token !== claimed.token) simulation.violate("A claim refills only valid leases", `${who} holds ${lane.name} by ${claimed.token}, the lease is ${lane.token}`)
      } else {
        fresh += 1
        if (lane.leased && lane.leasedUntil > now) simulation.violate("A claim returns no lane that another worker leases", `${who} got ${lane.name}, leased until +${lane.leasedUntil - now} ms`)
        if (lane.leased && this.onlyReceiversFail) simulation.violate("A worker without faults keeps its lanes", `${who} took over ${lane.name}`)
        if (claimed.token <= lane.token) simulation.violate("Every lease has a higher token than the one before", `${lane.name}: ${claimed.token} after ${lane.token}`)
        lane.token = claimed.token
        lane.leased = true
        lane.failures = lane.breaker.failures
      }
      lane.leasedUntil = now + request.leaseMillis
      dropped += ledger.dropUnseen(lane)
      this.compare(lane, claimed)
      grants.set(laneKeyOf(request.tenantId, claimed.laneId), {
        lane,
        token: claimed.token,
        claimedAt: claim.now,
        claimedStep: simulation.counts.steps,
        claimed,
        keys: ledger.liveKeys(request.tenantId, now)
      })
    }
    if (fresh > request.maxLanes) simulation.violate("A claim leases at most maxLanes", `${fresh} of ${request.maxLanes}`)
    if (dropped !== claim.dropped) simulation.violate("A claim drops the entries that its client may no longer see, and no others", `${who}: ${claim.dropped} instead of ${dropped}`)
    return grants
  }

  /** A claim ends the expired leases of lanes without access. */
  private endExpiredLeases({ only, tenantId }: ClaimRequest, now: number): void {
    if (only === "arrived") return
    for (const lane of this.ledger.lanes.values()) {
      if (lane.tenantId !== tenantId || lane.state !== "active" || lane.leasedUntil > now) continue
      if (!this.ledger.access.admits(lane, now)) lane.leased = false
    }
  }

  private compare(lane: LedgerLane, claimed: ClaimedLane): void {
    const { simulation } = this
    if (claimed.endpointUrl !== lane.settings.endpointUrl) simulation.violate("A claim returns the endpoint of the lane", `${lane.name}: ${claimed.endpointUrl}`)
    if (claimed.breaker.failures !== lane.breaker.failures || claimed.breaker.openUntil !== lane.breaker.openUntil) {
      simulation.violate("A claim returns the stored state of the circuit breaker", `${lane.name}: ${JSON.stringify(claimed.breaker)} instead of ${JSON.stringify(lane.breaker)}`)
    }
    for (const due of claimed.due) {
      const delivery = lane.unsettled.get(due.deliveryId)
      if (delivery === undefined) {
        simulation.violate("Only unfinished deliveries are due", `${lane.name}: ${due.deliveryId}`)
        continue
      }
      this.compareDue(delivery, due)
    }
    this.compareWaiting(lane, claimed)
  }

  private compareDue(delivery: LedgerDelivery, due: ClaimedLane["due"][number]): void {
    const { simulation } = this
    const orphaned = delivery.state === "sending" && delivery.token !== delivery.lane.token
    const isDue = delivery.state === "waiting" && delivery.dueAt <= simulation.storeNow
    if (!orphaned && !isDue) simulation.violate("No delivery is due before its time", `${delivery.id} is ${delivery.state}`)
    if (due.orphaned !== orphaned) simulation.violate("A claim marks deliveries whose sender died", `${delivery.id}: ${due.orphaned}`)
    if (due.attempt !== delivery.attempt || due.tries !== delivery.tries) {
      simulation.violate("An attempt is counted when it is frozen", `${delivery.id}: ${due.attempt}/${due.tries} instead of ${delivery.attempt}/${delivery.tries}`)
    }
    const older = blocker(delivery)
    if (older !== undefined) simulation.violate("Deliveries of one shipment are sent one after the other", `${delivery.id} is due, ${older.id} is ${older.state}`)
  }

  /** A claim returns each shipment's entries from the first, without shipments in unfinished deliveries; it starts after the lane's cursor and wraps around. */
  private compareWaiting(lane: LedgerLane, claimed: ClaimedLane): void {
    const { simulation } = this
    const seen = new Map<string, number>()
    const heldBy = (key: string) => [...lane.unsettled.values()].find(({ keys }) => keys.has(key))
    const free = [...lane.waiting.keys()].filter((key) => heldBy(key) === undefined).sort()
    const first = free.find((key) => lane.cursor === undefined || key > lane.cursor) ?? free[0]
    if (claimed.waiting[0]?.key !== first) simulation.violate("A claim continues after the cursor", `${lane.name}: ${claimed.waiting[0]?.key} after ${lane.cursor}, ${first} waits`)
    for (const { key, orderId, sequence } of claimed.waiting) {
      const place = seen.get(key) ?? 0
      seen.set(key, place + 1)
      const entry = lane.waiting.get(key)?.[place]
      if (entry === undefined || entry.sequence !== sequence || entry.orderId !== orderId) {
        simulation.violate("A claim returns waiting entries once and in order", `${lane.name}: ${key}/${sequence} in place ${place}`)
      }
      const holder = place === 0 ? heldBy(key) : undefined
      if (holder !== undefined) simulation.violate("An entry waits until its shipment's delivery ends", `${lane.name}: ${key}/${sequence} while ${holder.id} is ${holder.state}`)
    }
  }
}

/**
 * The delivery that this one has to wait for: one with the same shipment that is older or in flight. A manual retry after
 * `claimedStep` does not count, because the claim could not see it.
 */
export const blocker = (delivery: LedgerDelivery, claimedStep = Infinity): LedgerDelivery | undefined => {
  if (delivery.lane.unsettled.size < 2) return undefined
  for (const other of delivery.lane.unsettled.values()) {
    if (other === delivery || !sharesKey(other, delivery)) continue
    const inFlightCount = other.state === "sending" && other.token === delivery.lane.token
    if (inFlightCount || (other.id < delivery.id && other.retriedStep <= claimedStep)) return other
  }
  return undefined
}

const sharesKey = (one: LedgerDelivery, other: LedgerDelivery): boolean => {
  for (const key of one.keys) if (other.keys.has(key)) return true
  return false
}
