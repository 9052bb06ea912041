/** One POST from start to outcome. */
import { clearTimeout, setTimeout } from "node:timers"
import type { Dispatcher } from "undici"
import { type AttemptFailure, AttemptOutcome } from "@waybill/core"
import { addressNotAllowed } from "./AddressGuard.ts"
import { type Answer, excerptOf, maxExcerptBytes, outcomeOfAnswer } from "./Answer.ts"
import type { Connection, Exchange, Origin } from "./Connections.ts"
import { ConnectFailure } from "./GuardedConnector.ts"

export interface AttemptOptions {
  readonly origin: Origin
  readonly request: Dispatcher.DispatchOptions
  readonly deadlineMillis: number
  readonly nowMillis: () => number
  readonly settle: (outcome: AttemptOutcome) => void
}

/** Interim responses such as 103 are ignored; a receiver that keeps sending them is not answering. */
const maxInterimAnswers = 100

/** Maximum delay of a Node timer; a longer one fires at once. */
const maxTimerMillis = 2 ** 31 - 1

/**
 * Listens to undici and to the deadline; the first one decides.
 *
 * The outcome is reported in a microtask: undici calls from inside its parser, where no other request may start.
 */
export class Attempt implements Exchange {
  readonly origin: Origin
  readonly request: Dispatcher.DispatchOptions
  connection: Connection | undefined
  readonly #options: AttemptOptions
  readonly #timer: NodeJS.Timeout
  #decided = false
  #started = false
  #interimAnswers = 0
  #status = 0
  #headers: Answer["headers"] = {}
  #body: Array<Buffer> = []
  #bodyBytes = 0

  constructor(options: AttemptOptions) {
    this.#options = options
    this.origin = options.origin
    this.request = options.request
    // Sockets use real time, so the deadline does too. Timers of equal length are cheap in Node.
    this.#timer = setTimeout(expire, options.deadlineMillis > 1 ? Math.min(options.deadlineMillis, maxTimerMillis) : 1, this)
  }

  /** The caller no longer waits for the outcome. */
  abandon(): void {
    if (this.#decided) return
    this.#decided = true
    clearTimeout(this.#timer)
    this.origin.finish(this, false)
  }

  interrupt(): void {
    this.#decide(AttemptOutcome.Interrupted(), false)
  }

  expire(): void {
    if (this.#started) this.#fail("timeout", "The receiver did not answer in full before the deadline.")
    else if (this.connection === undefined) this.#fail("timeout", "Earlier requests to this receiver took until the deadline.")
    else this.#fail("connect_timeout", "No connection to the receiver was established before the deadline.")
  }

  onRequestStart(): void {
    this.#started = true
  }

  /** The response exceeded the limit: only its status counts, if there is one. */
  overflow(): void {
    if (this.#decided) return
    if (this.#status === 0) this.#fail("response_too_large", "The receiver's answer is too long.")
    else this.#decide(this.#answer(), false)
  }

  onResponseStart(_: unknown, status: number, headers: Answer["headers"]): void {
    if (status >= 200) {
      this.#status = status
      this.#headers = headers
    } else if (++this.#interimAnswers > maxInterimAnswers) {
      this.#fail("protocol", "The receiver sent interim answers only.")
    }
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    if (this.#bodyBytes < maxExcerptBytes) this.#body.push(chunk)
    this.#bodyBytes += chunk.length
  }

  onResponseEnd(): void {
    if (!this.#decided) this.#decide(this.#answer(), true)
  }

  onResponseError(_: unknown, error: Error): void {
    if (error instanceof ConnectFailure) this.#fail(error.failure, connectDetail(error))
    else if (this.#started) this.#fail("protocol", "The receiver broke off, or what it sent is not HTTP.")
    else this.#fail("protocol", "The request could not be written. Check the subscription's headers.")
  }

  #answer(): AttemptOutcome {
    return outcomeOfAnswer({ status: this.#status, headers: this.#headers, body: this.#body }, this.#options.nowMillis)
  }

  #fail(failure: AttemptFailure, detail: string): void {
    if (this.#decided) return
    const answered = this.#status === 0 ? undefined : { status: this.#status, excerpt: excerptOf(this.#body) }
    this.#decide(AttemptOutcome.Failed({ failure, detail, ...answered }), false)
  }

  #decide(outcome: AttemptOutcome, reusable: boolean): void {
    if (this.#decided) return
    this.#decided = true
    clearTimeout(this.#timer)
    queueMicrotask(() => {
      this.origin.finish(this, reusable)
      this.#options.settle(outcome)
    })
  }
}

const expire = (attempt: Attempt): void => attempt.expire()

const connectDetail = ({ certificateFault, failure }: ConnectFailure): string => {
  switch (failure) {
    case "address_not_allowed":
      return addressNotAllowed
    case "dns":
      return "The receiver's name could not be resolved."
    case "tls":
      return `No secure connection: check the receiver's certificate and TLS settings${certificateFault === undefined ? "" : ` (${certificateFault})`}.`
    default:
      return "No connection to the receiver was established."
  }
}
