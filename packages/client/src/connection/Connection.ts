/** HTTP connection to a Waybill server: address, credentials, timeout and retries. */
import { checkOptions, either, oneOf, type OptionKinds, optionKinds } from "../shared/CheckOptions.ts"
import { isObject } from "../shared/ReceivedJson.ts"
import { type Deadline, sleep, startDeadline, timerMillis, unlessAborted } from "./Deadline.ts"
import { defaultRetryPolicy, pauseBeforeRetry, type RetryPolicy } from "./RetryPolicy.ts"
import { type SentBody, sentBodyOf, type SentPieces } from "./SentPieces.ts"
import { type FailedCall, WaybillCallFailed, WaybillProblem } from "./WaybillProblem.ts"

/**
 * A key or token, or a function that returns one. The function is called before every attempt, so tokens can expire; an attempt waits
 * `timeoutMillis` for it at most.
 */
export type Credential = string | (() => string | Promise<string>)

/** Where the server is and how every call of a client is made. */
export interface ConnectionOptions {
  /** Address of the server, such as `https://freight.example.com`. A path is kept, for servers mounted below one. */
  readonly baseUrl: string | URL
  /** Path of the client's calls below `baseUrl`. Each client has a default, which is that of the server. */
  readonly basePath?: string | undefined
  /** Sent as `X-API-Key`. */
  readonly apiKey?: Credential | undefined
  /** A JWT, sent as `Authorization: Bearer …`. Give this or `apiKey`, not both. */
  readonly bearer?: Credential | undefined
  /** Timeout of one attempt in milliseconds, response included. Default 30,000. */
  readonly timeoutMillis?: number | undefined
  /** Overrides of `defaultRetryPolicy`; `false` disables retries. */
  readonly retry?: Partial<RetryPolicy> | false | undefined
  /** Replaces the runtime's `fetch`. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined
}

/** Options of a single call. */
export interface CallOptions {
  /** Aborts the call, pauses between attempts included. The call then rejects with the signal's reason, and a write that was sent may have been stored. */
  readonly signal?: AbortSignal | undefined
}

export const callKinds: OptionKinds<CallOptions> = { signal: ["an AbortSignal", (value) => typeof (value as AbortSignal | null)?.throwIfAborted === "function"] }

type QueryValue = string | number | boolean | Date | undefined
export type Query = Readonly<Record<string, QueryValue | ReadonlyArray<QueryValue>>>

/** One HTTP request. */
export interface Call {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  /** Segments below the base path; each is percent-encoded. */
  readonly path: ReadonlyArray<string>
  readonly query?: Query | URLSearchParams
  /** Sent in addition to the headers of every call. */
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: unknown
  /** Streamed body, instead of `body`. */
  readonly pieces?: SentPieces
  /** Content type of the body. Default `application/json`. */
  readonly contentType?: string
  /** Whether the request is idempotent. Only idempotent requests are retried after a lost response. */
  readonly repeatable: boolean
  /** DELETE only: the deleted object can still be found, so a 404 on a retry is an error and not a lost success. */
  readonly findableAfterDelete?: boolean
}

/** A 2xx response. */
export interface Answer {
  readonly call: FailedCall
  readonly status: number
  readonly headers: Headers
  /** The parsed body; `undefined` when it was empty. */
  readonly json: unknown
}

/** A 2xx response whose body is still arriving. */
export interface OpenAnswer {
  readonly call: FailedCall
  readonly status: number
  readonly headers: Headers
  /** The body in chunks; can be read once. Waiting for a chunk takes `timeoutMillis` at most. */
  readonly pieces: AsyncIterable<Uint8Array>
  /** Must be called. Discards the unread rest of the body. */
  readonly close: () => void
}

/** A sent request and the head of its response. */
interface Exchange {
  readonly response: Response
  readonly deadline: Deadline
  /** Runs a step of the exchange and turns its failures into this client's errors. */
  readonly runStep: RunStep
}

type RunStep = <A>(work: () => Promise<A>) => Promise<A>

/** The slowest upload to allow, in bytes per second. It extends the timeout of bodies that are sent as a whole. */
const minBytesPerSecond = 16 * 1024

const credential = either(optionKinds.text, optionKinds.function)

/** Clients share them, so that one object serves all: `streamUploads` is read by that of documents alone. */
const kinds: OptionKinds<ConnectionOptions & { readonly streamUploads?: boolean }> = {
  // checked with a message of its own
  baseUrl: ["an address", () => true],
  basePath: optionKinds.text,
  apiKey: credential,
  bearer: credential,
  timeoutMillis: optionKinds.number,
  retry: either(oneOf(false), optionKinds.object),
  fetch: optionKinds.function,
  streamUploads: optionKinds.boolean
}

const retryKinds: OptionKinds<RetryPolicy> = { attempts: optionKinds.count, firstPauseMillis: optionKinds.pause, longestPauseMillis: optionKinds.pause }

export class Connection {
  readonly #base: string
  readonly #apiKey: Credential | undefined
  readonly #bearer: Credential | undefined
  readonly #timeoutMillis: number
  readonly #retry: RetryPolicy
  readonly #fetch: (url: string, init: RequestInit) => Promise<Response>

