/** Errors of a call: the server refused it, or there was no usable response. */
import { isObject, type JsonObject } from "../shared/ReceivedJson.ts"

/** One error of a request, as in the problem details. */
export interface ProblemFault {
  readonly detail: string
  /** JSON pointer into the request body. */
  readonly pointer?: string
  /** Name of the query or path parameter. */
  readonly parameter?: string
  /** Name of the request header. */
  readonly header?: string
  /** Field path as freight charges write it, such as `accounts[0]`. */
  readonly field?: string
  readonly code?: string
}

/** The call that failed. Never contains a credential. */
export interface FailedCall {
  readonly method: string
  readonly url: string
  /** Send the same request with this key to execute it only once. */
  readonly idempotencyKey?: string
}

/** The server answered with an error status. Reads the error body of every area, and any other body. */
export class WaybillProblem extends Error {
  override readonly name = "WaybillProblem"
  readonly call: FailedCall
  /** The HTTP status. */
  readonly status: number
  readonly title: string
  /** The error in one or two sentences. */
  readonly detail: string | undefined
  /** Stable code to branch on; empty when the response has none, as in shipment status and pickups. */
  readonly code: string
  /** Code numbers, the only content of errors of invoices and documents; empty in other areas. */
  readonly codes: ReadonlyArray<string>
  readonly instance: string | undefined
  /** Every error of the request; empty when the response lists none. */
  readonly errors: ReadonlyArray<ProblemFault>
  /** Machine-readable details of freight charges, such as `accountId` and `subscriptionId` of a conflict. */
  readonly details: Readonly<Record<string, unknown>> | undefined
  /** Seconds from the `Retry-After` header. */
  readonly retryAfterSeconds: number | undefined
  /** The response body, unchanged. */
  readonly body: string

  constructor(call: FailedCall, answer: { readonly status: number; readonly headers: Headers; readonly body: string }) {
    const json = readJson(answer.body)
    const shown = isObject(json) ? json : {}
    // Invoices and documents put the message in a header, because their bodies contain only codes.
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
 * - `network`: connection failed or broke. The call may or may not have been executed.
 * - `timeout`: no complete response in time. The call may or may not have been executed.
 * - `redirected`: redirects are never followed, because credentials would go with them.
 * - `unreadable_answer`: a success whose body does not match the call.
 */
export type CallFailure = "network" | "timeout" | "redirected" | "unreadable_answer"

/** There was no usable response. `cause` is the error of the runtime. */
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

/** Reads `Retry-After` as seconds from now: digits or an HTTP date; `undefined` for anything else. */
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

/** Freight charges put a single error into `details`, and several into `details.errors`. */
const faultsIn = (details: JsonObject | undefined): ReadonlyArray<ProblemFault> => {
  const faults = details === undefined ? [] : Array.isArray(details["errors"]) ? details["errors"] as ReadonlyArray<unknown> : [details]
  return faults.filter(isObject).flatMap(({ error, field }) => {
    const detail = text(error)
    const named = text(field)
    return detail === undefined ? [] : [{ detail, ...(named === undefined ? {} : { field: named }) }]
  })
}
