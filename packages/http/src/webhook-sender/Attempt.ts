/** One POST from start to outcome. */
import { clearTimeout, setTimeout } from "node:timers"
import type { ListEntry } from "@waybill/core"
import { addressNotAllowed, type AttemptFailure, AttemptOutcome } from "@waybill/core/delivery"
import { excerptOf, maxExcerptBytes, outcomeOfAnswer } from "./Answer.ts"
import type { Connection } from "./Connection.ts"
import type { Origin } from "./Connections.ts"
import { type ConnectFailure, tlsFaultOf } from "./GuardedConnector.ts"
import type { WritableRequest } from "./RequestWriter.ts"
import type { ResponseEvents, ResponseHead } from "./ResponseParser.ts"

/** Its request, and who waits for its outcome. */
export interface AttemptRequest extends WritableRequest {
  readonly origin: Origin
  readonly owner: string
  readonly deadlineMillis: number
  readonly nowMillis: () => number
  readonly settle: (outcome: AttemptOutcome) => void
}

/** Interim responses such as 103 are ignored; a receiver that keeps sending them is not answering. */
const maxInterimAnswers = 100

/** Maximum delay of a Node timer; a longer one fires at once. */
const maxTimerMillis = 2 ** 31 - 1

/**
 * Waits for a connection or uses one. Listens to it and to the deadline; the first one decides.
 *
 * The outcome is reported in a microtask: a connection calls from inside its parser, where no other request may start.
 */
export class Attempt implements ResponseEvents {
  readonly request: AttemptRequest
  connection: Connection | undefined
  /** Its place among those that wait for a connection. */
  waiting: ListEntry<Attempt> | undefined
  readonly #timer: NodeJS.Timeout
  #decided = false
  #started = false
  #interimAnswers = 0
  #answer: ResponseHead | undefined
  #excerpt: Buffer | undefined
  #excerptBytes = 0

  constructor(request: AttemptRequest) {
    const { deadlineMillis } = request
    this.request = request
    // Sockets use real time, so the deadline does too. Timers of equal length are cheap in Node.
    this.#timer = setTimeout(expire, deadlineMillis > 1 ? Math.min(deadlineMillis, maxTimerMillis) : 1, this)
  }

  /** The caller no longer waits for the outcome. */
  abandon(): void {
    if (this.#decided) return
    this.#decided = true
    clearTimeout(this.#timer)
    this.request.origin.finish(this)
  }

  /** All connections are being closed. */
  interrupt(): void {
    this.#decide(AttemptOutcome.Interrupted({}))
  }

  expire(): void {
    if (this.#started) this.#fail("timeout", "The receiver did not answer in full before the deadline.")
    else if (this.connection === undefined) this.#fail("timeout", "Earlier requests to this receiver took until the deadline.")
    else this.#fail("connect_timeout", "No connection to the receiver was established before the deadline.")
  }

  /** The request is about to be written. */
  onStart(): void {
    this.#started = true
  }

  onInterim(): void {
    if (++this.#interimAnswers > maxInterimAnswers) this.#fail("protocol", "The receiver sent interim answers only.")
  }

  onHead(head: ResponseHead): void {
    this.#answer = head
  }

  /** Copies what the excerpt needs: the bytes belong to the connection. */
  onBody(bytes: Buffer, start: number, end: number): void {
    const size = Math.min(end - start, maxExcerptBytes - this.#excerptBytes)
    if (size <= 0) return
    const before = this.#excerpt
    const needed = this.#excerptBytes + size
    if (before === undefined || before.length < needed) {
      // Most bodies arrive in one piece; one in many pieces must not be copied for each.
      this.#excerpt = Buffer.allocUnsafe(before === undefined ? size : Math.min(maxExcerptBytes, Math.max(needed, 2 * before.length)))
      before?.copy(this.#excerpt, 0, 0, this.#excerptBytes)
    }
    bytes.copy(this.#excerpt!, this.#excerptBytes, start, start + size)
    this.#excerptBytes = needed
  }

  onComplete(): void {
    this.#decide(this.#outcome(this.#answer!))
  }

  /** The response exceeded the limit, and nothing more is read: only its status counts, if there is one. */
  onOverflow(): void {
    if (this.#answer === undefined) this.#fail("response_too_large", "The receiver's answer is too long.")
    else this.#decide(this.#outcome(this.#answer))
  }

  /** The response is invalid, or the connection ended before it did. */
  onBroken(): void {
    this.#fail("protocol", "The connection broke off, or the response is not HTTP.")
  }

  /** TLS failed after the handshake: a receiver that asks for a certificate refuses only then. */
  onTlsFault(fault: string): void {
    this.#fail("tls", tlsDetail(fault))
  }

  onConnectFailure(failure: ConnectFailure): void {
    if (failure.isOwn) return this.#decide(AttemptOutcome.Interrupted({ unsent: "The sending process could not open a connection." }))
    this.#fail(failure.failure, connectDetail(failure))
  }

  #outcome(head: ResponseHead): AttemptOutcome {
    return outcomeOfAnswer(head, this.#body(), this.request.nowMillis)
  }

  #body(): Buffer | undefined {
    return this.#excerpt?.subarray(0, this.#excerptBytes)
  }

  #fail(failure: AttemptFailure, detail: string): void {
    const answered = this.#answer === undefined ? undefined : { status: this.#answer.status, excerpt: excerptOf(this.#body()) }
    this.#decide(AttemptOutcome.Failed({ failure, detail, ...answered }))
  }

  #decide(outcome: AttemptOutcome): void {
    if (this.#decided) return
    this.#decided = true
    clearTimeout(this.#timer)
    queueMicrotask(() => {
      this.request.origin.finish(this)
      this.request.settle(outcome)
    })
  }
}

const expire = (attempt: Attempt): void => attempt.expire()

const tlsDetail = (fault: string | undefined): string =>
  `No secure connection: check the receiver's certificate and TLS settings${fault === undefined ? "" : ` (${fault})`}.`

const connectDetail = ({ cause, failure }: ConnectFailure): string => {
  switch (failure) {
    case "address_not_allowed":
      return addressNotAllowed
    case "dns":
      return "The receiver's name could not be resolved."
    case "tls":
      return tlsDetail(tlsFaultOf(cause))
    default:
      return "No connection to the receiver was established."
  }
}
