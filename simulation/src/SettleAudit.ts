/** Checks settlements against the reference model and the received outcomes. */
import { type AttemptOutcome, breakerThreshold, type DeliveryOutcome, type DestinationChange, type SettleRequest, waitsForDisk } from "@waybill/core/delivery"
import { type Ledger, type LedgerDelivery, type LedgerDestination, permitOf, spareTakeovers } from "./Ledger.ts"
import { type LedgerPartition, unsettledIn } from "./PartitionLedger.ts"
import { restoring } from "./SettlementLog.ts"
import type { SimulationContext } from "./SimulationContext.ts"

/** The outcome of an attempt as its worker got it. */
export interface Answered {
  readonly outcome: AttemptOutcome
  /** Attempts since the last manual retry, this one included. */
  readonly tries: number
  /** The URL of the attempt. */
  readonly url: string
  /** When the worker got it, by the store's clock. */
  readonly at: number
}

/** By `permitOf`. */
export type Outcomes = ReadonlyMap<string, Answered>

interface SettleCall {
  readonly who: string
  readonly request: SettleRequest
  readonly outcomes: Outcomes
  /** Its caller no longer waits for it. */
  readonly late: boolean
}

export class SettleAudit {
  private readonly simulation: SimulationContext
  private readonly ledger: Ledger

  constructor(simulation: SimulationContext, ledger: Ledger) {
    this.simulation = simulation
    this.ledger = ledger
  }

  /** Updates the reference model after a settlement, and returns its deliveries. */
  settled({ late, outcomes, request, who }: SettleCall, owned: ReadonlyArray<number>): ReadonlyArray<LedgerDelivery> {
    const { tenantId } = request
    if (!waitsForDisk(request)) this.ledger.settlements.add(this.undoOf(request))
    const fenced = this.ledger.partitions.fenced(tenantId, request.owned)
    const expected = fenced.map(({ partition }) => partition).sort().join()
    if ([...owned].sort().join() !== expected) {
      this.simulation.violate("Outcomes are written under the epoch of their partition only", `${who} wrote to ${owned.join()}, and owns ${expected}`)
    }
    if (fenced.length < request.owned.length) this.simulation.counts.lostLeases += 1
    const named: Array<LedgerDelivery> = []
    const gone = new Set<LedgerDestination>()
    const judged = new Set<LedgerDestination>()
    const written = new Set<string>()
    for (const outcome of request.outcomes) {
      const delivery = this.ledger.deliveries.get(outcome.deliveryId)
      if (delivery === undefined) {
        this.simulation.violate("Only deliveries that were taken are settled", `${who}: ${outcome.deliveryId}`)
        continue
      }
      named.push(delivery)
      this.compare(who, delivery, outcome, outcomes)
      if (!this.apply(delivery, outcome, outcomes, fenced)) continue
      written.add(delivery.id)
      const { destination } = delivery
      const name = outcome.record?.outcome
      const isHere = outcomes.get(permitOf(delivery.id, outcome.attempt))?.url === destination.settings.endpointUrl
      if (name === "gone" && isHere) gone.add(destination)
      if (!isHere) destination.failures = undefined
      if (name !== undefined && name !== "gone" && name !== "interrupted" && destination.failures !== undefined) {
        destination.failures = name === "accepted" ? 0 : destination.failures + 1
        judged.add(destination)
      }
    }
    const dead = new Set(request.outcomes.filter(({ state }) => state === "dead").map(({ destinationId }) => destinationId))
    for (const change of request.destinations) {
      const destination = this.ledger.destination(tenantId, change.destinationId)
      if (destination === undefined || !destination.open || !fenced.includes(destination.partition)) continue
      const pause = change.cause === undefined || written.has(change.cause) ? change.pause : undefined
      this.changed(who, destination, { ...change, pause }, { late, gone: gone.delete(destination), dead: dead.has(change.destinationId) })
      judged.delete(destination)
    }
    this.compareUnchanged(gone, judged, late)
    this.endFlights(who, request, fenced)
    return named
  }

