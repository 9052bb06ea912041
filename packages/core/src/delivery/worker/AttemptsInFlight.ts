/** Attempts in flight: without fibers if the sender supports callbacks and tracing is off, otherwise one fiber each. */
import { Effect, Fiber } from "effect"
import * as Clock from "effect/Clock"
import * as Random from "effect/Random"
import { type Attempt, requestOf, runAttempt, type Verdict, verdictOf } from "./Attempts.ts"
import type { DeliveryOptionValues } from "../DeliveryOptions.ts"
import type { Hmac } from "../secrets/Hmac.ts"
import { AttemptOutcome } from "../model/AttemptOutcome.ts"
import type { WebhookSender } from "../WebhookSender.ts"
import { monotonicMillisUnsafe } from "../../shared/MonotonicTime.ts"

/** An attempt without a fiber. */
interface Exchange {
  abort: () => void
  readonly end: (outcome: AttemptOutcome) => void
}

export class AttemptsInFlight {
  private readonly services: {
    readonly sender: WebhookSender["Service"]
    readonly hmac: Hmac["Service"]
    readonly timeoutMillis: number
  }
  private readonly fibers = new Set<Fiber.Fiber<void>>()
  private readonly exchanges = new Set<Exchange>()
  private clock!: Clock.Clock
  private random!: typeof Random.Random.Service

  constructor({ hmac, options, sender }: {
    readonly sender: WebhookSender["Service"]
    readonly hmac: Hmac["Service"]
    readonly options: DeliveryOptionValues
  }) {
    this.services = { sender, hmac, timeoutMillis: options.attemptTimeoutMillis }
  }

  /** Reads clock and random from the fiber of the worker. Called first. */
  get ready(): Effect.Effect<void> {
    return Effect.withFiber((fiber) => {
      this.clock = fiber.getRef(Clock.Clock)
      this.random = fiber.getRef(Random.Random)
      return Effect.void
    })
  }

  /** Starts an attempt, or returns an effect that does; `end` is called once, possibly before this returns. */
  begin(attempt: Attempt, end: (verdict: Verdict) => void): Effect.Effect<void> | undefined {
    if (this.launch(attempt, end)) return undefined
    const done = Effect.uninterruptible(Effect.map(runAttempt(this.services, attempt), end))
    return Effect.map(Effect.forkDetach(done, { startImmediately: true }), (fiber) => {
      if (fiber.pollUnsafe() !== undefined) return
      this.fibers.add(fiber)
      fiber.addObserver(() => this.fibers.delete(fiber))
    })
  }

  /** Interrupts all attempts. */
  get abandon(): Effect.Effect<void> {
    return Effect.suspend(() => {
      for (const exchange of this.exchanges) {
        exchange.abort()
        exchange.end(AttemptOutcome.Interrupted())
      }
      return Fiber.interruptAll(this.fibers)
    })
  }

  /** `false` when it has to be done the other way. */
  private launch(attempt: Attempt, done: (verdict: Verdict) => void): boolean {
    const { sender } = this.services
    if (sender.start === undefined || attempt.traceparent !== undefined) return false
    const startedAt = monotonicMillisUnsafe(this.clock)
    let ended = false
    const end = (outcome: AttemptOutcome) => {
      // ignores a second outcome, and one after an abort
      if (ended) return
      ended = true
      this.exchanges.delete(exchange)
      done(verdictOf(attempt, outcome, startedAt, monotonicMillisUnsafe(this.clock), this.random.nextDoubleUnsafe()))
    }
    const exchange: Exchange = { abort: () => {}, end }
    try {
      const request = requestOf(this.services, attempt, startedAt)
      if ("_tag" in request) end(request)
      else exchange.abort = sender.start(request, end)
    } catch {
      // the fiber path fails in the same way, and reports it
      return ended
    }
    if (!ended) this.exchanges.add(exchange)
    return true
  }
}
