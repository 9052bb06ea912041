/** How a call can fail: the server said no, or there was no usable answer. */
import { isObject, type JsonObject } from "../shared/ReceivedJson.ts"

/** One fault of a request, as problem details name it. */
export interface ProblemFault {
  readonly detail: string
  /** JSON pointer into the request body. */
  readonly pointer?: string
  /** Name of the query or path parameter. */
  readonly parameter?: string
  /** Name of the request header. */
  readonly header?: string
  /** Name of the field, in the manner of freight charges, such as `accounts[0]`. */
  readonly field?: string
  readonly code?: string
}

/** The call a failure belongs to. Never holds a credential. */
export interface FailedCall {
  readonly method: string
  readonly url: string
  /** Sent with the same request, it makes sure that it is carried out once. */
  readonly idempotencyKey?: string
}

/** The server answered, and the answer is a refusal, in whichever shape the area has (or whatever stood in its place). */
export class WaybillProblem extends Error {
  override readonly name = "WaybillProblem"
  readonly call: FailedCall
  /** The HTTP status. */
  readonly status: number
  readonly title: string
  /** What is wrong, in a sentence or two. */
  readonly detail: string | undefined
  /** Stable text to branch on; empty when the answer named none, as those of shipment status and pickups do. */
  readonly code: string
  /** Code numbers, which are all that refusals of invoices and documents name; empty in other areas. */
  readonly codes: ReadonlyArray<string>
  readonly instance: string | undefined
  /** Every fault that was found; empty when the answer named none. */
  readonly errors: ReadonlyArray<ProblemFault>
  /** For programs, as freight charges give them: `accountId` of a conflict, for one. */
  readonly details: Readonly<Record<string, unknown>> | undefined
  /** What the server asked for in `Retry-After`. */
  readonly retryAfterSeconds: number | undefined
  /** The answer's body as it came. */
  readonly body: string

  constructor(call: FailedCall, answer: { readonly status: number; readonly headers: Headers; readonly body: string }) {
    const json = readJson(answer.body)
    const shown = isObject(json) ? json : {}
    // an area whose bodies have codes only says it in a header
    const message = text(shown["message"]) ?? text(answer.headers.get("x-waybill-detail"))
    const title = text(shown["title"]) ?? message ?? `HTTP ${answer.status}`
    const detail = text(shown["detail"]) ?? message
    super(`${call.method} ${call.url} answered ${answer.status}: ${detail ?? title}`)
    this.call = call
    this.status = answer.status
    this.title = title
    this.detail = detail
    this.code = text(shown["code"]) ?? ""
    this.codes = Array.isArray(json) ? json.filter((code) => typeof code === "string") : []
    this.instance = text(shown["instance"])
    this.details = isObject(shown["details"]) ? shown["details"] : undefined
    this.errors = Array.isArray(shown["errors"]) ? shown["errors"].filter(isFault) : faultsIn(this.details)
    this.retryAfterSeconds = readRetryAfter(answer.headers.get("retry-after"), Date.now())
    this.body = answer.body
  }
}

/**
 * - `network`: no connection, or it broke. The call may or may not have happened.
 * - `timeout`: no whole answer in time. The call may or may not have happened.
 * - `redirected`: redirects are never followed, because credentials would travel with them.
 * - `unreadable_answer`: a success whose body is not what this call promises.
 */
export type CallFailure = "network" | "timeout" | "redirected" | "unreadable_answer"

/** There was no usable answer. `cause` has what the runtime reported. */
export class WaybillCallFailed extends Error {
  override readonly name = "WaybillCallFailed"
  readonly call: FailedCall
  readonly reason: CallFailure

  constructor(call: FailedCall, reason: CallFailure, sentence: string, options?: ErrorOptions) {
    super(`${call.method} ${call.url}: ${sentence}`, options)
    this.call = call
    this.reason = reason
  }
}

/** `Retry-After` as seconds from now: digits or an HTTP date; `undefined` for anything else. */
export const readRetryAfter = (header: string | null, nowMillis: number): number | undefined => {
  if (header === null) return undefined
  if (/^\d{1,9}$/.test(header)) return Number(header)
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(header)) return undefined
  const at = Date.parse(header)
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - nowMillis) / 1000))
}

const readJson = (body: string): unknown => {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

const text = (value: unknown): string | undefined => typeof value === "string" && value !== "" ? value : undefined

const isFault = (value: unknown): value is ProblemFault =>
  typeof value === "object" && value !== null && typeof (value as ProblemFault).detail === "string"

/** Freight charges name one fault in `details`, and all of them in its `errors` where there are several. */
const faultsIn = (details: JsonObject | undefined): ReadonlyArray<ProblemFault> => {
  const faults = details === undefined ? [] : Array.isArray(details["errors"]) ? details["errors"] as ReadonlyArray<unknown> : [details]
  return faults.filter(isObject).flatMap(({ error, field }) => {
    const detail = text(error)
    const named = text(field)
    return detail === undefined ? [] : [{ detail, ...(named === undefined ? {} : { field: named }) }]
  })
}
