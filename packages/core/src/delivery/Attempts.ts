/** One attempt: sign the frozen bytes, send them, and say what it means for the delivery. */
import { Effect, Exit } from "effect"
import * as Random from "effect/Random"
import { spanFrom } from "../shared/TraceContext.ts"
import type { AttemptRecord } from "./DeliveryQueue.ts"
import type { LoadedDestination, TakenDelivery } from "./DeliveryStore.ts"
import type { Hmac } from "./Hmac.ts"
import { AttemptOutcome } from "./model/AttemptOutcome.ts"
import { wrap } from "./model/Envelope.ts"
import type { RequestBody } from "./model/RequestBody.ts"
import { decideRetry } from "./model/RetryDecision.ts"
import { bodySignatureHeader, signatureHeader } from "./model/Signature.ts"
import { NotAccepted, spanAttributesOf, spanResultOf } from "./AttemptSpan.ts"
import type { WebhookRequest, WebhookSender } from "./WebhookSender.ts"
import { workerMillis } from "./WorkerTime.ts"

/** A delivery that was taken, its attempt counted. */
export interface Attempt {
  readonly tenantId: string
  readonly destination: LoadedDestination
  readonly deliveryId: string
  readonly flight: string
  /** Counts this one. */
  readonly attempt: number
  /** The same since the last manual retry. */
  readonly tries: number
  readonly body: RequestBody
  /** Those of its events. */
  readonly bytes: number
  readonly events: number
  readonly traceparent: string | undefined
  /** Live signing keys, newest first. */
  readonly keys: ReadonlyArray<Uint8Array>
  /** What the store's clock is ahead of the worker's time: all that is told of time goes by the store's. */
  readonly storeAhead: number
}

/** The effect of an attempt on its delivery. */
export interface Verdict {
  readonly state: "delivered" | "waiting" | "dead"
  readonly dueInMillis: number
  readonly notCounted: boolean
  readonly record: AttemptRecord
  /** For the breaker, which counts only outcomes that depend on the destination. */
  readonly health: "up" | "down" | "unknown"
  /** Why the destination is to be paused. */
  readonly pause: string | undefined
}

/** The attempt of a taken delivery, with the frozen bytes. */
export const attemptOf = (
  taken: TakenDelivery,
  { destination, keys, storeAhead, tenantId }: Pick<Attempt, "tenantId" | "destination" | "keys" | "storeAhead">
): Attempt => ({
  tenantId,
  destination,
  keys,
  storeAhead,
  deliveryId: taken.deliveryId,
  flight: taken.flight,
  attempt: taken.attempt,
  tries: taken.tries,
  body: wrap(destination.envelope, taken.deliveryId, taken.sentAt, [taken.body]),
  bytes: taken.body.length,
  events: taken.events,
  traceparent: taken.traceparent
})

const broken = AttemptOutcome.Failed({
  failure: "protocol",
  detail: "The request could not be sent because of a fault on this side. It is logged, and the delivery is tried again."
})

const unsignable = AttemptOutcome.Failed({
  failure: "signing",
  detail: "The signing secret of this subscription does not exist. Ask the operator to register it again."
})

/** Sends one attempt and never fails; an interrupted one says so. Only the sending itself can be interrupted, wherever it runs. */
export const runAttempt = (
  services: { readonly sender: WebhookSender["Service"]; readonly hmac: Hmac["Service"]; readonly timeoutMillis: number },
  attempt: Attempt
): Effect.Effect<Verdict> =>
  Effect.uninterruptible(
    Effect.flatMap(workerMillis, (startedAt) =>
      Effect.interruptible(Effect.suspend(() => attempted(services, attempt, startedAt))).pipe(
        // a defect of the sender counts as an attempt, so that retries end
        Effect.catchDefect((defect) => Effect.as(Effect.logError("Webhook attempt failed with a defect.", defect), broken)),
        Effect.exit,
        Effect.flatMap((exit) => {
          // the outcome of an interrupted attempt is unknown, so the delivery is sent again
          const outcome = Exit.isSuccess(exit) ? exit.value : AttemptOutcome.Interrupted()
          return Effect.zipWith(workerMillis, Random.next, (endedAt, jitter) =>
            verdictOf(attempt, outcome, startedAt, endedAt, jitter))
        })
      ))
  )

