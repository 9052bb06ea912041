/** The span of an attempt, by the semantic conventions of OpenTelemetry for HTTP clients and messaging, and with Waybill's own ids. */
import { Clock, Context, Effect, Exit } from "effect"
import { spanFrom } from "../../shared/TraceContext.ts"
import type { Attempt } from "./Attempts.ts"
import type { AttemptOutcome } from "../model/AttemptOutcome.ts"

/** Begins a child of the span that published the events, and returns what ends it; `undefined` if there was none. */
export const beginSpan = (attempt: Attempt, context: Context.Context<never>): ((outcome: AttemptOutcome) => void) | undefined => {
  const parent = spanFrom(attempt.taken.traceparent)
  if (parent === undefined) return undefined
  const span = Effect.runSyncWith(context)(Effect.makeSpan("POST", { parent, kind: "client", attributes: spanAttributesOf(attempt) }))
  return (outcome) => {
    for (const [name, value] of Object.entries(spanResultOf(outcome))) span.attribute(name, value)
    // only a failure makes a span one of an error
    const exit = outcome._tag === "Failed" || outcome._tag === "Gone" ? Exit.fail(new NotAccepted(outcome)) : Exit.void
    span.end(Context.get(context, Clock.Clock).currentTimeNanosUnsafe(), exit)
  }
}

/** The path and query of an endpoint may hold a token of the receiver, so they are left out. */
const spanAttributesOf = ({ destination, taken: { attempt, deliveryId, events }, tenantId }: Attempt): Readonly<Record<string, unknown>> => {
  const url = URL.parse(destination.endpointUrl)
  return {
    "http.request.method": "POST",
    ...(url === null ? {} : {
      "url.scheme": url.protocol.slice(0, -1),
      "server.address": url.hostname,
      "server.port": Number(url.port || (url.protocol === "http:" ? 80 : 443))
    }),
    ...(attempt > 1 ? { "http.request.resend_count": attempt - 1 } : {}),
    "messaging.system": "waybill",
    "messaging.operation.name": "send",
    "messaging.operation.type": "send",
    "messaging.destination.name": destination.destinationId,
    "messaging.message.id": deliveryId,
    "messaging.batch.message_count": events,
    "waybill.tenant": tenantId,
    "waybill.subscription": destination.destinationId,
    "waybill.delivery": deliveryId,
    "waybill.attempt": attempt,
    "waybill.events": events
  }
}

/** Attributes by the outcome. `error.type` is the HTTP status of a response that does not accept, otherwise the outcome. */
const spanResultOf = (outcome: AttemptOutcome): Readonly<Record<string, unknown>> => {
  const result = { "waybill.outcome": outcome._tag === "Failed" ? outcome.failure : outcome._tag.toLowerCase() }
  if (outcome._tag === "Interrupted") return result
  const { status } = outcome
  return {
    ...result,
    ...(status === undefined ? {} : { "http.response.status_code": status }),
    ...(outcome._tag === "Accepted" ? {} : { "error.type": status === undefined && outcome._tag === "Failed" ? outcome.failure : String(status) })
  }
}

/** An attempt that was not accepted, for its span only. */
class NotAccepted extends Error {
  override readonly name = "NotAccepted"
  readonly outcome: Extract<AttemptOutcome, { readonly _tag: "Failed" | "Gone" }>

  constructor(outcome: NotAccepted["outcome"]) {
    super(outcome._tag === "Failed" ? outcome.detail : "The receiver answered 410 Gone.")
    this.outcome = outcome
  }
}
