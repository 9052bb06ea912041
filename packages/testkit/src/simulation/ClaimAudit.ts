/** Checks claims against the reference model. */
import type { Claim, ClaimedDestination, ClaimRequest } from "@waybill/core"
import { type Ledger, type LedgerDelivery, type LedgerDestination, destinationKeyOf } from "./Ledger.ts"
import type { SimulationContext } from "./SimulationContext.ts"

/** A destination as a worker claimed it. Its freezes and attempts are checked against this. */
export interface Grant {
  readonly destination: LedgerDestination
  readonly token: number
  readonly claimedAt: number
  /** The step of the schedule with the claim. */
  readonly claimedStep: number
  readonly claimed: ClaimedDestination
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

  /** Checks a claim that the store has just made, and returns its grants by destination. */
  claimed(who: string, request: ClaimRequest, claim: Claim): ReadonlyMap<string, Grant> {
    const { ledger, simulation } = this
    const now = simulation.storeNow
    const grants = new Map<string, Grant>()
    const refilled = new Set(request.refill.map(({ destinationId, token }) => `${destinationId} ${token}`))
    let fresh = 0
    let dropped = 0
    this.endExpiredLeases(request, now)
    for (const claimed of claim.destinations) {
      const destination = ledger.destination(request.tenantId, claimed.destinationId)
      if (destination === undefined || !destination.open) {
        simulation.violate("A claim returns only open destinations", `${who} got ${claimed.destinationId}`)
        continue
      }
      if (destination.state !== "active") simulation.violate("A claim returns no paused or inactive destination", `${who} got ${destination.name}, which is ${destination.state}`)
      if (!ledger.access.admits(destination, now)) simulation.violate("A claim returns no destination without access", `${who} got ${destination.name}`)
      if (refilled.has(`${claimed.destinationId} ${claimed.token}`)) {
        if (!destination.leased || destination.token !== claimed.token) simulation.violate("A claim refills only valid leases", `${who} holds ${destination.name} by ${claimed.token}, the lease is ${destination.token}`)
      } else {
        fresh += 1
        if (destination.leased && destination.leasedUntil > now) simulation.violate("A claim returns no destination that another worker leases", `${who} got ${destination.name}, leased until +${destination.leasedUntil - now} ms`)
        if (destination.leased && this.onlyReceiversFail) simulation.violate("A worker without faults keeps its destinations", `${who} took over ${destination.name}`)
        if (claimed.token <= destination.token) simulation.violate("Every lease has a higher token than the one before", `${destination.name}: ${claimed.token} after ${destination.token}`)
        destination.token = claimed.token
        destination.leased = true
        destination.failures = destination.breaker.failures
      }
      destination.leasedUntil = now + request.leaseMillis
      dropped += ledger.dropUnseen(destination)
      this.compare(destination, claimed)
      grants.set(destinationKeyOf(request.tenantId, claimed.destinationId), {
        destination,
        token: claimed.token,
        claimedAt: claim.now,
        claimedStep: simulation.counts.steps,
        claimed,
        keys: ledger.liveKeys(request.tenantId, now)
      })
    }
    if (fresh > request.maxDestinations) simulation.violate("A claim leases at most maxDestinations", `${fresh} of ${request.maxDestinations}`)
    if (dropped !== claim.dropped) simulation.violate("A claim drops the entries that its client may no longer see, and no others", `${who}: ${claim.dropped} instead of ${dropped}`)
    return grants
  }

  /** A claim ends the expired leases of destinations without access. */
  private endExpiredLeases({ only, tenantId }: ClaimRequest, now: number): void {
    if (only === "arrived") return
    for (const destination of this.ledger.destinations.values()) {
      if (destination.tenantId !== tenantId || destination.state !== "active" || destination.leasedUntil > now) continue
      if (!this.ledger.access.admits(destination, now)) destination.leased = false
    }
  }