/** The request of an attempt, signed for this instant; or the outcome of one that cannot be signed. */
export const requestOf = (
  { hmac, timeoutMillis }: { readonly hmac: Hmac["Service"]; readonly timeoutMillis: number },
  { body, deliveryId, keys, destination, storeAhead }: Attempt,
  startedAt: number
): WebhookRequest | AttemptOutcome => {
  if (keys.length === 0 && destination.signing === "required") return unsignable
  // receivers refuse timestamps that are minutes off, and the clock of this process may be wrong
  const timestampSeconds = Math.floor((startedAt + storeAhead) / 1000)
  const named = { "content-type": "application/json", "webhook-id": deliveryId, "webhook-timestamp": String(timestampSeconds) }
  const request = { url: destination.endpointUrl, body, deadlineMillis: timeoutMillis }
  if (keys.length === 0) return { ...request, headers: named }
  const signed = { ...named, "webhook-signature": signatureHeader(hmac.sha256, keys, { deliveryId, timestampSeconds, body }) }
  return { ...request, headers: destination.bodySignature ? { ...signed, "x-signature": bodySignatureHeader(hmac.sha256, keys[0]!, body) } : signed }
}

const attempted = (services: Parameters<typeof runAttempt>[0], attempt: Attempt, startedAt: number): Effect.Effect<AttemptOutcome> => {
  const request = requestOf(services, attempt, startedAt)
  if ("_tag" in request) return Effect.succeed(request)
  const { sender } = services
  const parent = spanFrom(attempt.traceparent)
  if (parent === undefined) return sender.send(request)
  return sender.send(request).pipe(
    Effect.tap((outcome) => Effect.annotateCurrentSpan(spanResultOf(outcome))),
    // only a failure makes a span one of an error
    Effect.flatMap((outcome) => outcome._tag === "Failed" || outcome._tag === "Gone" ? Effect.fail(new NotAccepted(outcome)) : Effect.succeed(outcome)),
    Effect.withSpan("POST", { parent, kind: "client", attributes: spanAttributesOf(attempt) }),
    Effect.catch(({ outcome }) => Effect.succeed(outcome))
  )
}

/** Decides the state of a delivery after an outcome, by its number of attempts. `at` and `endedAt` are the worker's time, the record's is the store's. */
export const verdictOf = (attempt: Attempt, outcome: AttemptOutcome, at: number, endedAt: number, jitter: number): Verdict => {
  const base = { attempt: attempt.attempt, at: at + attempt.storeAhead, durationMillis: Math.max(0, endedAt - at) }
  switch (outcome._tag) {
    case "Accepted":
      return {
        state: "delivered",
        dueInMillis: 0,
        notCounted: false,
        record: { ...base, outcome: "accepted", status: outcome.status, ...excerptOf(outcome.excerpt) },
        health: "up",
        pause: undefined
      }
    case "Gone":
      return {
        state: "waiting",
        dueInMillis: 0,
        notCounted: false,
        record: { ...base, outcome: "gone", status: outcome.status, ...excerptOf(outcome.excerpt) },
        health: "unknown",
        pause: "The receiver answered 410 Gone."
      }
    case "Interrupted":
      return {
        state: "waiting",
        dueInMillis: 0,
        notCounted: true,
        record: { ...base, outcome: "interrupted", detail: "The sending process stopped before an answer came." },
        health: "unknown",
        pause: undefined
      }
    case "Failed": {
      const decision = decideRetry(attempt.destination.policy, attempt.tries, jitter, outcome.retryAfterSeconds)
      return {
        state: decision._tag === "GiveUp" ? "dead" : "waiting",
        dueInMillis: decision._tag === "GiveUp" ? 0 : Math.ceil(decision.seconds * 1000),
        notCounted: false,
        record: {
          ...base,
          outcome: outcome.failure,
          ...(outcome.status === undefined ? {} : { status: outcome.status }),
          detail: outcome.detail,
          ...excerptOf(outcome.excerpt)
        },
        health: "down",
        pause: decision._tag === "GiveUp" && attempt.destination.whenDead === "pause" ? pausedByDeadLetter(attempt.tries) : undefined
      }
    }
  }
}

/** Why a destination that a dead letter pauses was paused. */
export const pausedByDeadLetter = (tries: number): string => `A delivery was not accepted in ${tries} attempt${tries === 1 ? "" : "s"}.`

const excerptOf = (excerpt: string | undefined) => excerpt === undefined || excerpt === "" ? undefined : { excerpt }
