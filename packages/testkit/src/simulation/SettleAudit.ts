/** Checks settlements against the reference model and the received outcomes. */
import { type AttemptOutcome, breakerThreshold, type DestinationSettlement, type Settlement } from "@waybill/core"
import { permitOf } from "./FreezeAudit.ts"
import { type Ledger, type LedgerDelivery, type LedgerDestination, spareTakeovers } from "./Ledger.ts"
import type { SimulationContext } from "./SimulationContext.ts"

/** The outcome of an attempt as its worker got it. */
export interface Answered {
  readonly outcome: AttemptOutcome
  /** Attempts since the last manual retry by its claim, including this one. */
  readonly tries: number
  /** The URL of the attempt. */
  readonly url: string
}

/** By `permitOf`. */
export type Outcomes = ReadonlyMap<string, Answered>

export interface SettleCall {
  readonly deliveries: ReadonlyArray<Settlement>
  readonly destinations: ReadonlyArray<DestinationSettlement>
}

export class SettleAudit {
  private readonly simulation: SimulationContext
  private readonly ledger: Ledger

  constructor(simulation: SimulationContext, ledger: Ledger) {
    this.simulation = simulation
    this.ledger = ledger
  }

  /**
   * Updates the reference model after a settlement. Returns its deliveries, and the released destinations that still have entries to send.
   * `late`: its caller no longer waits for it.
   */
  settled(who: string, tenantId: string, call: SettleCall, { late, outcomes }: { readonly outcomes: Outcomes; readonly late: boolean }): {
    readonly named: ReadonlyArray<LedgerDelivery>
    readonly sendable: ReadonlyArray<LedgerDestination>
  } {
    const sendable: Array<LedgerDestination> = []
    const named: Array<LedgerDelivery> = []
    const gone = new Set<LedgerDestination>()
    const judged = new Set<LedgerDestination>()
    for (const settlement of call.deliveries) {
      const delivery = this.ledger.deliveries.get(settlement.deliveryId)
      if (delivery === undefined) {
        this.simulation.violate("Only frozen deliveries are settled", `${who}: ${settlement.deliveryId}`)
        continue
      }
      named.push(delivery)
      this.compare(who, delivery, settlement, outcomes)
      if (!this.apply(tenantId, delivery, settlement)) continue
      const outcome = settlement.record?.outcome
      if (outcome === "gone" && outcomes.get(permitOf(delivery.id, settlement.record!.attempt))?.url === delivery.destination.settings.endpointUrl) gone.add(delivery.destination)
      if (outcome !== undefined && outcome !== "gone" && outcome !== "interrupted" && delivery.destination.failures !== undefined) {
        delivery.destination.failures = outcome === "accepted" ? 0 : delivery.destination.failures + 1
        judged.add(delivery.destination)
      }
    }
    for (const settlement of call.destinations) {
      const destination = this.ledger.held(tenantId, settlement)
      if (destination === undefined) {
        this.simulation.counts.lostLeases += 1
        continue
      }
      const dead = call.deliveries.some(({ destinationId, state }) => destinationId === settlement.destinationId && state === "dead")
      this.destination(who, destination, settlement, { late, dead, gone: gone.delete(destination) })
      judged.delete(destination)
      if (settlement.release?.notBeforeMillis === 0 && destination.state === "active" && isSendable(destination)) sendable.push(destination)
    }
    for (const destination of gone) this.simulation.violate("410 pauses the subscription", destination.name)
    for (const destination of judged) {
      if (destination.failures !== destination.breaker.failures && !late) {
        this.simulation.violate("The circuit breaker counts every outcome", `${destination.name}: ${destination.failures} failures in a row, written ${destination.breaker.failures}`)
      }
    }
    return { named, sendable }
  }

  /** Applies an outcome to the reference model, and returns whether it counts: its lease is valid, and its attempt is in flight. */
  private apply(tenantId: string, delivery: LedgerDelivery, { deliveryId, dueInMillis, destinationId, record, state, token, uncount }: Settlement): boolean {
    const destination = this.ledger.held(tenantId, { destinationId, token })
    const current = record === undefined || record.attempt === delivery.attempt
    if (destination === undefined || delivery.destination !== destination || delivery.state !== "sending" || !current) {
      if (destination === undefined) this.simulation.counts.lostLeases += 1
      return false
    }
    if (delivery.token !== token && record !== undefined) this.simulation.violate("An attempt is settled under the lease of its freeze", deliveryId)
    if (state === "waiting") {
      delivery.state = "waiting"
      delivery.dueAt = this.simulation.storeNow + dueInMillis
      if (uncount) delivery.tries -= 1
      if (uncount || record?.outcome === "gone") delivery.excused += 1
    } else {
      if (state === "dead") this.simulation.counts.deadLetters += 1
      this.ledger.end(delivery, state, this.simulation.storeNow)
    }
    return true
  }