  private compare(destination: LedgerDestination, claimed: ClaimedDestination): void {
    const { simulation } = this
    if (claimed.endpointUrl !== destination.settings.endpointUrl) simulation.violate("A claim returns the endpoint of the destination", `${destination.name}: ${claimed.endpointUrl}`)
    if (claimed.breaker.failures !== destination.breaker.failures || claimed.breaker.openUntil !== destination.breaker.openUntil) {
      simulation.violate("A claim returns the stored state of the circuit breaker", `${destination.name}: ${JSON.stringify(claimed.breaker)} instead of ${JSON.stringify(destination.breaker)}`)
    }
    for (const due of claimed.due) {
      const delivery = destination.unsettled.get(due.deliveryId)
      if (delivery === undefined) {
        simulation.violate("Only unfinished deliveries are due", `${destination.name}: ${due.deliveryId}`)
        continue
      }
      this.compareDue(delivery, due)
    }
    this.compareWaiting(destination, claimed)
  }

  private compareDue(delivery: LedgerDelivery, due: ClaimedDestination["due"][number]): void {
    const { simulation } = this
    const orphaned = delivery.state === "sending" && delivery.token !== delivery.destination.token
    const isDue = delivery.state === "waiting" && delivery.dueAt <= simulation.storeNow
    if (!orphaned && !isDue) simulation.violate("No delivery is due before its time", `${delivery.id} is ${delivery.state}`)
    if (due.orphaned !== orphaned) simulation.violate("A claim marks deliveries whose sender died", `${delivery.id}: ${due.orphaned}`)
    if (due.attempt !== delivery.attempt || due.tries !== delivery.tries) {
      simulation.violate("An attempt is counted when it is frozen", `${delivery.id}: ${due.attempt}/${due.tries} instead of ${delivery.attempt}/${delivery.tries}`)
    }
    const older = blocker(delivery)
    if (older !== undefined) simulation.violate("Deliveries of one shipment are sent one after the other", `${delivery.id} is due, ${older.id} is ${older.state}`)
  }

  /** A claim returns each shipment's entries from the first, without shipments in unfinished deliveries; it starts after the destination's cursor and wraps around. */
  private compareWaiting(destination: LedgerDestination, claimed: ClaimedDestination): void {
    const { simulation } = this
    const seen = new Map<string, number>()
    const heldBy = (key: string) => [...destination.unsettled.values()].find(({ keys }) => keys.has(key))
    const free = [...destination.waiting.keys()].filter((key) => heldBy(key) === undefined).sort()
    const first = free.find((key) => destination.cursor === undefined || key > destination.cursor) ?? free[0]
    if (claimed.waiting[0]?.key !== first) simulation.violate("A claim continues after the cursor", `${destination.name}: ${claimed.waiting[0]?.key} after ${destination.cursor}, ${first} waits`)
    for (const { key, orderId, sequence } of claimed.waiting) {
      const place = seen.get(key) ?? 0
      seen.set(key, place + 1)
      const entry = destination.waiting.get(key)?.[place]
      if (entry === undefined || entry.sequence !== sequence || entry.orderId !== orderId) {
        simulation.violate("A claim returns waiting entries once and in order", `${destination.name}: ${key}/${sequence} in place ${place}`)
      }
      const holder = place === 0 ? heldBy(key) : undefined
      if (holder !== undefined) simulation.violate("An entry waits until its shipment's delivery ends", `${destination.name}: ${key}/${sequence} while ${holder.id} is ${holder.state}`)
    }
  }
}

/**
 * The delivery that this one has to wait for: one with the same shipment that is older or in flight. A manual retry after
 * `claimedStep` does not count, because the claim could not see it.
 */
export const blocker = (delivery: LedgerDelivery, claimedStep = Infinity): LedgerDelivery | undefined => {
  if (delivery.destination.unsettled.size < 2) return undefined
  for (const other of delivery.destination.unsettled.values()) {
    if (other === delivery || !sharesKey(other, delivery)) continue
    const inFlightCount = other.state === "sending" && other.token === delivery.destination.token
    if (inFlightCount || (other.id < delivery.id && other.retriedStep <= claimedStep)) return other
  }
  return undefined
}

const sharesKey = (one: LedgerDelivery, other: LedgerDelivery): boolean => {
  for (const key of one.keys) if (other.keys.has(key)) return true
  return false
}