  /** `defaultPath` is used where the options have no `basePath`. */
  constructor(options: ConnectionOptions, defaultPath: string) {
    checkOptions("the client", options, kinds)
    if (typeof options.retry === "object") checkOptions("retry", options.retry, retryKinds)
    const base = URL.canParse(options.baseUrl) ? new URL(options.baseUrl) : undefined
    if (base === undefined || !/^https?:$/.test(base.protocol)) {
      throw new TypeError(`baseUrl is ${JSON.stringify(options.baseUrl) ?? "missing"}. Give the address of the server, such as "https://freight.example.com".`)
    }
    if (options.apiKey !== undefined && options.bearer !== undefined) {
      throw new TypeError("Give apiKey or bearer, not both: the server takes one of them.")
    }
    this.#base = base.origin + [...base.pathname.split("/"), ...(options.basePath ?? defaultPath).split("/")].filter((part) => part !== "").map((part) => `/${part}`).join("")
    this.#apiKey = options.apiKey
    this.#bearer = options.bearer
    this.#timeoutMillis = timerMillis(options.timeoutMillis ?? 30_000)
    this.#retry = options.retry === false ? { ...defaultRetryPolicy, attempts: 1 } : { ...defaultRetryPolicy, ...options.retry }
    // Looked up at each call and called without a receiver: browsers refuse a detached fetch.
    this.#fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init))
  }

