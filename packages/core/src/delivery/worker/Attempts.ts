/** One attempt: signs the frozen bytes, sends them, and decides the delivery's state by the outcome. */
import type { AttemptRecord } from "../DeliveryQueue.ts"
import type { DeliveryOutcome, LoadedDestination, TakenDelivery } from "../DeliveryStore.ts"
import type { Hmac } from "../secrets/Hmac.ts"
import { AttemptOutcome } from "../model/AttemptOutcome.ts"
import { wrap } from "../model/Envelope.ts"
import { retrySeconds } from "../model/RetryDecision.ts"
import { requestHeaders } from "../model/Signature.ts"
import { requestOwner, type WebhookRequest } from "../WebhookSender.ts"

/** One attempt of a taken delivery. */
export interface Attempt {
  readonly tenantId: string
  readonly destination: LoadedDestination
  readonly taken: TakenDelivery
  /** Live signing keys, newest first. */
  readonly keys: ReadonlyArray<Uint8Array>
  /** Milliseconds that the store's clock is ahead of the worker's time. Timestamps use the store's clock. */
  readonly storeAhead: number
}

/** The effect of an attempt on its delivery and destination. */
export interface Verdict extends DeliveryOutcome {
  readonly record: AttemptRecord
  /** For the breaker; `unknown`: the outcome does not depend on the destination. */
  readonly health: "up" | "down" | "unknown"
  /** Why the destination must be paused; `undefined`: no pause. */
  readonly pause: string | undefined
}

const unsignable = AttemptOutcome.Failed({
  failure: "signing",
  detail: "The signing secret of this subscription does not exist. Ask the operator to register it again."
})

/** The request of an attempt, signed at `startedAt` (worker time); or its outcome if it cannot be signed. */
export const requestOf = (
  { destination, keys, storeAhead, taken, tenantId }: Attempt,
  hmac: Hmac["Service"],
  startedAt: number,
  deadlineMillis: number
): WebhookRequest | AttemptOutcome => {
  if (keys.length === 0 && destination.signing === "required") return unsignable
  // receivers refuse timestamps that differ by minutes, and the clock of this process may be wrong
  const timestampSeconds = Math.floor((startedAt + storeAhead) / 1000)
  const body = wrap(destination.envelope, taken.deliveryId, taken.sentAt, taken.body)
  const headers = requestHeaders(hmac.sha256, keys, { deliveryId: taken.deliveryId, timestampSeconds, body }, destination.bodySignature)
  return { owner: requestOwner(tenantId, destination.client), url: destination.endpointUrl, headers, body, deadlineMillis }
}

/** The outcome of a delivery that is sent again at once. */
export const undecided = ({ attempt, deliveryId, destinationId, flight }: TakenDelivery) =>
  ({ destinationId, deliveryId, flight, attempt, state: "waiting", dueInMillis: 0, notCounted: false }) as const

/** Decides the state of a delivery after an outcome, by its number of attempts. `at` and `endedAt`: worker time; the record has the store's. */
export const verdictOf = ({ destination, storeAhead, taken }: Attempt, outcome: AttemptOutcome, at: number, endedAt: number, jitter: number): Verdict => {
  const base = { attempt: taken.attempt, at: at + storeAhead, durationMillis: Math.max(0, endedAt - at) }
  const unchanged = { ...undecided(taken), health: "unknown", pause: undefined } as const
  switch (outcome._tag) {
    case "Accepted":
      return { ...unchanged, state: "delivered", record: { ...base, outcome: "accepted", status: outcome.status, ...excerptOf(outcome.excerpt) }, health: "up" }
    case "Gone":
      return { ...unchanged, record: { ...base, outcome: "gone", status: outcome.status, ...excerptOf(outcome.excerpt) }, pause: "The receiver answered 410 Gone." }
    case "Interrupted": {
      const { unsent } = outcome
      if (unsent === undefined) return { ...unchanged, notCounted: true, record: { ...base, outcome: "interrupted", detail: "The sending process stopped before an answer came." } }
      // the breaker opens, because the next delivery could not be sent either
      return { ...unchanged, notCounted: true, dueInMillis: destination.policy.initialBackoffSeconds * 1000, record: { ...base, outcome: "interrupted", detail: unsent }, health: "down" }
    }
    case "Failed": {
      const { detail, excerpt, failure, retryAfterSeconds, status } = outcome
      const record = { ...base, outcome: failure, ...(status === undefined ? {} : { status }), detail, ...excerptOf(excerpt) }
      const seconds = retrySeconds(destination.policy, taken.tries, jitter, retryAfterSeconds)
      if (seconds !== undefined) return { ...unchanged, dueInMillis: Math.ceil(seconds * 1000), record, health: "down" }
      return { ...unchanged, state: "dead", record, health: "down", pause: destination.whenDead === "pause" ? pausedByDeadLetter(taken.tries) : undefined }
    }
  }
}

/** Reason of a pause by a dead letter. */
export const pausedByDeadLetter = (tries: number): string => `A delivery was not accepted in ${tries} attempt${tries === 1 ? "" : "s"}.`

const excerptOf = (excerpt: string | undefined) => excerpt === undefined || excerpt === "" ? undefined : { excerpt }
