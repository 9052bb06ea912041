/** The publisher under test: somebody else's area D, called as a subscriber calls it. */
import { reasonOf } from "../shared/Remote.ts"
import { type Callback, type Inbox, type Post } from "./Callback.ts"

/** A requirement that is not met: what was seen, and what to do. */
export class Unmet extends Error {
  override readonly name = "Unmet"
}

export interface ApiAnswer {
  /** The call, in words. */
  readonly call: string
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** `undefined` where the body is no JSON. */
  readonly json: unknown
}

export interface PublisherOptions {
  /** What stands before `/v1/…`. */
  readonly baseUrl: string
  /** Sent as `X-API-Key`, and as `Authorization: Bearer` where it is a JWT. */
  readonly apiKey: string
  readonly callback: Callback
  /** The name that the publisher has for the secret, and the secret, or several while it is rotated. */
  readonly hmacSecretId: string
  readonly secrets: ReadonlyArray<string>
  /** For one answer. */
  readonly timeoutMillis: number
  /** For deliveries to come. */
  readonly waitMillis: number
  /** When nothing has come for so long, nothing more is expected. */
  readonly quietMillis: number
  /** Has the publisher's freight move. Without it events are waited for. */
  readonly trigger?: () => Promise<void>
}

export interface Subscribed {
  readonly id: string
  readonly inbox: Inbox
  readonly answer: ApiAnswer
}

interface CallOptions {
  readonly body?: unknown
  readonly query?: string
  /** Without credentials. */
  readonly anonymous?: boolean
}

/** So that a retry comes while somebody waits for it. */
const promptly = { initialBackoffSeconds: 1, maxBackoffSeconds: 2 }

const isJwt = (key: string): boolean => /^eyJ[\w-]*\.[\w-]+\.[\w-]*$/.test(key)

export class Publisher {
  readonly options: PublisherOptions
  /** Whether there was any answer yet. */
  answered = false
  /** Whether it is known that nothing is delivered here at all. */
  #silent = false
  readonly #made = new Set<string>()

  constructor(options: PublisherOptions) {
    this.options = options
  }

  /** Throws an `Unmet` when there is no answer. */
  async call(method: string, path: string, { anonymous = false, body, query }: CallOptions = {}): Promise<ApiAnswer> {
    const { apiKey, baseUrl, timeoutMillis } = this.options
    const call = `${method} ${path}${query === undefined ? "" : `?${query}`}`
    const credentials: Readonly<Record<string, string>> = anonymous ? {} : isJwt(apiKey) ? { authorization: `Bearer ${apiKey}` } : { "x-api-key": apiKey }
    const contentType: Readonly<Record<string, string>> = body === undefined
      ? {}
      : { "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json" }
    try {
      const response = await fetch(`${baseUrl.replace(/\/+$/, "")}${path}${query === undefined ? "" : `?${query}`}`, {
        method,
        headers: { accept: "application/json, application/problem+json", "user-agent": "waybill-check", ...credentials, ...contentType },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        redirect: "manual",
        signal: AbortSignal.timeout(timeoutMillis)
      })
      const text = await response.text()
      this.answered = true
      return { call, status: response.status, headers: response.headers, text, json: jsonOf(text) }
    } catch (error) {
      const isLate = error instanceof Error && error.name === "TimeoutError"
      throw new Unmet(`${call}: ${isLate ? `no answer within ${timeoutMillis / 1000} s` : `no answer${error instanceof Error ? reasonOf(error) : ""}`}.`)
    }
  }

  /** A subscription with an inbox of its own, which is removed at the end of the requirement. */
  async subscribe(settings: { readonly filters?: object; readonly delivery?: object } = {}): Promise<Subscribed> {
    const inbox = this.options.callback.inbox()
    const delivery = { ...promptly, ...settings.delivery }
    const answer = await this.call("POST", "/v1/subscriptions", {
      body: { endpointUrl: inbox.url, hmacSecretId: this.options.hmacSecretId, ...settings, delivery }
    })
    const { id } = (answer.json ?? {}) as { readonly id?: unknown }
    if (answer.status < 200 || answer.status > 299 || typeof id !== "string") {
      throw new Unmet(`No subscription came of it: ${answerText(answer)}.`)
    }
    this.#made.add(id)
    return { id, inbox, answer }
  }

  async remove(id: string): Promise<ApiAnswer> {
    const answer = await this.call("DELETE", pathOf(id))
    this.#made.delete(id)
    return answer
  }

  /** Removes every subscription that a requirement left. Whether that works has a requirement of its own. */
  async tidy(): Promise<void> {
    for (const id of this.#made) await this.remove(id).catch(() => {})
    this.#made.clear()
  }

  /** Has freight move, and waits until it has come here. Throws an `Unmet` when nothing comes. */
  async arrivals({ inbox }: Subscribed, enough: (posts: ReadonlyArray<Post>) => boolean = (posts) => posts.length > 0): Promise<ReadonlyArray<Post>> {
    const { quietMillis, trigger, waitMillis } = this.options
    if (this.#silent) throw new Unmet("Nothing was ever delivered, so this could not be seen.")
    await trigger?.()
    const came = await inbox.until(() => enough(inbox.posts), waitMillis)
    if (inbox.posts.length === 0) {
      this.#silent = true
      const todo = trigger === undefined
        ? "Have freight move while the check runs, or give a --trigger that does it"
        : "Did the --trigger have freight move that this key may see"
      throw new Unmet(`No delivery came within ${waitMillis / 1000} s. ${todo}, and can the publisher reach ${new URL(inbox.url).origin}?`)
    }
    if (came) await inbox.untilQuiet(quietMillis, waitMillis)
    return inbox.posts
  }
}

export interface PublisherRequirement {
  /** Stable. */
  readonly id: string
  /** What is required, in a sentence. */
  readonly sentence: string
  /** Answers what was seen; throws an `Unmet` where it falls short. */
  readonly find: (publisher: Publisher) => Promise<string>
}

export const pathOf = (subscriptionId: string): string => `/v1/subscriptions/${encodeURIComponent(subscriptionId)}`

/** The call and how it was answered; a body only where it is short. */
export const answerText = ({ call, status, text }: ApiAnswer): string => `${call} answered ${status}${text === "" || text.length > 300 ? "" : ` ${text.replaceAll(/\s+/g, " ")}`}`

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
