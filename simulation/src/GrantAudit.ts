/** Checks attempts that a take granted against circuit breaker and delivery policy. */
import { longestAnswerMillis } from "./FaultModel.ts"
import { type LedgerDestination, spareTakeovers } from "./Ledger.ts"
import type { SimulationContext } from "./SimulationContext.ts"
import type { TakeCall } from "./TakeAudit.ts"

export class GrantAudit {
  private readonly simulation: SimulationContext

  constructor(simulation: SimulationContext) {
    this.simulation = simulation
  }

  /** `count` attempts of a destination were granted by a take, and are in flight now. */
  granted({ askedAt, request, who }: TakeCall, destination: LedgerDestination, count: number): void {
    this.compareBreaker(who, destination, askedAt, count)
    const { maxAttempts } = destination.settings.policy
    for (const delivery of destination.unsettled.values()) {
      const { attempt, excused, flight, id, state, takeovers, tries } = delivery
      if (flight !== request.flight || state !== "sending") continue
      delivery.unsendable = undefined
      if (tries <= maxAttempts + excused + Math.min(takeovers, spareTakeovers)) continue
      // after the last spare takeover the take counts one more, which its worker gives up without sending; and again if it was killed, or the store crashed, before that was kept
      if (tries <= maxAttempts + excused + takeovers) delivery.unsendable = attempt
      else this.simulation.violate("No delivery has more attempts than its policy allows", `${id}: ${tries} of ${maxAttempts}, ${excused} excused, ${takeovers} takeovers`)
    }
  }

  private compareBreaker(who: string, destination: LedgerDestination, at: number, count: number): void {
    const { openUntil } = destination.breaker
    if (openUntil === undefined || destination.recovered) return
    const inFlight = [...destination.inFlight.values()].filter((ownership) => ownership === destination.partition.ownership).length
    if (openUntil > at + longestAnswerMillis) {
      this.simulation.violate("No attempt is made while the circuit breaker is open", `${who}: ${destination.name}, ${count} attempts, ${openUntil - at} ms early`)
    } else if (inFlight > 1) {
      this.simulation.violate("One probe is sent after the circuit breaker was open", `${who}: ${destination.name}, ${count} attempts, ${inFlight} in flight`)
    }
  }
}
