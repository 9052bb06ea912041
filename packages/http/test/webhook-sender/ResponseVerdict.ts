/** The verdict of our parser and of undici on a response. */
import { Duplex } from "node:stream"
import { Client } from "undici"
import { type ResponseHead, ResponseParser } from "../../src/webhook-sender/ResponseParser.ts"

export interface Verdict {
  readonly ended: "complete" | "broken"
  readonly status?: number
  readonly retryAfter?: string | undefined
  readonly location?: string | undefined
  readonly date?: string | undefined
  /** As latin1. */
  readonly body: string
  /** Whether the connection may carry another request. */
  readonly reusable: boolean
}

/** Our parser, with the calls that a connection makes. */
export const verdictOf = (pieces: ReadonlyArray<Buffer>): Verdict => {
  const parser = new ResponseParser()
  let head: ResponseHead | undefined
  let body = ""
  let surplus = false
  const events = {
    onInterim: () => {},
    onHead: (found: ResponseHead) => void (head = found),
    onBody: (bytes: Buffer, start: number, end: number) => void (body += bytes.toString("latin1", start, end))
  }
  for (const piece of pieces) {
    if (parser.isInvalid) break
    if (parser.read(piece, piece.length, events) < piece.length) surplus = true
  }
  const reusable = parser.isComplete && parser.isPersistent && !surplus && (parser.idleSeconds ?? 5) > 2
  parser.end()
  return { ended: parser.isComplete ? "complete" : "broken", ...head, body, reusable }
}

/** undici, over a socket in memory. */
export const verdictOfUndici = (pieces: ReadonlyArray<Buffer>): Promise<Verdict> =>
  new Promise((resolve) => {
    const socket = new MemorySocket(pieces)
    let wasConnected = false
    const client = new Client("http://receiver.example", {
      connect: (_: unknown, callback: (...result: any) => void) => {
        const isFirst = !wasConnected
        wasConnected = true
        queueMicrotask(() => isFirst ? callback(null, socket) : callback(new Error("One response, one connection."), null))
      },
      pipelining: 1,
      allowH2: false,
      headersTimeout: 0,
      bodyTimeout: 0
    })
    let head: Omit<Verdict, "ended" | "body" | "reusable"> = {}
    let body = ""
    let isReusable = false
    const settle = (ended: Verdict["ended"]) => {
      // The rest of the bytes may still show that the connection is unusable.
      setImmediate(() => {
        resolve({ ended, ...head, body, reusable: isReusable && !socket.wasDestroyed })
        client.destroy().catch(() => {})
      })
    }
    client.dispatch({ method: "POST", path: "/", body: "x" }, {
      onRequestStart: () => {},
      onResponseStart: (_, status, headers) => {
        if (status >= 200) head = { status, retryAfter: first(headers["retry-after"]), location: first(headers["location"]), date: first(headers["date"]) }
      },
      onResponseData: (_, chunk) => void (body += chunk.toString("latin1")),
      onResponseEnd: () => {
        isReusable = !socket.hasEnded
        settle("complete")
      },
      onResponseError: () => settle("broken")
    })
  })

const first = (value: string | ReadonlyArray<string> | undefined): string | undefined => (typeof value === "string" ? value : value?.[0])?.replace(/[ \t]+$/, "")

/** Gives the pieces after the request was written, and then the end. */
class MemorySocket extends Duplex {
  readonly #pieces: Array<Buffer>
  #isAsked = false
  #isAnswering = false
  hasEnded = false
  /** By its reader, before the end. */
  wasDestroyed = false

  constructor(pieces: ReadonlyArray<Buffer>) {
    super({ emitClose: true })
    this.#pieces = [...pieces]
  }

  override _write(_: unknown, __: unknown, done: () => void): void {
    done()
    if (this.#isAsked) return
    this.#isAsked = true
    setImmediate(() => {
      this.#isAnswering = true
      this.emit("readable")
      this.wasDestroyed = this.destroyed
      this.hasEnded = true
      if (!this.destroyed) this.emit("end")
    })
  }

  override _read(): void {}

  override read(): Buffer | null {
    return this.#isAnswering ? this.#pieces.shift() ?? null : null
  }
}
