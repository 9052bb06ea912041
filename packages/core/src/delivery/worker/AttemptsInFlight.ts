/** Attempts in flight. They need no fibers, which would cost more than the rest of an attempt. */
import { Clock, Context, Effect, Random } from "effect"
import { type Attempt, requestOf, type Verdict, verdictOf } from "./Attempts.ts"
import { beginSpan } from "./AttemptSpan.ts"
import type { DeliveryOptionValues } from "../DeliveryOptions.ts"
import type { Hmac } from "../secrets/Hmac.ts"
import { AttemptOutcome } from "../model/AttemptOutcome.ts"
import type { WebhookSender } from "../WebhookSender.ts"
import { LineLimiter } from "../../shared/LineLimiter.ts"
import { LinkedList } from "../../shared/LinkedList.ts"
import { monotonicMillisUnsafe } from "../../shared/MonotonicTime.ts"

const broken = AttemptOutcome.Failed({
  failure: "protocol",
  detail: "The request could not be sent because of a fault on this side. It is logged, and the delivery is tried again."
})

/** Starts attempts, and aborts them at a stop. */
export class AttemptsInFlight {
  private readonly sender: WebhookSender["Service"]
  private readonly hmac: Hmac["Service"]
  private readonly timeoutMillis: number
  private readonly context: Context.Context<never>
  private readonly clock: Clock.Clock
  private readonly random: typeof Random.Random.Service
  private readonly interrupts = new LinkedList<() => void>()
  private readonly lines = new LineLimiter()

  /** `context`: of the worker's fiber, for the time, random numbers, spans and logs. */
  constructor(
    { hmac, options, sender }: { readonly sender: WebhookSender["Service"]; readonly hmac: Hmac["Service"]; readonly options: Pick<DeliveryOptionValues, "attemptTimeoutMillis"> },
    context: Context.Context<never>
  ) {
    this.sender = sender
    this.hmac = hmac
    this.timeoutMillis = options.attemptTimeoutMillis
    this.context = context
    this.clock = Context.get(context, Clock.Clock)
    this.random = Context.get(context, Random.Random)
  }

  /** Starts an attempt. Calls `end` once, possibly before it returns. */
  begin(attempt: Attempt, end: (verdict: Verdict) => void): void {
    const startedAt = monotonicMillisUnsafe(this.clock)
    const endSpan = this.traced(() => beginSpan(attempt, this.context))
    let abort: (() => void) | undefined
    let hasEnded = false
    const settle = (outcome: AttemptOutcome) => {
      // ignores a second outcome, and one after an abort
      if (hasEnded) return
      hasEnded = true
      this.interrupts.remove(entry)
      this.traced(() => endSpan?.(outcome))
      end(verdictOf(attempt, outcome, startedAt, monotonicMillisUnsafe(this.clock), this.random.nextDoubleUnsafe()))
    }
    // it is unknown whether the receiver got it, so the delivery is sent again
    const interrupt = () => {
      abort?.()
      settle(AttemptOutcome.Interrupted({}))
    }
    const entry = this.interrupts.add(interrupt)
    try {
      const request = requestOf(attempt, this.hmac, startedAt, this.timeoutMillis)
      if ("_tag" in request) settle(request)
      else abort = this.sender.start(request, settle)
    } catch (defect) {
      Effect.runForkWith(this.context)(Effect.logError("Webhook attempt failed with a defect.", defect))
      // it counts as an attempt, so that retries end
      settle(broken)
    }
  }

  /** A tracer of the host that throws ends no attempt. */
  private traced<A>(trace: () => A): A | undefined {
    try {
      return trace()
    } catch (defect) {
      Effect.runForkWith(this.context)(this.lines.log("Tracer", Effect.logError("Tracing of a webhook attempt failed with a defect. The attempt goes on.", defect)))
      return undefined
    }
  }

  interruptAll(): void {
    for (let interrupt = this.interrupts.first; interrupt !== undefined; interrupt = this.interrupts.first) interrupt()
  }
}
