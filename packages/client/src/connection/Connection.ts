/** One way to reach a Waybill server: its address, who is calling, how long to wait and when to try again. */
import { defaultRetryPolicy, pauseBeforeRetry, type RetryPolicy } from "./RetryPolicy.ts"
import { type FailedCall, WaybillCallFailed, WaybillProblem } from "./WaybillProblem.ts"

/** A key or token, or a function that is asked before every attempt: for tokens that expire. */
export type Credential = string | (() => string | Promise<string>)

export interface ConnectionOptions {
  /** Where the server is, such as `https://freight.example.com`. A path is kept, for servers below one. */
  readonly baseUrl: string | URL
  /** Sent as `X-API-Key`. */
  readonly apiKey?: Credential | undefined
  /** A JWT, sent as `Authorization: Bearer …`. Give this or `apiKey`, not both. */
  readonly bearer?: Credential | undefined
  /** How long one attempt may take, answer included. Default 30,000. */
  readonly timeoutMillis?: number | undefined
  /** What differs from `defaultRetryPolicy`; `false` sends every call once. */
  readonly retry?: Partial<RetryPolicy> | false | undefined
  /** In place of the runtime's own `fetch`. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined
}

/** What a single call may be given besides its arguments. */
export interface CallOptions {
  /** Ends the call, pauses between attempts included; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

export type QueryValue = string | number | boolean | Date | undefined
export type Query = Readonly<Record<string, QueryValue | ReadonlyArray<QueryValue>>>

/** One request, described. */
export interface Call {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  /** Segments below the base path; each is encoded by itself. */
  readonly path: ReadonlyArray<string>
  readonly query?: Query | URLSearchParams
  /** Sent as JSON. */
  readonly body?: unknown
  /** Of the body; default `application/json`. */
  readonly contentType?: string
  /** Whether sending it twice has the effect of sending it once. Only then a lost answer leads to another attempt. */
  readonly repeatable: boolean
}

/** A 2xx answer. */
export interface Answer {
  readonly call: FailedCall
  readonly status: number
  readonly headers: Headers
  /** The body's JSON; `undefined` when it was empty. */
  readonly json: unknown
}

export class Connection {
  readonly #base: string
  readonly #apiKey: Credential | undefined
  readonly #bearer: Credential | undefined
  readonly #timeoutMillis: number
  readonly #retry: RetryPolicy
  readonly #fetch: (url: string, init: RequestInit) => Promise<Response>

  /** `basePath` is where an area lives below `baseUrl`. */
  constructor(options: ConnectionOptions, basePath: string) {
    const base = new URL(options.baseUrl)
    if (options.apiKey !== undefined && options.bearer !== undefined) {
      throw new TypeError("Give apiKey or bearer, not both: the server takes one of them.")
    }
    this.#base = base.origin + [...base.pathname.split("/"), ...basePath.split("/")].filter((part) => part !== "").map((part) => `/${part}`).join("")
    this.#apiKey = options.apiKey
    this.#bearer = options.bearer
    this.#timeoutMillis = timerMillis(options.timeoutMillis ?? 30_000)
    this.#retry = options.retry === false ? { ...defaultRetryPolicy, attempts: 1 } : { ...defaultRetryPolicy, ...options.retry }
    // looked up at each call and called without a receiver: browsers refuse a detached fetch
    this.#fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init))
  }

  /** Sends a call, again where that is safe and worth it. Fails with `WaybillProblem` or `WaybillCallFailed`. */
  async send(call: Call, options: CallOptions = {}): Promise<Answer> {
    const url = this.#base + pathOf(call.path) + searchOf(call.query)
    const shown = { method: call.method, url }
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#sendOnce(shown, call, options.signal)
      } catch (failure) {
        // the answer that got lost was the one that said it is gone
        if (attempt > 1 && call.method === "DELETE" && failure instanceof WaybillProblem && failure.status === 404) {
          return { call: shown, status: 204, headers: new Headers(), json: undefined }
        }
        const pause = call.repeatable ? pauseBeforeRetry(this.#retry, attempt, failure, Math.random()) : undefined
        if (pause === undefined) throw failure
        await sleep(pause, options.signal)
      }
    }
  }

