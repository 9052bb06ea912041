/** Receives webhook deliveries of transit events, shipment status and freight charges: verifies and deduplicates them. */
import type { PreliminaryFreightCharge } from "../freight-charges/FreightCharge.ts"
import type { StatusNotification } from "../shipment-status/StatusNotification.ts"
import type { EventBatch } from "../transit-events/EventBatch.ts"
import type { TransitEvent } from "../transit-events/TransitEvent.ts"
import { answerTo, type DeliveryAnswer } from "./DeliveryAnswer.ts"
import { type DeliveryHeaders, hasHeader } from "./DeliveryHeaders.ts"
import { DeliveryRefused, RawBodyNeeded } from "./DeliveryRefused.ts"
import { readDelivery } from "./ReceivedDelivery.ts"
import { readRequestBody, tooLarge } from "./RequestBody.ts"
import { SeenInMemory, type SeenStore } from "./SeenStore.ts"
import { reportSequences, type SequenceReport, SequencesInMemory, type SequenceStore, sequencesOf } from "./Sequences.ts"
import { copyOfBytes, readDeliveryId, verifyDelivery, verifyXSignature } from "./Signature.ts"
import { readSecrets, type WebhookSecrets } from "./WebhookSecret.ts"

/**
 * A delivery goes to the handler of its kind, which is recognized by the shape of the body; at least one handler is
 * required. When a handler fails, nothing of the delivery counts as handled and the sender retries it.
 */
export interface DeliveryReceiverOptions {
  /**
   * All secrets that may have signed, or a function that is called for each delivery, for rotated secrets. Optional
   * only with `unsigned: "accept"`.
   */
  readonly secrets?: WebhookSecrets | (() => WebhookSecrets | Promise<WebhookSecrets>) | undefined
  /** Receives transit events that were not handled before, in the order of the delivery. */
  readonly onEvents?: ((events: ReadonlyArray<TransitEvent>, context: DeliveryContext) => unknown) | undefined
  /** Receives each shipment status notification once. */
  readonly onStatus?: ((notification: StatusNotification, context: NotificationContext) => unknown) | undefined
  /** Receives each delivery of freight charges once. `pfc.isTest` marks the sample of a webhook test. */
  readonly onCharges?: ((charges: ReadonlyArray<PreliminaryFreightCharge>, context: NotificationContext) => unknown) | undefined
  /** Required signature. Default `standard-webhooks`. `x-signature` has no timestamp and cannot stop late replays. */
  readonly signature?: "standard-webhooks" | "x-signature" | undefined
  /**
   * `accept`: also take shipment status and freight charges without a signature, as they are sent until a secret is
   * registered for you. Anyone who knows the URL can forge them. Event batches are always signed. Default `refuse`.
   */
  readonly unsigned?: "refuse" | "accept" | undefined
  /** Remembers handled ids. Default: in the memory of this process. */
  readonly seen?: SeenStore | undefined
  /**
   * Remembers received sequence numbers of events. Default: in the memory of this process. `false` for subscriptions
   * that filter event types, because gaps are normal there.
   */
  readonly sequences?: SequenceStore | false | undefined
  /** Name of the sender. Senders that share a `SeenStore` need different names, otherwise one could suppress another's deliveries. */
  readonly source?: string | undefined
  /** Maximum body size in bytes. Default 5 MiB; freight charges of a whole day may need more. */
  readonly mostBytes?: number | undefined
  /** Maximum clock difference to the sender in seconds, in both directions. Default 300. */
  readonly toleranceSeconds?: number | undefined
  /** Must be longer than a handler runs. After this time an unfinished delivery can be handled again. Default 60. */
  readonly claimSeconds?: number | undefined
  /** Status of the response to a handled delivery; the sender stops retrying with both. Default 200. */
  readonly acknowledgeWith?: 200 | 202 | undefined
  /** Called with every failure on this side: handlers, stores, configuration. Default: `console.error`. */
  readonly onError?: ((error: unknown) => void) | undefined
  readonly now?: (() => Date) | undefined
}

/** Second argument of `onEvents`. */
export interface DeliveryContext {
  readonly deliveryId: string
  readonly sentAt: string
  /** Events of this delivery that were handled before and are not passed again. */
  readonly duplicates: ReadonlyArray<TransitEvent>
  /** Empty lists when `sequences` is `false`. */
  readonly order: SequenceReport
}

/** Second argument of `onStatus` and `onCharges`. */
export interface NotificationContext {
  /** `webhook-id`: the same for every attempt. */
  readonly deliveryId: string
  /** False only with `unsigned: "accept"`: the content is not authenticated. */
  readonly signed: boolean
}

