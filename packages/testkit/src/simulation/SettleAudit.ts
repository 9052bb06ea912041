/** What outcomes and releases must change, and what a worker may claim of them. */
import { type AttemptOutcome, breakerThreshold, type LaneSettlement, type Settlement } from "@waybill/core"
import { permitOf } from "./FreezeAudit.ts"
import { type Ledger, type LedgerDelivery, type LedgerLane, spareTakeovers } from "./Ledger.ts"
import type { SimulationContext } from "./SimulationContext.ts"

/** What a worker was answered. */
export interface Answered {
  readonly outcome: AttemptOutcome
  /** Attempts since the last manual retry as its claim told, this one included. */
  readonly tries: number
  /** Where it was sent. */
  readonly url: string
}

/** By `permitOf`. */
export type Outcomes = ReadonlyMap<string, Answered>

export interface SettleCall {
  readonly deliveries: ReadonlyArray<Settlement>
  readonly lanes: ReadonlyArray<LaneSettlement>
}

export class SettleAudit {
  private readonly simulation: SimulationContext
  private readonly ledger: Ledger

  constructor(simulation: SimulationContext, ledger: Ledger) {
    this.simulation = simulation
    this.ledger = ledger
  }

  /**
   * Books a call that just happened. Answers the deliveries it named, and the lanes it gave back although something of them could be
   * sent. `late`: its caller had given up on it.
   */
  settled(who: string, tenantId: string, call: SettleCall, { late, outcomes }: { readonly outcomes: Outcomes; readonly late: boolean }): {
    readonly named: ReadonlyArray<LedgerDelivery>
    readonly sendable: ReadonlyArray<LedgerLane>
  } {
    const sendable: Array<LedgerLane> = []
    const named: Array<LedgerDelivery> = []
    const gone = new Set<LedgerLane>()
    const judged = new Set<LedgerLane>()
    for (const settlement of call.deliveries) {
      const delivery = this.ledger.deliveries.get(settlement.deliveryId)
      if (delivery === undefined) {
        this.simulation.violate("Only what was frozen is settled", `${who}: ${settlement.deliveryId}`)
        continue
      }
      named.push(delivery)
      this.compare(who, delivery, settlement, outcomes)
      if (!this.book(tenantId, delivery, settlement)) continue
      const outcome = settlement.record?.outcome
      if (outcome === "gone" && outcomes.get(permitOf(delivery.id, settlement.record!.attempt))?.url === delivery.lane.settings.endpointUrl) gone.add(delivery.lane)
      if (outcome !== undefined && outcome !== "gone" && outcome !== "interrupted" && delivery.lane.failures !== undefined) {
        delivery.lane.failures = outcome === "accepted" ? 0 : delivery.lane.failures + 1
        judged.add(delivery.lane)
      }
    }
    for (const settlement of call.lanes) {
      const lane = this.ledger.held(tenantId, settlement)
      if (lane === undefined) {
        this.simulation.counts.lostLeases += 1
        continue
      }
      const dead = call.deliveries.some(({ laneId, state }) => laneId === settlement.laneId && state === "dead")
      this.lane(who, lane, settlement, { late, dead, gone: gone.delete(lane) })
      judged.delete(lane)
      if (settlement.release?.notBeforeMillis === 0 && lane.state === "active" && isSendable(lane)) sendable.push(lane)
    }
    for (const lane of gone) this.simulation.violate("A receiver that answers 410 pauses its subscription", lane.name)
    for (const lane of judged) {
      if (lane.failures !== lane.breaker.failures && !late) {
        this.simulation.violate("A breaker learns of every outcome", `${lane.name}: ${lane.failures} failures in a row, written ${lane.breaker.failures}`)
      }
    }
    return { named, sendable }
  }

