/** One way to reach a Waybill server: its address, who is calling, how long to wait and when to try again. */
import { type Deadline, sleep, startDeadline, timerMillis } from "./Deadline.ts"
import { defaultRetryPolicy, pauseBeforeRetry, type RetryPolicy } from "./RetryPolicy.ts"
import { type SentBody, sentBodyOf, type SentPieces } from "./SentPieces.ts"
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
  /** Beside those that every call has. */
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: unknown
  /** In place of `body`. */
  readonly pieces?: SentPieces
  /** Of the body; default `application/json`. */
  readonly contentType?: string
  /** Whether sending it twice has the effect of sending it once. Only then a lost answer leads to another attempt. */
  readonly repeatable: boolean
  /** Of a DELETE: what was deleted can still be found, so 404 never is the echo of a success that got lost. */
  readonly leavesTrace?: boolean
}

/** A 2xx answer. */
export interface Answer {
  readonly call: FailedCall
  readonly status: number
  readonly headers: Headers
  /** The body's JSON; `undefined` when it was empty. */
  readonly json: unknown
}

/** A 2xx answer whose body is still on its way. */
export interface OpenAnswer {
  readonly call: FailedCall
  readonly status: number
  readonly headers: Headers
  /** The body as it arrives; waiting for a piece takes `timeoutMillis` at most. To be read once. */
  readonly pieces: AsyncIterable<Uint8Array>
  /** Must be called; what was not read then is not wanted. */
  readonly close: () => void
}

/** A request that was sent, and the head of its response. */
interface Exchange {
  readonly response: Response
  readonly deadline: Deadline
  /** Says in this client's own errors why the rest of the exchange failed. */
  readonly reach: Reach
}

type Reach = <A>(work: () => Promise<A>) => Promise<A>

