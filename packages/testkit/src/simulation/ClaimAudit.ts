/** What a claim may hand out, and to whom. */
import type { Claim, ClaimedLane, ClaimRequest } from "@waybill/core"
import { type Ledger, type LedgerDelivery, type LedgerLane, laneKeyOf } from "./Ledger.ts"
import type { SimulationContext } from "./SimulationContext.ts"

/** What a worker was told of a lane when it claimed it; judged by it when it freezes and sends. */
export interface Grant {
  readonly lane: LedgerLane
  readonly token: number
  readonly claimedAt: number
  /** The step of the schedule in which it was claimed. */
  readonly claimedIn: number
  readonly claimed: ClaimedLane
  readonly keys: ReadonlyArray<Uint8Array>
}

export class ClaimAudit {
  private readonly simulation: SimulationContext
  private readonly ledger: Ledger
  /** Nothing but receivers misbehaves. */
  private readonly undisturbed: boolean

  constructor(simulation: SimulationContext, ledger: Ledger, undisturbed: boolean) {
    this.simulation = simulation
    this.ledger = ledger
    this.undisturbed = undisturbed
  }

  /** The grants of a claim that just happened. */
  claimed(who: string, request: ClaimRequest, claim: Claim): ReadonlyMap<string, Grant> {
    const { ledger, simulation } = this
    const now = simulation.storeNow
    const grants = new Map<string, Grant>()
    const refilled = new Set(request.refill.map(({ laneId, token }) => `${laneId} ${token}`))
    let fresh = 0
    let dropped = 0
    this.holdBack(request, now)
    for (const claimed of claim.lanes) {
      const lane = ledger.lane(request.tenantId, claimed.laneId)
      if (lane === undefined || !lane.open) {
        simulation.violate("A claim hands out lanes that are there", `${who} was handed ${claimed.laneId}`)
        continue
      }
      if (lane.state !== "active") simulation.violate("A lane that is paused or stopped is not handed out", `${who} was handed ${lane.name}, which is ${lane.state}`)
      if (!ledger.access.admits(lane, now)) simulation.violate("A lane whose client or tenant has no access is not handed out", `${who} was handed ${lane.name}`)
      if (refilled.has(`${claimed.laneId} ${claimed.token}`)) {
        if (!lane.leased || lane.token !== claimed.token) simulation.violate("A lease that was lost is not filled again", `${who} holds ${lane.name} by ${claimed.token}, the lease is ${lane.token}`)
      } else {
        fresh += 1
        if (lane.leased && lane.leasedUntil > now) simulation.violate("Nobody is handed a lane whose lease holds", `${who} was handed ${lane.name}, leased until +${lane.leasedUntil - now} ms`)
        if (lane.leased && this.undisturbed) simulation.violate("A worker that nothing happens to keeps its lanes", `${who} took over ${lane.name}`)
        if (claimed.token <= lane.token) simulation.violate("Every lease has a higher token", `${lane.name}: ${claimed.token} after ${lane.token}`)
        lane.token = claimed.token
        lane.leased = true
        lane.failures = lane.breaker.failures
      }
      lane.leasedUntil = now + request.leaseMillis
      dropped += ledger.clear(lane)
      this.compare(lane, claimed)
      grants.set(laneKeyOf(request.tenantId, claimed.laneId), {
        lane,
        token: claimed.token,
        claimedAt: claim.now,
        claimedIn: simulation.counts.steps,
        claimed,
        keys: ledger.liveKeys(request.tenantId, now)
      })
    }
    if (fresh > request.maxLanes) simulation.violate("A claim leases no more lanes than were asked for", `${fresh} of ${request.maxLanes}`)
    if (dropped !== claim.dropped) simulation.violate("What its client may no longer see is dropped, and nothing else", `${who}: ${claim.dropped} instead of ${dropped}`)
    return grants
  }

  /** A lease that has run out ends where its lane is set aside because it has no access. */
  private holdBack({ only, tenantId }: ClaimRequest, now: number): void {
    if (only === "arrived") return
    for (const lane of this.ledger.lanes.values()) {
      if (lane.tenantId !== tenantId || lane.state !== "active" || lane.leasedUntil > now) continue
      if (!this.ledger.access.admits(lane, now)) lane.leased = false
    }
  }