  /** Returns what undoes all that a settlement may change in the reference model. */
  private undoOf({ destinations, ended, outcomes, tenantId }: SettleRequest): () => void {
    const { ledger } = this
    const deliveries = outcomes.flatMap(({ deliveryId }) => ledger.deliveries.get(deliveryId) ?? [])
    const changed = new Set([...deliveries.map(({ destination }) => destination), ...destinations.flatMap(({ destinationId }) => ledger.destination(tenantId, destinationId) ?? [])])
    const flights = ended.flatMap(({ flight, partition }) => {
      const own = ledger.partitions.get(tenantId, partition).flights
      const unsettled = own.get(flight)
      return unsettled === undefined ? [] : [() => void own.set(flight, unsettled)]
    })
    const undos = [restoring(ledger, "unfinished"), ...deliveries.map(undoOutcome), ...Array.from(changed, undoChange), ...flights]
    return () => {
      for (const undo of undos) undo()
    }
  }

  /** Destinations with outcomes and without a change: they need none. */
  private compareUnchanged(gone: ReadonlySet<LedgerDestination>, judged: ReadonlySet<LedgerDestination>, late: boolean): void {
    for (const destination of gone) if (destination.open && destination.state === "active") this.simulation.violate("410 pauses the subscription", destination.name)
    for (const destination of judged) {
      if (!destination.open || destination.failures === undefined || destination.failures === destination.breaker.failures) continue
      if (late) destination.failures = undefined
      else this.simulation.violate("The circuit breaker counts every outcome", `${destination.name}: ${destination.failures} failures in a row, written ${destination.breaker.failures}`)
    }
  }

  /** A flight is removed only when all its deliveries have outcomes. */
  private endFlights(who: string, { ended, tenantId }: SettleRequest, fenced: ReadonlyArray<LedgerPartition>): void {
    for (const { flight, partition } of ended) {
      const own = this.ledger.partitions.get(tenantId, partition)
      if (!fenced.includes(own)) continue
      const left = unsettledIn(own, flight)
      if (left.length > 0) this.simulation.violate("A flight is removed when each of its deliveries has an outcome", `${who}: ${flight} has ${left.map(({ id }) => id).join()}`)
      own.flights.delete(flight)
    }
  }

  /** Applies an outcome to the reference model, and returns whether it counts: its epoch holds, and its attempt is in flight. */
  private apply(delivery: LedgerDelivery, outcome: DeliveryOutcome, outcomes: Outcomes, fenced: ReadonlyArray<LedgerPartition>): boolean {
    const { attempt, deliveryId, destinationId, dueInMillis, record, state, notCounted } = outcome
    const { destination } = delivery
    if (destination.destinationId !== destinationId) this.simulation.violate("An outcome names its own destination", deliveryId)
    if (!fenced.includes(destination.partition) || delivery.state !== "sending" || delivery.attempt !== attempt) return false
    destination.inFlight.delete(permitOf(deliveryId, attempt))
    if (state === "waiting") {
      const answered = outcomes.get(permitOf(deliveryId, attempt))
      delivery.dueAt = (answered?.at ?? 0) + dueInMillis
      delivery.storedDueAt = this.simulation.storeNow + dueInMillis
      if (notCounted) delivery.tries -= 1
      if (notCounted || record?.outcome === "gone") delivery.excused += 1
    }
    if (state === "dead") this.simulation.counts.deadLetters += 1
    this.ledger.end(delivery, state, this.simulation.storeNow)
    return true
  }

  /** Compares a settlement with the received outcome of its attempt. */
  private compare(who: string, delivery: LedgerDelivery, written: DeliveryOutcome, outcomes: Outcomes): void {
    const { simulation } = this
    const { attempt, record, state } = written
    if (record === undefined) {
      const isExhausted = state === "dead" && delivery.tries >= delivery.destination.settings.policy.maxAttempts + spareTakeovers
      const isOver = delivery.state !== "sending" || delivery.attempt !== attempt
      const isUnsent = state === "waiting" && written.notCounted
      if (!isExhausted && !isOver && !isUnsent) simulation.violate("A delivery is dead only after its last attempt", `${who}: ${delivery.id} after ${delivery.tries}`)
      return
    }
    if (record.attempt !== attempt) simulation.violate("An outcome belongs to its attempt", `${who}: ${delivery.id}, attempt ${record.attempt}, not ${attempt}`)
    const answered = outcomes.get(permitOf(delivery.id, attempt))
    if (answered === undefined) return simulation.violate("Only received outcomes are written", `${who}: ${delivery.id}, attempt ${attempt}, ${record.outcome}`)
    const { outcome, tries } = answered
    const isKept = outcome._tag === "Accepted" ? state === "delivered" : state !== "delivered"
    if (!isKept || (written.notCounted !== (outcome._tag === "Interrupted"))) {
      simulation.violate("An outcome is written as it was received", `${who}: ${delivery.id} is written as ${state} after ${outcome._tag}`)
    }
    if (outcome._tag === "Failed") this.compareRetry(delivery, written, tries, outcome.retryAfterSeconds ?? 0)
    else if (outcome._tag !== "Accepted" && state === "dead") simulation.violate("A delivery is dead only after its last attempt", delivery.id)
  }