  /** Whether the outcome counts: its lease holds, and it is of the attempt under way. */
  private book(tenantId: string, delivery: LedgerDelivery, { deliveryId, dueInMillis, laneId, record, state, token, uncount }: Settlement): boolean {
    const lane = this.ledger.held(tenantId, { laneId, token })
    const current = record === undefined || record.attempt === delivery.attempt
    if (lane === undefined || delivery.lane !== lane || delivery.state !== "sending" || !current) {
      if (lane === undefined) this.simulation.counts.lostLeases += 1
      return false
    }
    if (delivery.token !== token && record !== undefined) this.simulation.violate("An attempt is settled by the lease it was made under", deliveryId)
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

  /** Whether what is said of an attempt is what came back from it. */
  private compare(who: string, delivery: LedgerDelivery, settlement: Settlement, outcomes: Outcomes): void {
    const { simulation } = this
    const { record, state } = settlement
    if (record === undefined) {
      const hopeless = state === "dead" && delivery.tries >= delivery.lane.settings.policy.maxAttempts + spareTakeovers
      const ended = delivery.state !== "sending" || this.ledger.held(delivery.lane.tenantId, settlement) === undefined
      if (!hopeless && !ended) simulation.violate("A delivery is given up only when its attempts are used up", `${who}: ${delivery.id} after ${delivery.tries}`)
      return
    }
    const answered = outcomes.get(permitOf(delivery.id, record.attempt))
    if (answered === undefined) return simulation.violate("Only answers that came are written", `${who}: ${delivery.id}, attempt ${record.attempt}, ${record.outcome}`)
    const { outcome, tries } = answered
    const kept = outcome._tag === "Accepted" ? state === "delivered" : state !== "delivered"
    if (!kept || (settlement.uncount !== (outcome._tag === "Interrupted"))) {
      simulation.violate("An outcome is written as it was", `${who}: ${delivery.id} is said to be ${state} after ${outcome._tag}`)
    }
    if (outcome._tag === "Failed") this.compareRetry(delivery, settlement, tries, outcome.retryAfterSeconds ?? 0)
    else if (outcome._tag !== "Accepted" && state === "dead") simulation.violate("A delivery is given up only when its attempts are used up", delivery.id)
  }

  private compareRetry(delivery: LedgerDelivery, { dueInMillis, state }: Settlement, tries: number, retryAfterSeconds: number): void {
    const { initialBackoffSeconds, maxAttempts, maxBackoffSeconds } = delivery.lane.settings.policy
    const over = tries >= maxAttempts
    if (over !== (state === "dead")) {
      this.simulation.violate("A delivery is given up when its attempts are used up, and not before", `${delivery.id} is ${state} after ${tries} of ${maxAttempts}`)
    }
    if (over) return
    const doubled = Math.min(initialBackoffSeconds * 2 ** (tries - 1), maxBackoffSeconds)
    const least = Math.min(Math.max(doubled * 0.8, retryAfterSeconds), maxBackoffSeconds) * 1000
    const most = Math.min(Math.max(doubled * 1.2, retryAfterSeconds), maxBackoffSeconds) * 1000
    if (dueInMillis < least - 1 || dueInMillis > most + 1) {
      this.simulation.violate("A retry comes after its backoff, and not before Retry-After", `${delivery.id}: ${dueInMillis} ms instead of ${least} to ${most}`)
    }
  }

  private lane(
    who: string,
    lane: LedgerLane,
    { breaker, endpointUrl, pause, release }: LaneSettlement,
    { dead, gone, late }: { readonly late: boolean; readonly gone: boolean; readonly dead: boolean }
  ): void {
    const { simulation } = this
    if (release !== undefined) lane.leased = false
    const replaced = endpointUrl !== lane.settings.endpointUrl
    if (pause !== undefined && lane.state === "active" && (dead || !replaced)) this.ledger.turn(lane, "paused", "engine")
    if (replaced) return
    lane.breaker = breaker
    if (late) lane.failures = undefined
    if (lane.failures !== undefined && breaker.failures !== lane.failures) {
      simulation.violate("A breaker learns of every outcome", `${who}: ${lane.name} had ${lane.failures} failures in a row, written ${breaker.failures}`)
    }
    if ((breaker.failures >= breakerThreshold) !== (breaker.openUntil !== undefined)) {
      simulation.violate("Failures in a row open the breaker", `${lane.name}: ${JSON.stringify(breaker)}`)
    }
    if (gone && pause === undefined) simulation.violate("A receiver that answers 410 pauses its subscription", lane.name)
  }
}

/** Whether something waits of which no delivery has to end first. */
const isSendable = (lane: LedgerLane): boolean => {
  const unsettled = [...lane.unsettled.values()]
  return [...lane.waiting.keys()].some((key) => !unsettled.some(({ keys }) => keys.has(key)))
}