/** A request as headers and raw bytes. */
export interface RawDelivery {
  readonly headers: DeliveryHeaders
  /** The bytes as received, before any parser. */
  readonly body: Uint8Array
}

/** Result of a handled delivery. */
export interface DeliveryReceipt {
  readonly deliveryId: string
  /** Number of events, notifications or charges that were passed to their handler. */
  readonly handled: number
  /** Number of items that had been handled before. */
  readonly duplicates: number
}

export class DeliveryReceiver {
  readonly #options: DeliveryReceiverOptions
  readonly #seen: SeenStore
  readonly #sequences: SequenceStore | undefined
  readonly #mostBytes: number

  constructor(options: DeliveryReceiverOptions) {
    const { onCharges, onEvents, onStatus, secrets, unsigned } = options
    // Fail at startup with a bad secret, not with the first delivery.
    if (typeof secrets !== "function" && !(secrets === undefined && unsigned === "accept")) readSecrets(secrets as WebhookSecrets)
    if (onEvents === undefined && onStatus === undefined && onCharges === undefined) throw new TypeError("Give onEvents, onStatus or onCharges.")
    this.#options = options
    this.#seen = options.seen ?? new SeenInMemory()
    this.#sequences = options.sequences === false ? undefined : options.sequences ?? new SequencesInMemory()
    this.#mostBytes = options.mostBytes ?? 5 * 1024 * 1024
  }