  private compareRetry(delivery: LedgerDelivery, { dueInMillis, state }: DeliveryOutcome, tries: number, retryAfterSeconds: number): void {
    const { initialBackoffSeconds, maxAttempts, maxBackoffSeconds } = delivery.destination.settings.policy
    const isOver = tries >= maxAttempts
    if (isOver !== (state === "dead")) {
      this.simulation.violate("A delivery is dead after its last attempt, and not before", `${delivery.id} is ${state} after ${tries} of ${maxAttempts}`)
    }
    if (isOver) return
    const doubled = Math.min(initialBackoffSeconds * 2 ** (tries - 1), maxBackoffSeconds)
    const least = Math.min(Math.max(doubled * 0.8, retryAfterSeconds), maxBackoffSeconds) * 1000
    const most = Math.min(Math.max(doubled * 1.2, retryAfterSeconds), maxBackoffSeconds) * 1000
    if (dueInMillis < least - 1 || dueInMillis > most + 1) {
      this.simulation.violate("A retry is due after its backoff, and not before Retry-After", `${delivery.id}: ${dueInMillis} ms instead of ${least} to ${most}`)
    }
  }

  private changed(
    who: string,
    destination: LedgerDestination,
    { always, breaker, cause, endpointUrl, pause }: DestinationChange,
    { dead, gone, late }: { readonly late: boolean; readonly gone: boolean; readonly dead: boolean }
  ): void {
    const { simulation } = this
    const isReplaced = endpointUrl !== destination.settings.endpointUrl
    if (pause !== undefined && always && !dead) simulation.violate("Only a dead letter pauses a subscription after its endpoint has changed", `${who}: ${destination.name}`)
    if (pause !== undefined && !always && cause !== undefined && !isReplaced && !gone) simulation.violate("410 pauses nothing after the endpoint has changed", `${who}: ${destination.name}`)
    if (pause !== undefined && (destination.state === "active" || destination.purging) && (always || !isReplaced)) this.ledger.turn(destination, "paused", "service")
    if (isReplaced) return
    destination.breaker = breaker
    destination.recovered = false
    if (late) destination.failures = undefined
    if (destination.failures !== undefined && breaker.failures !== destination.failures) {
      simulation.violate("The circuit breaker counts every outcome", `${who}: ${destination.name} had ${destination.failures} failures in a row, written ${breaker.failures}`)
    }
    destination.failures = late ? undefined : breaker.failures
    if ((breaker.failures >= breakerThreshold) !== (breaker.openUntil !== undefined)) {
      simulation.violate("Consecutive failures open the circuit breaker", `${destination.name}: ${JSON.stringify(breaker)}`)
    }
    if (gone && pause === undefined && destination.state === "active") simulation.violate("410 pauses the subscription", destination.name)
  }
}

const undoOutcome = (delivery: LedgerDelivery): () => void => {
  const { destination, entries, id } = delivery
  const restore = restoring(delivery, "state", "tries", "excused", "dueAt", "storedDueAt", "diedAt")
  const wasUnsettled = destination.unsettled.has(id)
  const passed = entries.map((entry) => entry.passed)
  return () => {
    restore()
    if (wasUnsettled) destination.unsettled.set(id, delivery)
    // a receiver that accepted it remembers
    for (const [at, entry] of entries.entries()) entry.passed = passed[at]! || delivery.accepted > 0
  }
}

const undoChange = (destination: LedgerDestination): () => void => {
  const restore = restoring(destination, "state", "pausedBy", "purging", "resumesAs", "breaker", "failures")
  const { recovered } = destination
  return () => {
    restore()
    destination.recovered ||= recovered
  }
}
