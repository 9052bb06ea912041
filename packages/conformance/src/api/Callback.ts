/** Receives deliveries of a publisher under test: one inbox per subscription, each with configurable responses. */
import { randomUUID } from "node:crypto"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { bytesUpTo } from "./BytesUpTo.ts"

/** A received request. */
export interface Post {
  /** When it was received, in milliseconds since 1970. */
  readonly at: number
  readonly method: string
  readonly headers: IncomingMessage["headers"]
  readonly body: Uint8Array
  /** The response to it. */
  readonly answer: InboxAnswer
}

/** A status, or `drop`: close the connection without a response. */
type InboxAnswer = number | "drop"

/** Bytes of one delivery; larger than any batch. */
const mostBytes = 32 * 1024 * 1024

/** What all inboxes hold together. Later requests are answered 429 and not kept, so that a sender cannot fill the memory. */
const mostPosts = 10_000
const mostHeldBytes = 128 * 1024 * 1024
const mostConnections = 256

export class Inbox {
  readonly url: string
  readonly posts: Array<Post> = []
  #answer: (nth: number) => InboxAnswer = () => 200
  readonly #waiting = new Set<() => void>()

  constructor(url: string) {
    this.url = url
  }

  /** Sets the responses to later requests. `nth` counts all requests of the inbox, from 0. */
  answers(answer: (nth: number) => InboxAnswer): void {
    this.#answer = answer
  }

  receive(request: Pick<IncomingMessage, "headers" | "method">, body: Uint8Array): InboxAnswer {
    const answer = this.#answer(this.posts.length)
    this.posts.push({ at: Date.now(), method: request.method ?? "", headers: request.headers, body, answer })
    for (const look of this.#waiting) look()
    return answer
  }

  /** Waits until the condition is true, up to that time. Errors of the condition are thrown here, not in the request handler. */
  async until(condition: () => boolean, millis: number): Promise<boolean> {
    if (condition()) return true
    return await new Promise<boolean>((resolve, reject) => {
      const look = (isLast: boolean) => {
        try {
          const came = condition()
          if (!came && !isLast) return
          resolve(came)
        } catch (error) {
          reject(error as Error)
        }
        clearTimeout(timer)
        this.#waiting.delete(onPost)
      }
      const onPost = () => look(false)
      const timer = setTimeout(() => look(true), millis)
      this.#waiting.add(onPost)
    })
  }

  /** Waits until nothing was received for `quietMillis`, at most `millis`. */
  async untilQuiet(quietMillis: number, millis: number): Promise<void> {
    const end = Date.now() + millis
    for (;;) {
      const before = this.posts.length
      const left = end - Date.now()
      if (left <= 0 || !(await this.until(() => this.posts.length > before, Math.min(quietMillis, left)))) return
    }
  }
}

/** The receiver that deliveries of the implementation reach. */
export interface Callback {
  readonly port: number
  readonly inbox: () => Inbox
  readonly close: () => void
}

const listen = (server: Server, host: string, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once("error", reject)
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port))
  })

/**
 * Opens the callback server. `publicUrl` is its address for the publisher; default: its own address. Rejects with the
 * system error when the port is in use.
 */
export const openCallback = async (options: { readonly host: string; readonly port: number; readonly publicUrl?: string }): Promise<Callback> => {
  const inboxes = new Map<string, Inbox>()
  let [posts, heldBytes] = [0, 0]
  const received = (request: IncomingMessage, body: Uint8Array, inbox: Inbox): InboxAnswer => {
    if (posts >= mostPosts || heldBytes + body.byteLength > mostHeldBytes) return 429
    posts += 1
    heldBytes += body.byteLength
    return inbox.receive(request, body)
  }
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const inbox = inboxes.get((request.url ?? "").split(/[/?]/u).at(-1)!)
    const body = inbox === undefined ? undefined : await bytesUpTo(mostBytes, request)
    const answer = inbox === undefined ? 404 : body === undefined ? 413 : received(request, body, inbox)
    if (answer === "drop") return void request.socket.destroy()
    response.writeHead(answer, { "content-length": 0, ...(body === undefined ? { connection: "close" } : {}) }).end()
  }
  const server = createServer((request, response) => void serve(request, response).catch(() => response.destroy()))
  server.maxConnections = mostConnections
  const port = await listen(server, options.host, options.port)
  const host = options.host.includes(":") ? `[${options.host}]` : options.host
  const base = (options.publicUrl ?? `http://${host}:${port}`).replace(/\/+$/, "")
  return {
    port,
    inbox: () => {
      const name = randomUUID()
      const inbox = new Inbox(`${base}/${name}`)
      inboxes.set(name, inbox)
      return inbox
    },
    close: () => {
      server.close()
      server.closeAllConnections()
    }
  }
}
