/** Calls the implementation under test. Every call has a deadline, and time, calls and bytes are limited. */
import { bytesUpTo } from "./BytesUpTo.ts"
import type { Credentials } from "./Fixtures.ts"
import { type Area, Violation } from "./Rule.ts"

/** Who calls: a client of the fixtures, nobody, or somebody with an invalid key. */
export type CallerName = "customer" | "other" | "carrier" | "nobody" | "invalid"

export interface CallOptions {
  /** Default: the customer. */
  readonly as?: CallerName
  /** A bearer token, sent instead of the credentials of `as`. */
  readonly bearer?: string
  readonly query?: Readonly<Record<string, string | ReadonlyArray<string>>>
  /** Sent as JSON. */
  readonly body?: unknown
  /** Sent as it is, instead of `body`. */
  readonly text?: string
  readonly contentType?: string
}

/** A call and its answer. */
export interface Exchange {
  readonly method: string
  readonly url: string
  /** `token`: the bearer token of the call. */
  readonly caller: CallerName | "token"
  readonly sent: string | undefined
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** `undefined` when the body is not JSON. */
  readonly json: unknown
}

export interface Limits {
  /** Timeout of one answer. */
  readonly timeoutMillis: number
  /** Time for everything. */
  readonly totalMillis: number
  readonly maxCalls: number
  readonly maxAnswerBytes: number
}

/** The check as a whole cannot go on. */
export class LimitReached extends Error {
  override readonly name = "LimitReached"
}

/** Slowest upload that the check waits for, in bytes a millisecond: 2 Mbit/s. A file of 25 MB needs more than the timeout of an answer. */
const slowestUpload = 250

/** A limited caller is asked to wait no longer than this. */
const longestWaitSeconds = 30
const maxWaits = 3

export class ApiCaller {
  readonly #bases: Readonly<Record<Area, string>>
  readonly #credentials: Readonly<Partial<Record<CallerName, Credentials>>>
  readonly #limits: Limits
  readonly #deadline: number
  #calls = 0
  /** Whether any call was answered yet. */
  answered = false

  constructor(options: { readonly bases: Readonly<Record<Area, string>>; readonly credentials: Readonly<Partial<Record<CallerName, Credentials>>>; readonly limits: Limits }) {
    this.#bases = options.bases
    this.#credentials = options.credentials
    this.#limits = options.limits
    this.#deadline = Date.now() + options.limits.totalMillis
  }

  get calls(): number {
    return this.#calls
  }

  get leftMillis(): number {
    return this.#deadline - Date.now()
  }

  /** Calls again after the wait that a 429 asks for. */
  async call(area: Area, method: string, path: string, options: CallOptions = {}): Promise<Exchange> {
    for (let waits = 0; ; waits++) {
      const exchange = await this.#once(area, method, path, options)
      const seconds = Number(exchange.headers.get("retry-after") ?? Number.NaN)
      if (exchange.status !== 429 || waits === maxWaits || !(seconds >= 0 && seconds <= longestWaitSeconds)) return exchange
      await new Promise((resolve) => setTimeout(resolve, Math.min(seconds * 1000, Math.max(0, this.leftMillis))))
    }
  }

  async #once(area: Area, method: string, path: string, { as = "customer", bearer, body, contentType, query = {}, text }: CallOptions): Promise<Exchange> {
    if (this.leftMillis <= 0) throw new LimitReached(`the time limit of ${this.#limits.totalMillis / 1000} s is used up`)
    if (this.#calls >= this.#limits.maxCalls) throw new LimitReached(`the limit of ${this.#limits.maxCalls} calls is used up`)
    this.#calls += 1
    const url = `${this.#bases[area].replace(/\/+$/, "")}${path}${queryOf(query)}`
    const sent = text ?? (body === undefined ? undefined : JSON.stringify(body))
    const headers: Record<string, string> = {
      accept: "application/json, application/problem+json",
      "user-agent": "waybill-check",
      ...(bearer === undefined ? this.#headersOf(as) : { authorization: `Bearer ${bearer}` }),
      ...(sent === undefined ? {} : { "content-type": contentType ?? "application/json" })
    }
    const timeoutMillis = Math.round(this.#limits.timeoutMillis + (sent?.length ?? 0) / slowestUpload)
    try {
      const response = await fetch(url, { method, headers, ...(sent === undefined ? {} : { body: sent }), redirect: "manual", signal: AbortSignal.timeout(Math.min(timeoutMillis, this.leftMillis)) })
      const answer = response.body === null ? "" : (await bytesUpTo(this.#limits.maxAnswerBytes, response.body))?.toString("utf8")
      this.answered = true
      if (answer === undefined) throw new Violation(`${method} ${path} answered ${response.status} with more than ${this.#limits.maxAnswerBytes} bytes, which were not read.`)
      return { method, url, caller: bearer === undefined ? as : "token", sent, status: response.status, headers: response.headers, text: answer, json: jsonOf(answer) }
    } catch (error) {
      if (error instanceof Violation) throw error
      const isLate = error instanceof Error && error.name === "TimeoutError"
      throw new Violation(`${method} ${path}: ${isLate ? `no complete answer within ${timeoutMillis / 1000} s` : `no answer${error instanceof Error ? reasonOf(error) : ""}`}.`)
    }
  }

  #headersOf(as: CallerName): Readonly<Record<string, string>> {
    if (as === "nobody") return {}
    if (as === "invalid") return { "x-api-key": "not-a-valid-key-0000000000" }
    const credentials = this.#credentials[as]
    if (credentials === undefined) throw new Error(`A check called as ${as} without naming it as a need.`)
    return "bearer" in credentials ? { authorization: `Bearer ${credentials.bearer}` } : { "x-api-key": credentials.apiKey }
  }
}

const queryOf = (query: NonNullable<CallOptions["query"]>): string => {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) for (const each of typeof value === "string" ? [value] : value) parameters.append(name, each)
  return parameters.size === 0 ? "" : `?${parameters.toString()}`
}

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The system error below the message of fetch. */
export const reasonOf = (error: Error): string => {
  let inner: unknown = error
  for (let depth = 0; depth < 4 && inner instanceof Error && inner.cause instanceof Error; depth++) inner = inner.cause
  const code = (inner as { readonly code?: unknown } | null)?.code
  return typeof code === "string" ? ` (${code})` : ""
}