  private compare(lane: LedgerLane, claimed: ClaimedLane): void {
    const { simulation } = this
    if (claimed.endpointUrl !== lane.settings.endpointUrl) simulation.violate("A lane goes to its own receiver", `${lane.name}: ${claimed.endpointUrl}`)
    if (claimed.breaker.failures !== lane.breaker.failures || claimed.breaker.openUntil !== lane.breaker.openUntil) {
      simulation.violate("A breaker is as it was written", `${lane.name}: ${JSON.stringify(claimed.breaker)} instead of ${JSON.stringify(lane.breaker)}`)
    }
    for (const due of claimed.due) {
      const delivery = lane.unsettled.get(due.deliveryId)
      if (delivery === undefined) {
        simulation.violate("Only deliveries that have not ended are due", `${lane.name}: ${due.deliveryId}`)
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
    if (!orphaned && !isDue) simulation.violate("Nothing is due before its time", `${delivery.id} is ${delivery.state}`)
    if (due.orphaned !== orphaned) simulation.violate("Whose sender died is known", `${delivery.id}: ${due.orphaned}`)
    if (due.attempt !== delivery.attempt || due.tries !== delivery.tries) {
      simulation.violate("An attempt is counted when it is granted", `${delivery.id}: ${due.attempt}/${due.tries} instead of ${delivery.attempt}/${delivery.tries}`)
    }
    const older = blocker(delivery)
    if (older !== undefined) simulation.violate("Deliveries that share a shipment go out one after the other", `${delivery.id} is due, ${older.id} is ${older.state}`)
  }

  /** Each shipment's entries from its first on, and none of a shipment that a delivery holds; from after the last one that was cut, round the lane. */
  private compareWaiting(lane: LedgerLane, claimed: ClaimedLane): void {
    const { simulation } = this
    const seen = new Map<string, number>()
    const heldBy = (key: string) => [...lane.unsettled.values()].find(({ keys }) => keys.has(key))
    const free = [...lane.waiting.keys()].filter((key) => heldBy(key) === undefined).sort()
    const first = free.find((key) => lane.cursor === undefined || key > lane.cursor) ?? free[0]
    if (claimed.waiting[0]?.key !== first) simulation.violate("Every shipment of a lane has its turn", `${lane.name}: ${claimed.waiting[0]?.key} after ${lane.cursor}, ${first} waits`)
    for (const { key, orderId, sequence } of claimed.waiting) {
      const place = seen.get(key) ?? 0
      seen.set(key, place + 1)
      const entry = lane.waiting.get(key)?.[place]
      if (entry === undefined || entry.sequence !== sequence || entry.orderId !== orderId) {
        simulation.violate("What waits is handed out in its order, once", `${lane.name}: ${key}/${sequence} in place ${place}`)
      }
      const holder = place === 0 ? heldBy(key) : undefined
      if (holder !== undefined) simulation.violate("A shipment waits for its delivery to end", `${lane.name}: ${key}/${sequence} while ${holder.id} is ${holder.state}`)
    }
  }
}

/**
 * The delivery that this one has to wait for: one of the same shipment that is older, or under way. One that an operator sent
 * again after `claimedIn` comes too late for that.
 */
export const blocker = (delivery: LedgerDelivery, claimedIn = Infinity): LedgerDelivery | undefined => {
  if (delivery.lane.unsettled.size < 2) return undefined
  for (const other of delivery.lane.unsettled.values()) {
    if (other === delivery || !sharesKey(other, delivery)) continue
    const underWay = other.state === "sending" && other.token === delivery.lane.token
    if (underWay || (other.id < delivery.id && other.retriedIn <= claimedIn)) return other
  }
  return undefined
}

const sharesKey = (one: LedgerDelivery, other: LedgerDelivery): boolean => {
  for (const key of one.keys) if (other.keys.has(key)) return true
  return false
}
