/** Takes deliveries of transit events: verified, each event once, and with a word about what is missing. */
import { type EventBatch, EventBatchMalformed, parseEventBatch } from "../transit-events/EventBatch.ts"
import type { TransitEvent } from "../transit-events/TransitEvent.ts"
import type { DeliveryHeaders } from "./DeliveryHeaders.ts"
import { DeliveryRefused, RawBodyNeeded, type RefusalReason } from "./DeliveryRefused.ts"
import { readRequestBody, tooLarge } from "./RequestBody.ts"
import { type Claim, SeenInMemory, type SeenStore } from "./SeenStore.ts"
import { reportSequences, type SequenceReport, SequencesInMemory, type SequenceStore, sequencesOf } from "./Sequences.ts"
import { copyOfBytes, verifyDelivery, verifyXSignature } from "./Signature.ts"
import { readSecrets, type WebhookSecrets } from "./WebhookSecret.ts"

export interface DeliveryReceiverOptions {
  /** Every secret that may have signed, or a function that is asked at each delivery: for secrets that rotate. */
  readonly secrets: WebhookSecrets | (() => WebhookSecrets | Promise<WebhookSecrets>)
  /**
   * Gets the events that were not handled before, in the order of their delivery. When it fails, nothing of the
   * delivery counts as handled and the sender sends it again.
   */
  readonly onEvents: (events: ReadonlyArray<TransitEvent>, context: DeliveryContext) => unknown
  /** Which signature must be there. Default `standard-webhooks`; the other carries no time and cannot stop a late replay. */
  readonly signature?: "standard-webhooks" | "x-signature" | undefined
  /** What was handled. Default: in this process's memory. */
  readonly seen?: SeenStore | undefined
  /**
   * Which sequence numbers came. Default: in this process's memory. `false` where the subscription filters event types,
   * because then gaps are normal.
   */
  readonly sequences?: SequenceStore | false | undefined
  /** Names the sender. Senders that share a `SeenStore` need different names, so that none can hide another's events. */
  readonly source?: string | undefined
  /** Largest body. Default 5 MiB. */
  readonly mostBytes?: number | undefined
  /** How far the sender's clock may be away, either way. Default 300. */
  readonly toleranceSeconds?: number | undefined
  /** Longer than `onEvents` ever takes: after that a delivery whose handling never ended is free again. Default 60. */
  readonly claimSeconds?: number | undefined
  /** How a taken delivery is answered; both tell the sender not to send it again. Default 200. */
  readonly acknowledgeWith?: 200 | 202 | undefined
  /** Hears of every failure that is not the sender's: of `onEvents`, the stores, the set-up. Default: `console.error`. */
  readonly onError?: ((error: unknown) => void) | undefined
  readonly now?: (() => Date) | undefined
}

/** What `onEvents` is told besides the events. */
export interface DeliveryContext {
  readonly deliveryId: string
  readonly sentAt: string
  /** Events of this delivery that were handled before and are therefore left out. */
  readonly duplicates: ReadonlyArray<TransitEvent>
  /** Empty lists when `sequences` is `false`. */
  readonly order: SequenceReport
}

/** A request in whatever form the runtime has it. */
export interface RawDelivery {
  readonly headers: DeliveryHeaders
  /** The bytes exactly as they came. */
  readonly body: Uint8Array
}

/** What became of a delivery that was taken. */
export interface DeliveryReceipt {
  readonly deliveryId: string
  /** How many events went to `onEvents`. */
  readonly handled: number
  /** How many had been handled before. */
  readonly duplicates: number
}

/** An HTTP answer for runtimes without `Response`. */
export interface DeliveryAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** JSON text, or empty. */
  readonly body: string
}

export class DeliveryReceiver {
  readonly #options: DeliveryReceiverOptions
  readonly #seen: SeenStore
  readonly #sequences: SequenceStore | undefined
  readonly #mostBytes: number

  constructor(options: DeliveryReceiverOptions) {
    // a bad secret shows when the program starts, not with the first delivery
    if (typeof options.secrets !== "function") readSecrets(options.secrets)
    this.#options = options
    this.#seen = options.seen ?? new SeenInMemory()
    this.#sequences = options.sequences === false ? undefined : options.sequences ?? new SequencesInMemory()
    this.#mostBytes = options.mostBytes ?? 5 * 1024 * 1024
  }

