/** Attempts that run: without a fiber where the sender works by callbacks and nobody traces, else in one each. */
import { Effect, Fiber } from "effect"
import * as Clock from "effect/Clock"
import * as Random from "effect/Random"
import { type Attempt, requestOf, runAttempt, type Verdict, verdictOf } from "./Attempts.ts"
import type { DeliveryOptionValues } from "./DeliveryOptions.ts"
import type { Hmac } from "./Hmac.ts"
import { AttemptOutcome } from "./model/AttemptOutcome.ts"
import type { WebhookSender } from "./WebhookSender.ts"
import { workerMillisUnsafe } from "./WorkerTime.ts"

/** One that runs without a fiber. */
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

  /** Takes clock and chance from whoever runs the worker; first of all. */
  get ready(): Effect.Effect<void> {
    return Effect.withFiber((fiber) => {
      this.clock = fiber.getRef(Clock.Clock)
      this.random = fiber.getRef(Random.Random)
      return Effect.void
    })
  }

  /** Starts an attempt, or answers what starts it; `end` is called once, perhaps before this ends. */
  begin(attempt: Attempt, end: (verdict: Verdict) => void): Effect.Effect<void> | undefined {
    if (this.launch(attempt, end)) return undefined
    const done = Effect.uninterruptible(Effect.map(runAttempt(this.services, attempt), end))
    return Effect.map(Effect.forkDetach(done, { startImmediately: true }), (fiber) => {
      if (fiber.pollUnsafe() !== undefined) return
      this.fibers.add(fiber)
      fiber.addObserver(() => this.fibers.delete(fiber))
    })
  }

  /** Cuts short whatever runs; each ends as interrupted. */
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
    const startedAt = workerMillisUnsafe(this.clock)
    let ended = false
    const end = (outcome: AttemptOutcome) => {
      // a sender that speaks twice, or after it was told to stop, is not heard again
      if (ended) return
      ended = true
      this.exchanges.delete(exchange)
      done(verdictOf(attempt, outcome, startedAt, workerMillisUnsafe(this.clock), this.random.nextDoubleUnsafe()))
    }
    const exchange: Exchange = { abort: () => {}, end }
    try {
      const request = requestOf(this.services, attempt, startedAt)
      if ("_tag" in request) end(request)
      else exchange.abort = sender.start(request, end)
    } catch {
      // what breaks here breaks there too, and is told there
      return ended
    }
    if (!ended) this.exchanges.add(exchange)
    return true
  }
}
