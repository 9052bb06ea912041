/** One connection: a socket that carries one request at a time. */
import type { Socket } from "node:net"
import type { Attempt } from "./Attempt.ts"
import type { Origin } from "./Connections.ts"
import { type ConnectFailure, type GuardedConnector, tlsFaultOf } from "./GuardedConnector.ts"
import { writeRequest } from "./RequestWriter.ts"
import { ResponseParser } from "./ResponseParser.ts"

/** An older connection is closed after its request, so that DNS changes take effect. */
const maxAgeMillis = 60_000

/** How long an idle connection is kept: shorter than servers do, which close at five seconds or later. */
const idleMillis = 4_000

/** The longest time for which an idle connection is kept when the receiver says that it keeps it. */
const maxIdleMillis = 30_000

/** How much earlier than the receiver an idle connection is closed. */
const idleMarginMillis = 2_000

/** Bytes that are read of a response: interim responses, head, body and chunk framing. */
const maxAnswerBytes = 32_768

/**
 * The read buffer of every socket. A read and its parsing are one synchronous step, so all connections share it: a buffer for each
 * read costs more than the rest of a response.
 */
const readBuffer = Buffer.allocUnsafeSlow(maxAnswerBytes)

/** `idle` is also a connection that has a request which is not written yet. */
type State = "connecting" | "idle" | "busy" | "closed"

export class Connection {
  attempt: Attempt | undefined
  readonly #origin: Origin
  readonly #socket: Socket
  readonly #parser = new ResponseParser()
  #state: State = "connecting"
  #connectedAt = 0
  /** When an idle connection becomes too old for another request. */
  #idleUntil = 0
  /** Bytes that may still be read for the current attempt. */
  #allowance = maxAnswerBytes
  /** Bytes arrived that belong to no response. */
  #surplus = false

  constructor(origin: Origin, connect: GuardedConnector) {
    this.#origin = origin
    const onread = { buffer: readBuffer, callback: (size: number) => this.#read(size) }
    this.#socket = connect({ ...origin.address, onread }, (failure) => this.#connected(failure))
    this.#socket.once("end", () => this.#ended(true))
    // A receiver may reset the connection after a body that ends with it.
    this.#socket.on("error", (error: NodeJS.ErrnoException) => this.#ended(error.code === "ECONNRESET", tlsFaultOf(error)))
    this.#socket.once("close", () => this.#ended(false))
  }

  /** Whether another request may be written: the response ended, the request was read, and the connection is not old. */
  isReusable(now: number): boolean {
    return this.#state === "busy" && this.#parser.isComplete && this.#parser.isPersistent && !this.#surplus &&
      this.#socket.writableLength === 0 && this.#keepMillis > 0 && now - this.#connectedAt <= maxAgeMillis
  }

  get #keepMillis(): number {
    const seconds = this.#parser.idleSeconds
    return seconds === undefined ? idleMillis : Math.min(seconds * 1000 - idleMarginMillis, maxIdleMillis)
  }

  /** Keeps the connection for a next request. An idle connection does not keep the process running. */
  rest(now: number): void {
    this.#state = "idle"
    this.#idleUntil = now + this.#keepMillis
    this.#socket.unref()
  }

  hasIdledTooLong(now: number): boolean {
    return now > this.#idleUntil
  }

  /** Takes the request. It is written when the connection is established, or by `start` on one that was used before. */
  carry(attempt: Attempt): void {
    this.attempt = attempt
    attempt.connection = this
    if (this.#state === "idle") this.#socket.ref()
  }

  /** Writes the request. Without one, or when the connection has ended since, nothing happens. */
  start(): void {
    const { attempt } = this
    if (attempt === undefined || this.#state !== "idle") return
    this.#state = "busy"
    this.#allowance = maxAnswerBytes
    this.#surplus = false
    this.#parser.reset()
    attempt.onStart()
    writeRequest(this.#socket, attempt.request)
  }

  /** Closes the connection, also while it is being established. Resolves when the socket is closed. */
  destroy(): Promise<void> {
    this.#state = "closed"
    const socket = this.#socket
    return new Promise((resolve) => {
      if (socket.closed) return resolve()
      socket.once("close", () => resolve())
      socket.destroy()
    })
  }

  #connected(failure: ConnectFailure | undefined): void {
    if (this.#state !== "connecting") return
    if (failure !== undefined) return this.attempt?.onConnectFailure(failure)
    this.#state = "idle"
    this.#connectedAt = performance.now()
    this.start()
  }

  /** `false` stops reading. */
  #read(size: number): boolean {
    const { attempt } = this
    const parser = this.#parser
    if (attempt === undefined || this.#state !== "busy" || parser.isComplete) {
      this.#unsolicited()
      return this.#state !== "closed"
    }
    const within = Math.min(size, this.#allowance)
    this.#allowance -= within
    const used = parser.read(readBuffer, within, attempt)
    if (parser.isComplete) {
      // After a read that filled the buffer more may be waiting, which would be taken for the next response.
      this.#surplus = used < size || size === readBuffer.length
      attempt.onComplete()
    } else if (parser.isInvalid) attempt.onBroken()
    else if (this.#allowance === 0) attempt.onOverflow()
    else return true
    return parser.isComplete
  }

  /** Bytes that no request asked for could be taken for the response to the next one. */
  #unsolicited(): void {
    if (this.#state === "busy") this.#surplus = true
    else if (this.#state === "idle") this.#origin.lose(this)
  }

  /** The receiver closed the connection (`cleanly`: this may end a body), or it broke. */
  #ended(cleanly: boolean, tlsFault?: string): void {
    const { attempt } = this
    if (this.#state === "busy" && attempt !== undefined) {
      if (cleanly) this.#parser.end()
      this.#surplus = true
      if (this.#parser.isComplete) attempt.onComplete()
      else if (tlsFault === undefined) attempt.onBroken()
      else attempt.onTlsFault(tlsFault)
    } else if (this.#state === "idle" || this.#state === "busy") this.#origin.lose(this)
  }
}