/** Bodies that are sent as a whole get longer for what they weigh: bytes a second that anybody manages. */
const slowestPace = 16 * 1024

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
  send(call: Call, options: CallOptions = {}): Promise<Answer> {
    return this.#attempts(call, options.signal, async (shown, attempt) => {
      try {
        return await this.#sendOnce(shown, call, options.signal)
      } catch (failure) {
        const isGone = failure instanceof WaybillProblem && failure.status === 404 && call.method === "DELETE" && call.leavesTrace !== true
        // the answer that got lost was the one that said it is gone
        if (attempt > 1 && isGone) return { call: shown, status: 204, headers: new Headers(), json: undefined }
        throw failure
      }
    })
  }

  /** The same for an answer that is read as it arrives. What gets lost after its head is not asked for again. */
  open(call: Call, options: CallOptions = {}): Promise<OpenAnswer> {
    return this.#attempts(call, options.signal, (shown) => this.#openOnce(shown, call, options.signal))
  }

  /** The same, but when the answer breaks off, `read` gets another one from its beginning. */
  receive<A>(call: Call, read: (answer: OpenAnswer) => Promise<A>, options: CallOptions = {}): Promise<A> {
    return this.#attempts(call, options.signal, async (shown) => {
      const answer = await this.#openOnce(shown, call, options.signal)
      try {
        return await read(answer)
      } finally {
        answer.close()
      }
    })
  }

  async #attempts<A>(call: Call, outer: AbortSignal | undefined, once: (shown: FailedCall, attempt: number) => Promise<A>): Promise<A> {
    const key = call.headers?.[idempotencyKey]
    const url = this.#base + pathOf(call.path) + searchOf(call.query)
    const shown = { method: call.method, url, ...(key === undefined ? {} : { idempotencyKey: key }) }
    for (let attempt = 1; ; attempt++) {
      try {
        return await once(shown, attempt)
      } catch (failure) {
        const pause = call.repeatable ? pauseBeforeRetry(this.#retry, attempt, failure, Math.random()) : undefined
        if (pause === undefined) throw failure
        await sleep(pause, outer)
      }
    }
  }

  async #sendOnce(shown: FailedCall, call: Call, outer: AbortSignal | undefined): Promise<Answer> {
    const { deadline, reach, response } = await this.#exchange(shown, call, outer)
    try {
      const body = await reach(() => response.text())
      refuse(shown, response, body)
      return { call: shown, status: response.status, headers: response.headers, json: readJson(shown, body) }
    } finally {
      deadline.clear()
    }
  }

  async #openOnce(shown: FailedCall, call: Call, outer: AbortSignal | undefined): Promise<OpenAnswer> {
    const { deadline, reach, response } = await this.#exchange(shown, call, outer)
    try {
      if (!response.ok) refuse(shown, response, await reach(() => response.text()))
      deadline.pause()
    } catch (failure) {
      deadline.clear()
      throw failure
    }
    const reader = response.body?.getReader()
    const close = () => {
      deadline.clear()
      // nobody is left to tell when this fails
      reader?.cancel().catch(() => undefined)
    }
    return { call: shown, status: response.status, headers: response.headers, pieces: piecesOf(reader, deadline, reach), close }
  }

  async #exchange(shown: FailedCall, call: Call, outer: AbortSignal | undefined): Promise<Exchange> {
    outer?.throwIfAborted()
    const headers = await this.#headers(call)
    let deadline: Deadline | undefined
    const sent: SentBody | undefined = call.pieces && await sentBodyOf(call.pieces, () => deadline?.restart())
    const millis = this.#timeoutMillis + (sent?.size ?? 0) / slowestPace * 1000
    const started = deadline = startDeadline(millis, outer)
    const reach: Reach = async (work) => {
      try {
        return await work()
      } catch (cause) {
        outer?.throwIfAborted()
        const failure = sent?.failure()
        if (failure !== undefined) throw failure.cause
        throw started.expired()
          ? new WaybillCallFailed(shown, "timeout", `no answer within ${this.#timeoutMillis} ms.`, { cause })
          : new WaybillCallFailed(shown, "network", "the server could not be reached.", { cause })
      }
    }
    try {
      const init: RequestInit = { method: call.method, headers, redirect: "manual", signal: started.signal, ...sent?.init }
      if (call.body !== undefined) init.body = JSON.stringify(call.body)
      return { response: await reach(() => this.#fetch(shown.url, init)), deadline: started, reach }
    } catch (failure) {
      started.clear()
      throw failure
    }
  }

  async #headers(call: Call): Promise<Record<string, string>> {
    const headers: Record<string, string> = { accept: "application/json, application/problem+json", ...call.headers }
    if (call.body !== undefined || call.pieces !== undefined) headers["content-type"] = call.contentType ?? "application/json"
    if (this.#apiKey !== undefined) headers["x-api-key"] = await secretText("apiKey", this.#apiKey)
    if (this.#bearer !== undefined) headers["authorization"] = `Bearer ${await secretText("bearer", this.#bearer)}`
    return headers
  }
}

/** As it stands in `Call.headers`; failures tell it, so that the caller can send the same request once more. */
export const idempotencyKey = "idempotency-key"

const refuse = (shown: FailedCall, response: Response, body: string): void => {
  if (response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400)) {
    throw new WaybillCallFailed(shown, "redirected", "the answer is a redirect, which is not followed. Set baseUrl to the final address.")
  }
  if (!response.ok) throw new WaybillProblem(shown, { status: response.status, headers: response.headers, body })
}

/** Time counts only while a piece is waited for: whoever reads may be slow. */
async function* piecesOf(
  reader: ReadableStreamDefaultReader<Uint8Array> | undefined,
  deadline: Deadline,
  reach: Reach
): AsyncGenerator<Uint8Array, void, undefined> {
  while (reader !== undefined) {
    deadline.restart()
    const { done, value } = await reach(() => reader.read()).finally(deadline.pause)
    if (done) return
    yield value
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
