/** Outbound transport port: one POST to a receiver, with an outcome and never an exception. */
import { Context, Effect } from "effect"
import type { AttemptOutcome } from "./model/AttemptOutcome.ts"
import type { RequestBody } from "./model/RequestBody.ts"

/**
 * The only message for an address that webhooks may not reach: a refused literal, a name that resolves to one, or a name that does not
 * resolve. Different messages would reveal which names exist inside the network.
 */
export const addressNotAllowed = "This address is not allowed or does not exist. Use an https address that is public."

/** The request of one attempt. */
export interface WebhookRequest {
  /** Whose request it is. It waits for no request of another owner. */
  readonly owner: string
  /** The subscription's endpoint. The sender checks it again at every attempt. */
  readonly url: string
  /** Names in lower case; the sender adds `host`, `content-length`, `user-agent` and other headers of HTTP. */
  readonly headers: Readonly<Record<string, string>>
  /** The signed bytes. */
  readonly body: RequestBody
  /** Timeout of the whole attempt in milliseconds: name lookup, connect, TLS, head and body. */
  readonly deadlineMillis: number
}

/** The owner of the requests to a client's receivers. */
export const requestOwner = (tenantId: string, client: string): string => `${tenantId}\n${client}`

/**
 * Sends one attempt.
 *
 * A sender must check the address that it connects to (literals and every resolved address), never follow a redirect,
 * keep one deadline for the whole attempt, read at most a few kilobytes of the response, decode nothing, and never
 * retry by itself.
 */
export class WebhookSender extends Context.Service<WebhookSender, {
  /**
   * Starts an attempt. Calls `settle` once, possibly before it returns. Returns a function that aborts the attempt; `settle` is not called after it. It
   * needs no fiber, which would be the largest cost at tens of thousands of attempts a second.
   */
  readonly start: (request: WebhookRequest, settle: (outcome: AttemptOutcome) => void) => () => void
  /**
   * Why a subscription may not use this address (scheme, port, credentials, literal addresses), as one sentence; `undefined` if it may.
   * Names are not resolved here.
   */
  readonly refusal: (url: string) => string | undefined
}>()("@waybill/core/delivery/WebhookSender") {}

/** Sends one attempt, and aborts it when interrupted. */
export const sendWebhook = ({ start }: WebhookSender["Service"], request: WebhookRequest): Effect.Effect<AttemptOutcome> =>
  Effect.callback((resume) => Effect.sync(start(request, (outcome) => resume(Effect.succeed(outcome)))))
