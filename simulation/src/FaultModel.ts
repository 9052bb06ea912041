/** Latencies and faults of calls to the store. */
import { SeededRandom } from "@waybill/conformance/fixtures"
import type { DropRequest, SettleRequest, TakeRequest } from "@waybill/core/delivery"
import type { Shape } from "./Shape.ts"
import type { StoreCall } from "./StoreConnection.ts"
import type { SimulationContext } from "./SimulationContext.ts"

/**
 * How a call to the store ends.
 *
 * - `answered`: the caller gets the answer.
 * - `answer lost`: the store runs the call, and the caller gets an error.
 * - `request lost`: the store never gets the call, and the caller gets an error.
 * - `abandoned`: the caller gets an error, and the store runs the call afterwards.
 */
export type CallEnd = "answered" | "answer lost" | "request lost" | "abandoned"

interface CallPlan {
  readonly answer: CallEnd
  readonly requestMillis: number
  readonly answerMillis: number
  /** Whether the call is dropped if its caller stops waiting, or dies, before it reaches the store. */
  readonly isCancellable: boolean
}

const quick = [0, 0, 0, 0, 1, 1, 2, 5]

/** An answer takes at most so long. A worker knows the store's clock no better. */
export const longestAnswerMillis = Math.max(...quick)

export class FaultModel {
  /** Share of calls that are slow. */
  slow: number
  /** Share of calls that fail. */
  lossy = 0
  /** Share of hints that are lost. */
  hintLossShare = 0
  /** Simulated time until which the store delays every call. */
  stallsUntil = 0
  /** Simulated time until which the store cannot be reached. */
  unavailableUntil = 0
  private readonly simulation: SimulationContext
  private readonly random: SeededRandom
  /** Share of settlements, takes and drops that find a destination or a delivery locked by another transaction. */
  private locked: number
  private readonly fewSignals: boolean
  private readonly locks: SeededRandom
  private readonly lockedRetries: SeededRandom
  private readonly lockedDrops: SeededRandom
  private readonly planned = new Map<StoreCall, { readonly answer: CallEnd; left: number }>()
  private faultsStopped = false

  constructor(simulation: SimulationContext, seed: number, { hasInternalFaults, traits }: Pick<Shape, "traits" | "hasInternalFaults">) {
    this.slow = !hasInternalFaults ? 0 : traits.has("slow store") ? 0.5 : 0.04
    if (hasInternalFaults && traits.has("lossy")) this.lossy = 0.15
    this.fewSignals = hasInternalFaults && traits.has("slow store")
    this.simulation = simulation
    this.random = simulation.random
    this.locked = hasInternalFaults ? 0.05 : 0
    this.locks = new SeededRandom(seed, "locks")
    this.lockedRetries = new SeededRandom(seed, "locked retries")
    this.lockedDrops = new SeededRandom(seed, "locked drops")
  }

  /** Ends the next calls of this method in this way. */
  failNext(call: StoreCall, answer: CallEnd, times: number): void {
    this.planned.set(call, { answer, left: times })
  }

  /** Stops all faults. */
  clear(): void {
    this.faultsStopped = true
    this.planned.clear()
    this.slow = 0
    this.locked = 0
    this.lossy = 0
    this.hintLossShare = 0
    this.stallsUntil = 0
    this.unavailableUntil = 0
  }

  planCall(call: StoreCall): CallPlan {
    const answer = this.answerOf(call)
    const slow = this.slow > 0 && this.random.share(this.slow)
    const requestMillis = slow ? this.random.between(20, 600) : this.random.pick(quick)
    return {
      answer,
      requestMillis: answer === "abandoned" ? requestMillis + this.random.pick([1, 10, 300, 1100, 2500]) : requestMillis,
      answerMillis: this.random.pick(quick),
      isCancellable: this.random.share(0.3)
    }
  }

  /** A slow store answers few signals at a time. */
  signalsOf({ signals }: TakeRequest): number {
    return this.fewSignals && !this.faultsStopped ? Math.min(signals, 1) : signals
  }

  /** The destination that this settlement finds locked, if any: only those are locked in which something waits, and those that change. */
  lockedIn({ destinations, outcomes }: SettleRequest): string | undefined {
    if (this.locked === 0 || !this.locks.share(this.locked)) return undefined
    const named = [...outcomes.filter(({ state }) => state === "waiting"), ...destinations]
    return named.length === 0 ? undefined : this.locks.pick(named).destinationId
  }

  /** The delivery that this take should send again and finds locked, if any. */
  lockedAgain({ from }: TakeRequest): string | undefined {
    const again = from.flatMap((each) => each.again)
    return this.locked === 0 || again.length === 0 || !this.lockedRetries.share(this.locked) ? undefined : this.lockedRetries.pick(again)
  }

  /** The destination that this drop finds locked, if any. */
  lockedDrop({ closed, deliveries, keys }: DropRequest): string | undefined {
    const named = [...closed, ...[...keys, ...deliveries].map(({ destinationId }) => destinationId)]
    return this.locked === 0 || !this.lockedDrops.share(this.locked * 4) ? undefined : this.lockedDrops.pick(named)
  }

  /** Runs the call now, or when the store stops stalling. */
  whenAvailable(run: () => void | Promise<void>): void | Promise<void> {
    const wait = this.stallsUntil - this.simulation.now
    if (wait <= 0) return run()
    this.simulation.after(wait, run)
  }

  private answerOf(call: StoreCall): CallEnd {
    if (this.faultsStopped) return "answered"
    const planned = this.planned.get(call)
    if (planned !== undefined && planned.left > 0) {
      planned.left -= 1
      return planned.answer
    }
    if (this.unavailableUntil > this.simulation.now) return this.random.pick(["request lost", "request lost", "answer lost"])
    return this.lossy > 0 && this.random.share(this.lossy) ? this.random.pick(["answer lost", "request lost", "abandoned"]) : "answered"
  }
}