  /**
   * Takes a request and answers it; never rejects. 200 (or 202) when the delivery was handled now or before, 401 when
   * its signature does not stand, 400 when it is no event batch, 413 when it is too large, 503 when it is being handled
   * right now, 500 when `onEvents` fails, so that the sender comes again.
   *
   * Can be passed on its own: `serve(receiver.handle)`.
   */
  readonly handle = async (request: Request): Promise<Response> => {
    const answer = await this.#answered(async () => {
      if (request.method !== "POST") throw new DeliveryRefused("method_not_allowed", "Deliveries are POSTed.")
      return this.#take(request.headers, await readRequestBody(request, this.#mostBytes))
    })
    return new Response(answer.body === "" ? null : answer.body, { status: answer.status, headers: answer.headers })
  }

  /** The same for frameworks that have the raw bytes and no `Request`. */
  readonly answer = (delivery: RawDelivery): Promise<DeliveryAnswer> => this.#answered(() => this.receive(delivery))

  /** Takes a delivery and leaves the answer to you. Fails with `DeliveryRefused`, or with whatever failed here. */
  async receive({ body, headers }: RawDelivery): Promise<DeliveryReceipt> {
    if (body?.byteLength > this.#mostBytes) throw tooLarge(this.#mostBytes)
    return this.#take(headers, copyOfBytes(body))
  }

  async #take(headers: DeliveryHeaders, body: Uint8Array): Promise<DeliveryReceipt> {
    await this.#verify(headers, body)
    const batch = readBatch(body)
    const events = firstOfEachId(batch.events)
    const claim = { token: newToken(), seconds: this.#options.claimSeconds ?? 60 }
    const delivery = this.#idOf("delivery", batch.deliveryId)
    const answers = await this.#seen.claim([delivery, ...events.map((event) => this.#idOf("event", event.eventId))], claim)
    const fresh = events.filter((_, index) => answers[index + 1] === "claimed")
    const claimed = [...(answers[0] === "claimed" ? [delivery] : []), ...fresh.map((event) => this.#idOf("event", event.eventId))]
    if (answers[0] === "seen") {
      await this.#orReport(() => this.#seen.release(claimed, claim))
      return { deliveryId: batch.deliveryId, handled: 0, duplicates: batch.events.length }
    }
    if (answers.includes("busy")) {
      await this.#orReport(() => this.#seen.release(claimed, claim))
      throw new DeliveryRefused("in_progress", "This delivery, or some of its events, is being handled right now.")
    }
    await this.#give(batch, fresh, claimed, claim)
    return { deliveryId: batch.deliveryId, handled: fresh.length, duplicates: batch.events.length - fresh.length }
  }

  async #verify(headers: DeliveryHeaders, body: Uint8Array): Promise<void> {
    const { now, secrets: given, signature, toleranceSeconds } = this.#options
    const secrets = typeof given === "function" ? await given() : given
    if (signature === "x-signature") await verifyXSignature({ secrets, headers, body })
    else await verifyDelivery({ secrets, headers, body, now: now?.(), toleranceSeconds })
  }

  /** Hands the new events over, and only then remembers them. */
  async #give(batch: EventBatch, fresh: ReadonlyArray<TransitEvent>, claimed: ReadonlyArray<string>, claim: Claim): Promise<void> {
    const numbers = sequencesOf(fresh)
    try {
      if (fresh.length > 0) {
        const arrived = await this.#sequences?.arrived([...numbers.keys()])
        await this.#options.onEvents(fresh, {
          deliveryId: batch.deliveryId,
          sentAt: batch.sentAt,
          duplicates: batch.events.filter((event) => !fresh.includes(event)),
          order: arrived === undefined ? nothingToReport : reportSequences(arrived, fresh)
        })
      }
    } catch (error) {
      await this.#orReport(() => this.#seen.release(claimed, claim))
      // a handler that verifies something itself must not have its failure taken for ours
      throw error instanceof DeliveryRefused || error instanceof RawBodyNeeded ? new Error("onEvents failed.", { cause: error }) : error
    }
    await this.#seen.markSeen(claimed, claim)
    // the events are handled; not knowing their numbers only makes a later report poorer
    await this.#orReport(() => this.#sequences?.add(numbers))
  }

  async #answered(take: () => Promise<unknown>): Promise<DeliveryAnswer> {
    try {
      await take()
      return { status: this.#options.acknowledgeWith ?? 200, headers: {}, body: "" }
    } catch (error) {
      if (error instanceof DeliveryRefused) return problem(statusOf[error.reason], error.reason, error.message)
      this.#report(error)
      if (error instanceof RawBodyNeeded) return problem(500, "raw_body_needed", error.message)
      return problem(500, "receiver_failed", "The receiver could not handle the delivery. Send it again.")
    }
  }

  /** For what the answer does not depend on: a claim that cannot be freed, for one, runs out by itself. */
  async #orReport(action: () => unknown): Promise<void> {
    try {
      await action()
    } catch (error) {
      this.#report(error)
    }
  }

  #report(error: unknown): void {
    try {
      // oxlint-disable-next-line no-console -- with nobody listening, silence would hide why deliveries fail
      (this.#options.onError ?? console.error)(error)
    } catch {
      // whoever listens must not change the answer
    }
  }

  /** The source's length keeps one source from spelling another's ids. */
  #idOf(kind: "delivery" | "event", id: string): string {
    const source = this.#options.source ?? ""
    return `${source.length}:${source}:${kind}:${id}`
  }
}

const statusOf: Readonly<Record<RefusalReason, number>> = {
  header_missing: 401,
  header_repeated: 401,
  header_too_long: 401,
  id_malformed: 401,
  timestamp_malformed: 401,
  timestamp_too_old: 401,
  timestamp_in_future: 401,
  no_known_signature: 401,
  signature_mismatch: 401,
  batch_malformed: 400,
  body_incomplete: 400,
  body_too_large: 413,
  in_progress: 503,
  method_not_allowed: 405
}

const titles: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  405: "Method Not Allowed",
  413: "Content Too Large",
  500: "Internal Server Error",
  503: "Service Unavailable"
}

/** Area D's own error body. */
const problem = (status: number, code: string, detail: string): DeliveryAnswer => ({
  status,
  headers: {
    "content-type": "application/problem+json",
    ...(status === 503 ? { "retry-after": "1" } : {}),
    ...(status === 405 ? { allow: "POST" } : {})
  },
  body: JSON.stringify({ status, title: titles[status], detail, code })
})

const firstOfEachId = (events: ReadonlyArray<TransitEvent>): ReadonlyArray<TransitEvent> => {
  const ids = new Set<string>()
  return events.filter(({ eventId }) => !ids.has(eventId) && ids.add(eventId))
}

const nothingToReport: SequenceReport = { missing: [], late: [], outOfOrder: [], repeated: [] }

const readBatch = (body: Uint8Array): EventBatch => {
  try {
    return parseEventBatch(body)
  } catch (cause) {
    if (cause instanceof EventBatchMalformed) throw new DeliveryRefused("batch_malformed", cause.message, { cause })
    throw cause
  }
}

const newToken = (): string => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("")
