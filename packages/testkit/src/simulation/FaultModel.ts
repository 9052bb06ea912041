/** How the wires are: latencies, what gets lost, and when the store is away. */
import type { ClaimRequest } from "@waybill/core"
import type { SimulationRandom } from "./SimulationRandom.ts"
import type { StoreCall } from "./StoreWire.ts"
import type { SimulationContext } from "./SimulationContext.ts"

/**
 * What becomes of a call's answer.
 *
 * - `given`: it comes back.
 * - `lost`: the store did as it was told, and nobody learns of it.
 * - `never reached`: the store was not told.
 * - `given up`: its caller sees the connection break, and the store does it afterwards.
 */
export type AnswerFate = "given" | "lost" | "never reached" | "given up"

export interface Fate {
  readonly answer: AnswerFate
  readonly requestMillis: number
  readonly answerMillis: number
  /** Whether it is taken back when its caller stops waiting or dies on the way. */
  readonly withdrawn: boolean
}

const quick = [0, 0, 0, 0, 1, 1, 2, 5]

export class FaultModel {
  /** Share of all calls that are slow, and of claims that pass over what others are writing to. */
  slow: number
  lossy = 0
  hintsLost = 0
  /** Simulated time until which the store answers nobody, and then all. */
  stallsUntil = 0
  /** Simulated time until which the store cannot be reached. */
  awayUntil = 0
  private readonly simulation: SimulationContext
  private readonly random: SimulationRandom
  private readonly planned = new Map<StoreCall, { readonly answer: AnswerFate; left: number }>()
  private calm = false

  constructor(simulation: SimulationContext, disturbed: boolean) {
    this.slow = disturbed ? 0.04 : 0
    this.simulation = simulation
    this.random = simulation.random
  }

  /** The next so many of these calls end so. */
  spoil(call: StoreCall, answer: AnswerFate, times: number): void {
    this.planned.set(call, { answer, left: times })
  }

  /** Faults stop. */
  clear(): void {
    this.calm = true
    this.planned.clear()
    this.slow = 0
    this.lossy = 0
    this.hintsLost = 0
    this.stallsUntil = 0
    this.awayUntil = 0
  }

  fateOf(call: StoreCall): Fate {
    const answer = this.answerOf(call)
    const slow = this.slow > 0 && this.random.share(this.slow)
    const requestMillis = slow ? this.random.between(20, 600) : this.random.pick(quick)
    return {
      answer,
      requestMillis: answer === "given up" ? requestMillis + this.random.pick([1, 10, 300, 1100, 2500]) : requestMillis,
      answerMillis: this.random.pick(quick),
      withdrawn: this.random.share(0.3)
    }
  }

  /** The claim as a store makes it that passes over lanes somebody else is writing to at that moment. */
  passedOver(request: ClaimRequest): ClaimRequest {
    if (this.slow === 0 || !this.random.share(this.slow)) return request
    return { ...request, maxLanes: this.random.pick([0, request.maxLanes]), refill: request.refill.filter(() => this.random.share(0.5)) }
  }

  /** Now, or when the store is there again. */
  whenUp(reach: () => void | Promise<void>): void | Promise<void> {
    const wait = this.stallsUntil - this.simulation.now
    if (wait <= 0) return reach()
    this.simulation.after(wait, reach)
  }

  private answerOf(call: StoreCall): AnswerFate {
    if (this.calm) return "given"
    const planned = this.planned.get(call)
    if (planned !== undefined && planned.left > 0) {
      planned.left -= 1
      return planned.answer
    }
    if (this.awayUntil > this.simulation.now) return this.random.pick(["never reached", "never reached", "lost"])
    return this.lossy > 0 && this.random.share(this.lossy) ? this.random.pick(["lost", "never reached", "given up"]) : "given"
  }
}