  async #sendOnce(shown: FailedCall, call: Call, outer: AbortSignal | undefined): Promise<Answer> {
    outer?.throwIfAborted()
    const init: RequestInit = { method: call.method, headers: await this.#headers(call), redirect: "manual" }
    if (call.body !== undefined) init.body = JSON.stringify(call.body)
    const deadline = startDeadline(this.#timeoutMillis, outer)
    let response: Response
    let body: string
    try {
      response = await this.#fetch(shown.url, { ...init, signal: deadline.signal })
      body = await response.text()
    } catch (cause) {
      outer?.throwIfAborted()
      throw deadline.expired()
        ? new WaybillCallFailed(shown, "timeout", `no answer within ${this.#timeoutMillis} ms.`, { cause })
        : new WaybillCallFailed(shown, "network", "the server could not be reached.", { cause })
    } finally {
      deadline.clear()
    }
    if (response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400)) {
      throw new WaybillCallFailed(shown, "redirected", "the answer is a redirect, which is not followed. Set baseUrl to the final address.")
    }
    if (!response.ok) throw new WaybillProblem(shown, { status: response.status, headers: response.headers, body })
    return { call: shown, status: response.status, headers: response.headers, json: readJson(shown, body) }
  }

  async #headers(call: Call): Promise<Record<string, string>> {
    const headers: Record<string, string> = { accept: "application/json, application/problem+json" }
    if (call.body !== undefined) headers["content-type"] = call.contentType ?? "application/json"
    if (this.#apiKey !== undefined) headers["x-api-key"] = await secretText("apiKey", this.#apiKey)
    if (this.#bearer !== undefined) headers["authorization"] = `Bearer ${await secretText("bearer", this.#bearer)}`
    return headers
  }
}

/** The query as text, in the order given; lists are repeated, `undefined` is left out. */
export const queryOf = (query: Query): URLSearchParams => {
  const search = new URLSearchParams()
  for (const [name, given] of Object.entries(query)) {
    for (const value of Array.isArray(given) ? given as ReadonlyArray<QueryValue> : [given as QueryValue]) {
      if (value !== undefined) search.append(name, value instanceof Date ? value.toISOString() : String(value))
    }
  }
  return search
}

const searchOf = (query: Query | URLSearchParams | undefined): string => {
  const search = (query instanceof URLSearchParams ? query : queryOf(query ?? {})).toString()
  return search === "" ? "" : `?${search}`
}

/** An empty or dotted segment would address another resource: the whole collection, or the one above. */
const pathOf = (segments: ReadonlyArray<string>): string =>
  segments.map((segment) => {
    if (segment === "" || segment === "." || segment === "..") throw new TypeError(`${JSON.stringify(segment)} cannot be an id in a path.`)
    return `/${encodeURIComponent(segment)}`
  }).join("")

/** Checked here because the runtime's own complaint about a bad header would show the secret. */
const secretText = async (name: string, credential: Credential): Promise<string> => {
  const value = typeof credential === "string" ? credential : await credential()
  if (typeof value === "string" && /^[\x21-\x7e]+$/.test(value)) return value
  throw new TypeError(`${name} is empty or has a blank, a line break or a character outside ASCII in it.`)
}

const readJson = (shown: FailedCall, body: string): unknown => {
  if (body === "") return undefined
  try {
    return JSON.parse(body)
  } catch (cause) {
    throw new WaybillCallFailed(shown, "unreadable_answer", "the answer is not JSON. Does baseUrl point at a Waybill server?", { cause })
  }
}

/** Timers turn anything above 31 bits into "at once". */
const timerMillis = (millis: number): number => {
  if (!(millis > 0)) throw new RangeError("timeoutMillis is a number above 0.")
  return Math.min(millis, 2 ** 31 - 1)
}

const startDeadline = (millis: number, outer: AbortSignal | undefined) => {
  const controller = new AbortController()
  let expired = false
  const timer = setTimeout(() => {
    expired = true
    controller.abort()
  }, millis)
  const follow = () => controller.abort(outer?.reason)
  outer?.addEventListener("abort", follow, { once: true })
  return {
    signal: controller.signal,
    expired: () => expired,
    clear: () => {
      clearTimeout(timer)
      outer?.removeEventListener("abort", follow)
    }
  }
}

const sleep = (millis: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop)
      resolve()
    }, millis)
    signal?.addEventListener("abort", stop, { once: true })
  })
