/** The state that the loops of one worker share. */
import { type Context, Effect } from "effect"
import { LineLimiter } from "../../shared/LineLimiter.ts"
import { StorageError } from "../../shared/StoragePort.ts"
import type { UniqueIds } from "../../shared/UniqueIds.ts"
import { AttemptsInFlight } from "./AttemptsInFlight.ts"
import type { ObserveAttempts } from "../statistics/StatisticsRecorder.ts"
import { reportClockChange } from "../DeliveryReport.ts"
import type { DeliveryOptionValues } from "../DeliveryOptions.ts"
import { type DeliveryStore, type WorkerLease, wrapCalls } from "../DeliveryStore.ts"
import { WorkSet } from "./WorkSet.ts"
import type { Hmac } from "../secrets/Hmac.ts"
import type { makeSigningKeys } from "../secrets/SigningKeys.ts"
import { Slots } from "./Slots.ts"
import { OutcomeBuffer } from "./OutcomeBuffer.ts"
import type { Wakeups } from "../Wakeups.ts"
import type { WebhookSender } from "../WebhookSender.ts"

/** The services of an engine. */
export interface EngineServices {
  readonly store: DeliveryStore["Service"]
  readonly sender: WebhookSender["Service"]
  readonly hmac: Hmac["Service"]
  readonly wakeups: Wakeups["Service"]
  readonly ids: UniqueIds["Service"]
  readonly options: DeliveryOptionValues
  readonly keysOf: ReturnType<typeof makeSigningKeys>
  readonly observe: ObserveAttempts
}

/** Pause of a loop, and of a tenant, after a call has failed. */
export const failurePauseMillis = 1000

/** Smaller changes of the store's clock (milliseconds) are not reported. */
const leastClockChangeMillis = 1_000

/** The shared state of one worker. */
export class EngineState {
  readonly store: DeliveryStore["Service"]
  readonly services: EngineServices
  readonly options: DeliveryOptionValues
  readonly worker: WorkerLease
  readonly work = new WorkSet()
  readonly outcomes = new OutcomeBuffer()
  /** Limits the log of dead letters: a failing receiver may cause one for each event. */
  readonly deadLetters = new LineLimiter()
  readonly slots: Slots
  readonly attempts: AttemptsInFlight
  /** Difference between the store's clock and the worker's time, from the last responses. */
  private ahead: number | undefined
  /** Bounds of this difference: a slow response alone says little of it. */
  private least = -Infinity
  private most = Infinity
  /** Worker time until which this worker's leases last. */
  leasedUntil = -Infinity

  /** `context`: of the worker's fiber. */
  constructor(services: EngineServices, workerId: string, context: Context.Context<never>) {
    this.services = services
    this.options = services.options
    this.store = withTimeouts(services.store, services.options.leaseMillis)
    this.worker = { workerId, leaseMillis: services.options.leaseMillis }
    this.slots = new Slots(services.options)
    this.attempts = new AttemptsInFlight(services, context)
  }

  /** How many milliseconds the store's clock is ahead of the worker's time. */
  get storeAhead(): number {
    return this.ahead ?? 0
  }

  /** The store's clock at a moment of the worker's time. */
  storeTime(at: number): number {
    return at + this.storeAhead
  }

  /** Updates the clock difference from a response with `storeNow`, with the worker's times of request and response. Reports a changed clock. */
  learnTime(storeNow: number, asked: number, answered: number): Effect.Effect<void> {
    const least = storeNow - answered
    const most = storeNow - asked
    this.ahead = Math.min(Math.max(this.ahead ?? least, least), most)
    const change = Math.max(least - this.most, 0) + Math.min(most - this.least, 0)
    this.least = change === 0 ? Math.max(this.least, least) : least
    this.most = change === 0 ? Math.min(this.most, most) : most
    if (Math.abs(change) < leastClockChangeMillis) return Effect.void
    return reportClockChange(change)
  }
}

/** Minimum timeout in milliseconds, because a busy store needs time even if leases are short. */
const shortestMillis = 5_000

/**
 * Limits every call to half a lease, so that a renewal after a timed-out call is still in time. Without it, a connection to a
 * vanished server would block the worker forever, and its leases would expire.
 */
const withTimeouts = (store: DeliveryStore["Service"], leaseMillis: number): DeliveryStore["Service"] => {
  const millis = Math.max(shortestMillis, leaseMillis / 2)
  return wrapCalls(store, (call, answer) =>
    Effect.timeoutOrElse(answer, {
      duration: millis,
      orElse: () => Effect.fail(new StorageError({ operation: `DeliveryStore.${call}`, cause: `No response within ${millis / 1000} seconds.` }))
    }))
}
