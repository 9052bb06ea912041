/** The publisher under test: an implementation of area D, called as a subscriber would. */
import { reasonOf } from "../shared/Remote.ts"
import { type Callback, type Inbox, type Post } from "./Callback.ts"

/** A failed requirement: the observation, and what to do. */
export class Unmet extends Error {
  override readonly name = "Unmet"
}

export interface ApiAnswer {
  /** Method and URL of the call. */
  readonly call: string
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** `undefined` when the body is not JSON. */
  readonly json: unknown
}

export interface PublisherOptions {
  /** The URL before `/v1/…`. */
  readonly baseUrl: string
  /** Sent as `X-API-Key`, or as `Authorization: Bearer` when it is a JWT. */
  readonly apiKey: string
  readonly callback: Callback
  /** The publisher's name for the secret, and the secret, or several during a rotation. */
  readonly hmacSecretId: string
  readonly secrets: ReadonlyArray<string>
  /** Timeout of one response. */
  readonly timeoutMillis: number
  /** Timeout for expected deliveries. */
  readonly waitMillis: number
  /** After this time without a delivery, no more are expected. */
  readonly quietMillis: number
  /** Makes the publisher publish events. Without it, the check waits for events. */
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
  /** Sends no credentials. */
  readonly anonymous?: boolean
}

/** Short backoff, because the check waits for the retry. */
const promptly = { initialBackoffSeconds: 1, maxBackoffSeconds: 2 }

const isJwt = (key: string): boolean => /^eyJ[\w-]*\.[\w-]+\.[\w-]*$/.test(key)

export class Publisher {
  readonly options: PublisherOptions
  /** Whether any call was answered yet. */
  answered = false
  /** Whether an earlier check found that nothing is delivered at all. */
  #silent = false
  readonly #made = new Set<string>()

  constructor(options: PublisherOptions) {
    this.options = options
  }

  /** Throws `Unmet` when there is no response. */
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

  /** Creates a subscription with its own inbox, which is deleted at the end of the requirement. */
  async subscribe(settings: { readonly filters?: object; readonly delivery?: object } = {}): Promise<Subscribed> {
    const inbox = this.options.callback.inbox()
    const delivery = { ...promptly, ...settings.delivery }
    const answer = await this.call("POST", "/v1/subscriptions", {
      body: { endpointUrl: inbox.url, hmacSecretId: this.options.hmacSecretId, ...settings, delivery }
    })
    const { id } = (answer.json ?? {}) as { readonly id?: unknown }
    if (answer.status < 200 || answer.status > 299 || typeof id !== "string") {
      throw new Unmet(`No subscription was created: ${answerText(answer)}.`)
    }
    this.#made.add(id)
    return { id, inbox, answer }
  }

  async remove(id: string): Promise<ApiAnswer> {
    const answer = await this.call("DELETE", pathOf(id))
    this.#made.delete(id)
    return answer
  }

  /** Deletes every subscription that a requirement left. A separate requirement checks that deleting works. */
  async deleteSubscriptions(): Promise<void> {
    for (const id of this.#made) await this.remove(id).catch(() => {})
    this.#made.clear()
  }

  /** Triggers events and waits until they are delivered. Throws `Unmet` when none is. */
  async arrivals({ inbox }: Subscribed, enough: (posts: ReadonlyArray<Post>) => boolean = (posts) => posts.length > 0): Promise<ReadonlyArray<Post>> {
    const { quietMillis, trigger, waitMillis } = this.options
    if (this.#silent) throw new Unmet("Nothing was ever delivered, so this could not be checked.")
    await trigger?.()
    const came = await inbox.until(() => enough(inbox.posts), waitMillis)
    if (inbox.posts.length === 0) {
      this.#silent = true
      const todo = trigger === undefined
        ? "Publish events while the check runs, or give a --trigger that does"
        : "Did the --trigger publish events that this key may see"
      throw new Unmet(`No delivery came within ${waitMillis / 1000} s. ${todo}, and can the publisher reach ${new URL(inbox.url).origin}?`)
    }
    if (came) await inbox.untilQuiet(quietMillis, waitMillis)
    return inbox.posts
  }
}

export interface PublisherRequirement {
  /** Stable identifier. */
  readonly id: string
  /** The requirement in one sentence. */
  readonly sentence: string
  /** Returns the observation; throws `Unmet` when the requirement is not met. */
  readonly find: (publisher: Publisher) => Promise<string>
}

export const pathOf = (subscriptionId: string): string => `/v1/subscriptions/${encodeURIComponent(subscriptionId)}`

/** The call and its response; includes the body only when it is short. */
export const answerText = ({ call, status, text }: ApiAnswer): string => `${call} answered ${status}${text === "" || text.length > 300 ? "" : ` ${text.replaceAll(/\s+/g, " ")}`}`

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