  /**
   * Handles a request and returns the response; never rejects.
   *
   * 200 (or 202): handled now or before. 400: no handler for it. 401: invalid signature. 413: too large. 500: the
   * handler failed, so the sender retries. 503: the same delivery is in progress.
   *
   * Can be passed as a function: `serve(receiver.handle)`.
   */
  readonly handle = async (request: Request): Promise<Response> => {
    const answer = await this.#answered(async () => {
      if (request.method !== "POST") throw new DeliveryRefused("method_not_allowed", "Deliveries are POSTed.")
      return this.#take(request.headers, await readRequestBody(request, this.#mostBytes))
    })
    return new Response(answer.body === "" ? null : answer.body, { status: answer.status, headers: answer.headers })
  }

  /** Like `handle`, for frameworks that have the raw bytes and no `Request`. */
  readonly answer = (delivery: RawDelivery): Promise<DeliveryAnswer> => this.#answered(() => this.receive(delivery))

  /** Handles a delivery and leaves the response to you. Fails with `DeliveryRefused`, or with the error of a handler or store. */
  async receive({ body, headers }: RawDelivery): Promise<DeliveryReceipt> {
    if (body?.byteLength > this.#mostBytes) throw tooLarge(this.#mostBytes)
    return this.#take(headers, copyOfBytes(body))
  }

  async #take(headers: DeliveryHeaders, body: Uint8Array): Promise<DeliveryReceipt> {
    const verified = await this.#verify(headers, body)
    const received = readDelivery(body)
    switch (received.kind) {
      case "events":
        if (!verified.signed) throw new DeliveryRefused("header_missing", `The header ${this.#signatureHeader} is missing; event batches are always signed.`)
        return this.#takeEvents(received.batch)
      case "status": {
        const onStatus = this.#handler("onStatus")
        return this.#takeNotification(headers, verified, 1, (context) => onStatus(received.notification, context))
      }
      case "charges": {
        const onCharges = this.#handler("onCharges")
        return this.#takeNotification(headers, verified, received.charges.length, (context) => onCharges(received.charges, context))
      }
    }
  }

  get #signatureHeader(): string {
    return this.#options.signature === "x-signature" ? "x-signature" : "webhook-signature"
  }

  /** A present signature must be valid, even with `unsigned: "accept"`, unless there is no secret to check it with. */
  async #verify(headers: DeliveryHeaders, body: Uint8Array): Promise<Verified> {
    const { now, secrets: given, signature, toleranceSeconds, unsigned } = this.#options
    if (unsigned === "accept" && (given === undefined || !hasHeader(headers, this.#signatureHeader))) return { signed: false }
    const secrets = (typeof given === "function" ? await given() : given) as WebhookSecrets
    if (signature !== "x-signature") {
      const { deliveryId } = await verifyDelivery({ secrets, headers, body, now: now?.(), toleranceSeconds })
      return { signed: true, deliveryId }
    }
    await verifyXSignature({ secrets, headers, body })
    return { signed: true }
  }

  async #takeEvents(batch: EventBatch): Promise<DeliveryReceipt> {
    const onEvents = this.#handler("onEvents")
    const events = firstOfEachId(batch.events)
    const parts = events.map(({ eventId }) => this.#idOf("event", eventId))
    let handled: ReadonlyArray<TransitEvent> = []
    await this.#once([this.#idOf("delivery", batch.deliveryId), ...parts], async (isNew) => {
      const found = events.filter((_, index) => isNew(index + 1))
      if (found.length > 0) {
        const arrived = await this.#sequences?.arrived([...sequencesOf(found).keys()])
        await onEvents(found, {
          deliveryId: batch.deliveryId,
          sentAt: batch.sentAt,
          duplicates: batch.events.filter((event) => !found.includes(event)),
          order: arrived === undefined ? nothingToReport : reportSequences(arrived, found)
        })
      }
      handled = found
    })
    // The events are handled. Losing their numbers only makes a later report less precise.
    if (handled.length > 0) await this.#orReport(() => this.#sequences?.add(sequencesOf(handled)))
    return { deliveryId: batch.deliveryId, handled: handled.length, duplicates: batch.events.length - handled.length }
  }

  async #takeNotification(
    headers: DeliveryHeaders,
    { deliveryId = readDeliveryId(headers), signed }: Verified,
    count: number,
    give: (context: NotificationContext) => unknown
  ): Promise<DeliveryReceipt> {
    // Separate ids: an unsigned delivery, which anyone can post, must not suppress a signed one.
    const id = this.#idOf(signed ? "notification" : "unsigned", deliveryId)
    const isNew = await this.#once([id], async () => {
      await give({ deliveryId, signed })
    })
    return { deliveryId, handled: isNew ? count : 0, duplicates: isNew ? 0 : count }
  }

  #handler<Kind extends HandlerName>(kind: Kind): Handler<Kind> {
    const handler = this.#options[kind]
    if (handler === undefined) throw new DeliveryRefused("no_handler", `This receiver takes no ${contents[kind]}: it has no ${kind}.`)
    return handler as Handler<Kind>
  }

  /**
   * Claims the ids, runs the handler, and only then marks them as seen. The first id is the delivery's: returns false
   * without running the handler when it was handled before.
   */
  async #once(ids: ReadonlyArray<string>, give: (isNew: (index: number) => boolean) => Promise<void>): Promise<boolean> {
    const claim = { token: newToken(), seconds: this.#options.claimSeconds ?? 60 }
    const answers = await this.#seen.claim(ids, claim)
    const isNew = (index: number) => answers[index] === "claimed"
    const claimed = ids.filter((_, index) => isNew(index))
    if (answers[0] === "seen") {
      await this.#orReport(() => this.#seen.release(claimed, claim))
      return false
    }
    if (answers.includes("busy")) {
      await this.#orReport(() => this.#seen.release(claimed, claim))
      throw new DeliveryRefused("in_progress", "This delivery, or some of its events, is in progress. Retry later.")
    }
    try {
      await give(isNew)
    } catch (error) {
      await this.#orReport(() => this.#seen.release(claimed, claim))
      // A handler may verify something itself: its errors must not look like errors of this delivery.
      throw error instanceof DeliveryRefused || error instanceof RawBodyNeeded ? new Error("The handler failed.", { cause: error }) : error
    }
    await this.#seen.markSeen(claimed, claim)
    return true
  }

  async #answered(take: () => Promise<unknown>): Promise<DeliveryAnswer> {
    try {
      await take()
      return { status: this.#options.acknowledgeWith ?? 200, headers: {}, body: "" }
    } catch (error) {
      if (!(error instanceof DeliveryRefused)) this.#report(error)
      return answerTo(error)
    }
  }

  /** Runs a step that the response does not depend on. A claim that cannot be released expires, for example. */
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
      // A failing `onError` must not change the response.
    }
  }

  /** The length of the source keeps one source from forging ids of another. */
  #idOf(kind: "delivery" | "event" | "notification" | "unsigned", id: string): string {
    const source = this.#options.source ?? ""
    return `${source.length}:${source}:${kind}:${id}`
  }
}

interface Verified {
  readonly signed: boolean
  /** Present when the signature covers it. */
  readonly deliveryId?: string
}

type HandlerName = "onEvents" | "onStatus" | "onCharges"
type Handler<Kind extends HandlerName> = NonNullable<DeliveryReceiverOptions[Kind]>

const contents: Readonly<Record<HandlerName, string>> = { onEvents: "event batches", onStatus: "shipment status", onCharges: "freight charges" }

const firstOfEachId = (events: ReadonlyArray<TransitEvent>): ReadonlyArray<TransitEvent> => {
  const ids = new Set<string>()
  return events.filter(({ eventId }) => !ids.has(eventId) && ids.add(eventId))
}

const nothingToReport: SequenceReport = { missing: [], late: [], outOfOrder: [], repeated: [] }

const newToken = (): string => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("")