  /** Sends a call, and retries it where that is safe and useful. Fails with `WaybillProblem` or `WaybillCallFailed`. */
  send(call: Call, options: CallOptions = {}): Promise<Answer> {
    let mayBeDone = false
    return this.#attempts(call, options, async (failedCall) => {
      try {
        return await this.#sendOnce(failedCall, call, options.signal)
      } catch (failure) {
        const isGone = failure instanceof WaybillProblem && failure.status === 404 && call.method === "DELETE" && call.findableAfterDelete !== true
        // An earlier attempt deleted it, and its response was lost.
        if (mayBeDone && isGone) return { call: failedCall, status: 204, headers: new Headers(), json: undefined }
        // too many requests: the server did nothing
        if (!(failure instanceof WaybillProblem && failure.status === 429)) mayBeDone = true
        throw failure
      }
    })
  }

  /** Like `send`, and returns the body alone: an object, whose members are what the interface promises, unchecked. */
  async ask<A>(call: Call, options?: CallOptions): Promise<A> {
    const answer = await this.send(call, options)
    if (isObject(answer.json)) return answer.json as A
    throw new WaybillCallFailed(answer.call, "unreadable_answer", "the answer is not an object. Does baseUrl point at a Waybill server?")
  }

  /** Like `send`, for a response that is read as it arrives. A body that breaks off is not requested again. */
  open(call: Call, options: CallOptions = {}): Promise<OpenAnswer> {
    return this.#attempts(call, options, (failedCall) => this.#openOnce(failedCall, call, options.signal))
  }

  /** Like `open`, but when the body breaks off, the call is retried and `read` starts over with the new response. */
  receive<A>(call: Call, read: (answer: OpenAnswer) => Promise<A>, options: CallOptions = {}): Promise<A> {
    return this.#attempts(call, options, async (failedCall) => {
      const answer = await this.#openOnce(failedCall, call, options.signal)
      try {
        return await read(answer)
      } finally {
        answer.close()
      }
    })
  }

  async #attempts<A>(call: Call, options: CallOptions, once: (failedCall: FailedCall) => Promise<A>): Promise<A> {
    checkOptions("the call", options, callKinds)
    const key = call.headers?.[idempotencyKey]
    const url = this.#base + pathOf(call.path) + searchOf(call.query)
    const failedCall = { method: call.method, url, ...(key === undefined ? {} : { idempotencyKey: key }) }
    for (let attempt = 1; ; attempt++) {
      try {
        return await once(failedCall)
      } catch (failure) {
        const pause = call.repeatable ? pauseBeforeRetry(this.#retry, attempt, failure, Math.random()) : undefined
        if (pause === undefined) throw failure
        await sleep(pause, options.signal)
      }
    }
  }

  async #sendOnce(failedCall: FailedCall, call: Call, callerSignal: AbortSignal | undefined): Promise<Answer> {
    const { deadline, runStep, response } = await this.#exchange(failedCall, call, callerSignal)
    try {
      const body = await runStep(() => response.text())
      refuse(failedCall, response, body)
      return { call: failedCall, status: response.status, headers: response.headers, json: readJson(failedCall, body) }
    } finally {
      deadline.clear()
    }
  }

  async #openOnce(failedCall: FailedCall, call: Call, callerSignal: AbortSignal | undefined): Promise<OpenAnswer> {
    const { deadline, runStep, response } = await this.#exchange(failedCall, call, callerSignal)
    try {
      if (!response.ok) refuse(failedCall, response, await runStep(() => response.text()))
      deadline.pause()
    } catch (failure) {
      deadline.clear()
      throw failure
    }
    const reader = response.body?.getReader()
    const close = () => {
      deadline.clear()
      // The caller discards the rest, so a failure to cancel does not matter.
      reader?.cancel().catch(() => undefined)
    }
    return { call: failedCall, status: response.status, headers: response.headers, pieces: piecesOf(reader, deadline, runStep), close }
  }

  async #exchange(failedCall: FailedCall, call: Call, callerSignal: AbortSignal | undefined): Promise<Exchange> {
    callerSignal?.throwIfAborted()
    const headers = await this.#headersInTime(failedCall, call, callerSignal)
    let deadline: Deadline | undefined
    const sent: SentBody | undefined = call.pieces && await sentBodyOf(call.pieces, () => deadline?.restart())
    // a signal does not tell a listener that comes after its abort
    callerSignal?.throwIfAborted()
    const millis = this.#timeoutMillis + (sent?.size ?? 0) / minBytesPerSecond * 1000
    const started = deadline = startDeadline(millis, callerSignal)
    const runStep: RunStep = async (work) => {
      try {
        return await work()
      } catch (cause) {
        callerSignal?.throwIfAborted()
        const failure = sent?.failure()
        if (failure !== undefined) throw failure.cause
        throw started.expired()
          ? new WaybillCallFailed(failedCall, "timeout", `no answer within ${this.#timeoutMillis} ms.`, { cause })
          : new WaybillCallFailed(failedCall, "network", "the server could not be reached, or the connection ended before the whole answer.", { cause })
      }
    }
    try {
      const init: RequestInit = { method: call.method, headers, redirect: "manual", signal: started.signal, ...sent?.init }
      if (call.body !== undefined) init.body = JSON.stringify(call.body)
      return { response: await runStep(() => this.#fetch(failedCall.url, init)), deadline: started, runStep }
    } catch (failure) {
      started.clear()
      throw failure
    }
  }

  /** A credential's function may wait for a login service that hangs. */
  async #headersInTime(failedCall: FailedCall, call: Call, callerSignal: AbortSignal | undefined): Promise<Record<string, string>> {
    const deadline = startDeadline(this.#timeoutMillis, callerSignal)
    try {
      return await unlessAborted(deadline.signal, () => this.#headers(call))
    } catch (failure) {
      callerSignal?.throwIfAborted()
      if (!deadline.expired()) throw failure
      throw new WaybillCallFailed(failedCall, "timeout", `the function of apiKey or bearer returned no credential within ${this.#timeoutMillis} ms. Nothing was sent.`)
    } finally {
      deadline.clear()
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

/** Name in `Call.headers`. Errors carry the key, so that the caller can send the same request again. */
export const idempotencyKey = "idempotency-key"

const refuse = (failedCall: FailedCall, response: Response, body: string): void => {
  if (response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400)) {
    throw new WaybillCallFailed(failedCall, "redirected", "the answer is a redirect, which is not followed. Set baseUrl to the final address.")
  }
  if (!response.ok) throw new WaybillProblem(failedCall, { status: response.status, headers: response.headers, body })
}

/** The timeout runs only while waiting for a chunk, because the reader may be slow. */
async function* piecesOf(
  reader: ReadableStreamDefaultReader<Uint8Array> | undefined,
  deadline: Deadline,
  runStep: RunStep
): AsyncGenerator<Uint8Array, void, undefined> {
  while (reader !== undefined) {
    deadline.restart()
    const { done, value } = await runStep(() => reader.read()).finally(deadline.pause)
    if (done) return
    yield value
  }
}

/** Encodes the query in the order given. Lists repeat the name; `undefined` values are left out. */
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

/** Refuses empty and dot segments: they would address another resource, the collection or the parent. */
const pathOf = (segments: ReadonlyArray<string>): string =>
  segments.map((segment) => {
    if (segment === "" || segment === "." || segment === "..") throw new TypeError(`${JSON.stringify(segment)} cannot be an id in a path.`)
    return `/${encodeURIComponent(segment)}`
  }).join("")

/** Checks the value here, because the runtime's error about an invalid header would contain the secret. */
const secretText = async (name: string, credential: Credential): Promise<string> => {
  const value = typeof credential === "string" ? credential : await credential()
  if (typeof value === "string" && /^[\x21-\x7e]+$/.test(value)) return value
  throw new TypeError(`${name} is empty or has a blank, a line break or a character outside ASCII in it.`)
}

const readJson = (failedCall: FailedCall, body: string): unknown => {
  if (body === "") return undefined
  try {
    return JSON.parse(body)
  } catch (cause) {
    throw new WaybillCallFailed(failedCall, "unreadable_answer", "the answer is not JSON. Does baseUrl point at a Waybill server?", { cause })
  }
}
