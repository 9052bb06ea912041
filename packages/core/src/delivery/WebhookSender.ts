/** Outbound transport port: one POST to a receiver, with an outcome and never an exception. */
import { Context, Effect } from "effect"
import type { AttemptOutcome } from "./model/AttemptOutcome.ts"
import type { RequestBody } from "./model/RequestBody.ts"

/**
 * The one sentence for an address that webhooks may not reach: for a literal that is refused, a name that leads to one, and a
 * name that leads nowhere. Told apart, they would tell which names exist inside the network.
 */
export const addressNotAllowed = "This address is not allowed or does not exist. Use an https address that is public."

/** One attempt, ready for the wire. */
export interface WebhookRequest {
  /** Where the subscription wants it. Vetted again by the sender on every attempt. */
  readonly url: string
  /** Names in lower case; the sender adds `content-length`, `user-agent` and what HTTP itself needs. */
  readonly headers: Readonly<Record<string, string>>
  /** Exactly what was signed. */
  readonly body: RequestBody
  /** Milliseconds for the whole attempt: name lookup, connect, TLS, head and body. */
  readonly deadlineMillis: number
}

/**
 * Sends one attempt.
 *
 * A sender must: vet the address it connects to (literals and every resolved address), never follow a redirect,
 * hold one deadline over the whole attempt, read at most a few kilobytes of the answer, decode nothing, and never
 * retry by itself.
 */
export class WebhookSender extends Context.Service<WebhookSender, {
  /**
   * Calls `settle` once, perhaps before it returns, and never after `abort`, which it answers. It needs no fiber: at tens of thousands of
   * attempts a second the fiber is what costs.
   */
  readonly start: (request: WebhookRequest, settle: (outcome: AttemptOutcome) => void) => () => void
  /**
   * Whether an address may be named in a subscription at all: scheme, port, credentials, literal addresses.
   * `undefined` when it may, otherwise one neutral sentence. Names are not resolved here.
   */
  readonly refusal: (url: string) => string | undefined
}>()("@waybill/core/delivery/WebhookSender") {}

/** Sends one attempt, and aborts it when interrupted. */
export const sendWebhook = ({ start }: WebhookSender["Service"], request: WebhookRequest): Effect.Effect<AttemptOutcome> =>
  Effect.callback((resume) => Effect.sync(start(request, (outcome) => resume(Effect.succeed(outcome)))))
