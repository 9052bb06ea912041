/** Shared parts of the sender's tests: a sender that may reach loopback, and a request. */
import { Effect, Result } from "effect"
import { type AttemptOutcome, sendWebhook, type WebhookRequest, WebhookSender } from "@waybill/core/delivery"
import { parseEgressAllow, WebhookSenderHttp, type WebhookSenderHttpOptions } from "../../src/webhook-sender/index.ts"

export const allowing = (text: string) => Result.getOrThrow(parseEgressAllow(text))

export const loopbackSender = (options: WebhookSenderHttpOptions = {}) =>
  WebhookSenderHttp.layer({ egress: allowing("127.0.0.0/8"), ...options })

export const body = [`{"proNumber":`, new TextEncoder().encode(`"123"`), "}"]

/** Long enough for every expected response. */
const deadlineMillis = 10_000

/** Long enough to start and short enough to wait for. */
export const shortDeadline = { deadlineMillis: 300 }

export const send = (url: string, request: Partial<WebhookRequest> = {}): Effect.Effect<AttemptOutcome, never, WebhookSender> =>
  Effect.flatMap(WebhookSender, (sender) =>
    sendWebhook(sender, { owner: "acme", url, headers: { "content-type": "application/json" }, body, deadlineMillis, ...request }))

/** `Accepted 200`, `Gone 410`, `http_5xx 503`, `timeout` */
export const summary = (outcome: AttemptOutcome): string => {
  if (outcome._tag === "Interrupted") return outcome._tag
  const what = outcome._tag === "Failed" ? outcome.failure : outcome._tag
  return outcome.status === undefined ? what : `${what} ${outcome.status}`
}