  /** Compares a settlement with the received outcome of its attempt. */
  private compare(who: string, delivery: LedgerDelivery, settlement: Settlement, outcomes: Outcomes): void {
    const { simulation } = this
    const { record, state } = settlement
    if (record === undefined) {
      const exhausted = state === "dead" && delivery.tries >= delivery.destination.settings.policy.maxAttempts + spareTakeovers
      const ended = delivery.state !== "sending" || this.ledger.held(delivery.destination.tenantId, settlement) === undefined
      if (!exhausted && !ended) simulation.violate("A delivery is dead only after its last attempt", `${who}: ${delivery.id} after ${delivery.tries}`)
      return
    }
    const answered = outcomes.get(permitOf(delivery.id, record.attempt))
    if (answered === undefined) return simulation.violate("Only received outcomes are written", `${who}: ${delivery.id}, attempt ${record.attempt}, ${record.outcome}`)
    const { outcome, tries } = answered
    const kept = outcome._tag === "Accepted" ? state === "delivered" : state !== "delivered"
    if (!kept || (settlement.uncount !== (outcome._tag === "Interrupted"))) {
      simulation.violate("An outcome is written as it was received", `${who}: ${delivery.id} is written as ${state} after ${outcome._tag}`)
    }
    if (outcome._tag === "Failed") this.compareRetry(delivery, settlement, tries, outcome.retryAfterSeconds ?? 0)
    else if (outcome._tag !== "Accepted" && state === "dead") simulation.violate("A delivery is dead only after its last attempt", delivery.id)
  }

  private compareRetry(delivery: LedgerDelivery, { dueInMillis, state }: Settlement, tries: number, retryAfterSeconds: number): void {
    const { initialBackoffSeconds, maxAttempts, maxBackoffSeconds } = delivery.destination.settings.policy
    const over = tries >= maxAttempts
    if (over !== (state === "dead")) {
      this.simulation.violate("A delivery is dead after its last attempt, and not before", `${delivery.id} is ${state} after ${tries} of ${maxAttempts}`)
    }
    if (over) return
    const doubled = Math.min(initialBackoffSeconds * 2 ** (tries - 1), maxBackoffSeconds)
    const least = Math.min(Math.max(doubled * 0.8, retryAfterSeconds), maxBackoffSeconds) * 1000
    const most = Math.min(Math.max(doubled * 1.2, retryAfterSeconds), maxBackoffSeconds) * 1000
    if (dueInMillis < least - 1 || dueInMillis > most + 1) {
      this.simulation.violate("A retry is due after its backoff, and not before Retry-After", `${delivery.id}: ${dueInMillis} ms instead of ${least} to ${most}`)
    }
  }

  private destination(
    who: string,
    destination: LedgerDestination,
    { breaker, endpointUrl, pause, release }: DestinationSettlement,
    { dead, gone, late }: { readonly late: boolean; readonly gone: boolean; readonly dead: boolean }
  ): void {
    const { simulation } = this
    if (release !== undefined) destination.leased = false
    const replaced = endpointUrl !== destination.settings.endpointUrl
    if (pause !== undefined && destination.state === "active" && (dead || !replaced)) this.ledger.turn(destination, "paused", "engine")
    if (replaced) return
    destination.breaker = breaker
    if (late) destination.failures = undefined
    if (destination.failures !== undefined && breaker.failures !== destination.failures) {
      simulation.violate("The circuit breaker counts every outcome", `${who}: ${destination.name} had ${destination.failures} failures in a row, written ${breaker.failures}`)
    }
    if ((breaker.failures >= breakerThreshold) !== (breaker.openUntil !== undefined)) {
      simulation.violate("Consecutive failures open the circuit breaker", `${destination.name}: ${JSON.stringify(breaker)}`)
    }
    if (gone && pause === undefined) simulation.violate("410 pauses the subscription", destination.name)
  }
}

/** Whether a shipment has waiting entries and no unfinished delivery. */
const isSendable = (destination: LedgerDestination): boolean => {
  const unsettled = [...destination.unsettled.values()]
  return [...destination.waiting.keys()].some((key) => !unsettled.some(({ keys }) => keys.has(key)))
}
