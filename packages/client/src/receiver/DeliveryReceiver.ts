/** Receives webhook deliveries of every area: verifies and deduplicates them. */
import type { PreliminaryFreightCharge } from "../freight-charges/FreightCharge.ts"
import type { PickupChange } from "../intake/ReportedPickup.ts"
import type { NoticeEvent, WebhookTestEvent } from "../portal/PortalWebhooks.ts"
import { checkOptions, either, oneOf, type OptionKinds, optionKinds } from "../shared/CheckOptions.ts"
import { randomToken } from "../shared/RandomToken.ts"
import type { StatusNotification } from "../shipment-status/StatusNotification.ts"
import type { TransitEvent } from "../transit-events/TransitEvent.ts"
import { answerTo, type DeliveryAnswer } from "./DeliveryAnswer.ts"
import { copyOfBytes, type DeliveryBody } from "./DeliveryBody.ts"
import { type DeliveryHeaders, hasHeader } from "./DeliveryHeaders.ts"
import { DeliveryRefused, RawBodyNeeded } from "./DeliveryRefused.ts"
import { type DeliveryContent, readContent } from "./ReceivedDelivery.ts"
import { readRequestBody, tooLarge } from "./RequestBody.ts"
import { SeenInMemory } from "./SeenInMemory.ts"
import type { ClaimAnswer, SeenStore, TransactionalSeenStore } from "./SeenStore.ts"
import { reportSequences, type SequenceReport, SequencesInMemory, type SequenceStore, sequencesOf } from "./Sequences.ts"
import { isTolerance, readDeliveryId, type SignatureScheme, verifyDelivery, verifyXSignature } from "./Signature.ts"
import { readSecrets, type WebhookSecrets } from "./WebhookSecret.ts"

/**
 * A delivery goes to the handler of its kind, which is recognized by the shape of the body; at least one handler is
 * required. When a handler fails, nothing of the delivery counts as handled and the sender retries it.
 */
export interface DeliveryReceiverOptions<Transaction = undefined> {
  /**
   * All secrets that may have signed, or a function that is called for each delivery, for rotated secrets. Optional
   * only with `unsigned: "accept"`.
   */
  readonly secrets?: WebhookSecrets | (() => WebhookSecrets | Promise<WebhookSecrets>) | undefined
  /** Receives transit events that were not handled before, in the order of the delivery. */
  readonly onEvents?: ((events: ReadonlyArray<TransitEvent>, context: DeliveryContext<Transaction>) => unknown) | undefined
  /** Receives each shipment status notification once. */
  readonly onStatus?: ((notification: StatusNotification, context: NotificationContext<Transaction>) => unknown) | undefined
  /** Receives each delivery of freight charges once. `pfc.isTest` marks the sample of a webhook test. */
  readonly onCharges?: ((charges: ReadonlyArray<PreliminaryFreightCharge>, context: NotificationContext<Transaction>) => unknown) | undefined
  /** For carriers: receives each delivery of entries of the work list of pickups once. A replay sends them again in another delivery. */
  readonly onPickups?: ((changes: ReadonlyArray<PickupChange>, context: NotificationContext<Transaction>) => unknown) | undefined
  /** Receives each notice that an endpoint of yours needs attention once. */
  readonly onNotice?: ((notice: NoticeEvent, context: NotificationContext<Transaction>) => unknown) | undefined
  /** Called for test events, which are accepted without it too. */
  readonly onTest?: ((test: WebhookTestEvent, context: NotificationContext<Transaction>) => unknown) | undefined
  /** Required signature. Default `standard-webhooks`. `x-signature` has no timestamp and cannot stop late replays. */
  readonly signature?: SignatureScheme | undefined
  /**
   * `accept`: also take shipment status and freight charges without a signature, as they are sent until a secret is
   * registered for you. Anyone who knows the URL can forge them. Events, pickups and notices are always signed. Default `refuse`.
   */
  readonly unsigned?: "refuse" | "accept" | undefined
  /**
   * Remembers handled ids. `SeenInMemory` is enough only for one process that runs all the time;
   * `SeenInPostgresTransaction` gives each delivery its effect exactly once. There is no default, because a store that forgets
   * too early shows only in production, as effects that happen twice.
   */
  readonly seen: TransactionalSeenStore<Transaction> | (undefined extends Transaction ? SeenStore : never)
  /**
   * Remembers received sequence numbers of events. Default: in memory with `SeenInMemory`, otherwise none, because one
   * of several processes would report gaps that do not exist. `false` for subscriptions that filter event types, because
   * gaps are normal there.
   */
  readonly sequences?: SequenceStore | false | undefined
  /** Name of the sender. Senders that share a `SeenStore` need different names, otherwise one could suppress another's deliveries. */
  readonly source?: string | undefined
  /** Maximum body size in bytes. Default 5 MiB; freight charges of a whole day may need more. */
  readonly mostBytes?: number | undefined
  /** Maximum clock difference to the sender in seconds, in both directions. Default 300. */
  readonly toleranceSeconds?: number | undefined
  /** Must be longer than a handler runs. After this time an unfinished delivery can be handled again. Default 60. Not used with a `TransactionalSeenStore`. */
  readonly claimSeconds?: number | undefined
  /** Status of the response to a handled delivery; the sender stops retrying with both. Default 200. */
  readonly acknowledgeWith?: 200 | 202 | undefined
  /** Called with every failure on this side: handlers, stores, configuration. Default: `console.error`. */
  readonly onError?: ((error: unknown) => void) | undefined
  readonly now?: (() => Date) | undefined
}

/** Second argument of `onEvents`. */
export interface DeliveryContext<Transaction = undefined> {
  readonly deliveryId: string
  readonly sentAt: string
  /** Events of this delivery that were handled before and are not passed again. */
  readonly duplicates: ReadonlyArray<TransitEvent>
  /** Empty lists without `sequences`. */
  readonly order: SequenceReport
  /** With a `TransactionalSeenStore`: writes on this transaction are committed together with the ids of this delivery. */
  readonly transaction: Transaction
}

/** Second argument of all handlers but `onEvents`. */
export interface NotificationContext<Transaction = undefined> {
  /** `webhook-id`: the same for every attempt. */
  readonly deliveryId: string
  /** False only with `unsigned: "accept"`: the content is not authenticated. */
  readonly signed: boolean
  /** As in `DeliveryContext`. */
  readonly transaction: Transaction
}

/** A request as headers and raw body. */
export interface RawDelivery {
  readonly headers: DeliveryHeaders
  /** As received, before any parser. */
  readonly body: DeliveryBody
}

/** Result of a handled delivery. */
export interface DeliveryReceipt {
  readonly deliveryId: string
  /** Number of items that were passed to their handler. */
  readonly handled: number
  /** Number of items that had been handled before. */
  readonly duplicates: number
}

const { function: callback, number, object, text } = optionKinds

const kinds: OptionKinds<DeliveryReceiverOptions<unknown>> = {
  // these two are checked with messages of their own
  secrets: ["a secret or several", () => true],
  seen: ["a store", () => true],
  onEvents: callback,
  onStatus: callback,
  onCharges: callback,
  onPickups: callback,
  onNotice: callback,
  onTest: callback,
  signature: oneOf("standard-webhooks", "x-signature"),
  unsigned: oneOf("refuse", "accept"),
  sequences: either(oneOf(false), object),
  source: text,
  mostBytes: number,
  toleranceSeconds: ["a number of seconds from 0", isTolerance],
  claimSeconds: number,
  acknowledgeWith: oneOf(200, 202),
  onError: callback,
  now: callback
}

/** Receives deliveries. `Transaction` is what a `TransactionalSeenStore` passes to handlers. */
export class DeliveryReceiver<Transaction = undefined> {
  readonly #options: DeliveryReceiverOptions<Transaction>
  readonly #sequences: SequenceStore | undefined
  readonly #mostBytes: number

  constructor(options: DeliveryReceiverOptions<Transaction>) {
    checkOptions("DeliveryReceiver", options, kinds)
    const { secrets, seen, sequences, unsigned } = options
    // Fail at startup with a bad secret, not with the first delivery.
    if (typeof secrets !== "function" && !(secrets === undefined && unsigned === "accept")) readSecrets(secrets as WebhookSecrets)
    if (handlerNames.every((name) => options[name] === undefined)) throw new TypeError(`Give one of ${handlerNames.join(", ")}.`)
    if (typeof seen !== "object" || seen === null) throw new TypeError("Give seen: new SeenInMemory() for one process, or a store that all processes share.")
    this.#options = options
    const inMemory = seen instanceof SeenInMemory ? new SequencesInMemory() : undefined
    this.#sequences = sequences === false ? undefined : sequences ?? inMemory
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

  /** Like `handle`, for frameworks that have the raw body and no `Request`. */
  readonly answer = (delivery: RawDelivery): Promise<DeliveryAnswer> => this.#answered(() => this.receive(delivery))

  /** Handles a delivery and leaves the response to you. Fails with `DeliveryRefused`, or with the error of a handler or store. */
  async receive({ body, headers }: RawDelivery): Promise<DeliveryReceipt> {
    // Text has at least as many bytes as characters.
    const size = typeof body === "string" ? body.length : body?.byteLength
    if (size > this.#mostBytes) throw tooLarge(this.#mostBytes)
    const bytes = copyOfBytes(body)
    if (bytes.length > this.#mostBytes) throw tooLarge(this.#mostBytes)
    return this.#take(headers, bytes)
  }

  async #take(headers: DeliveryHeaders, body: Uint8Array): Promise<DeliveryReceipt> {
    const verified = await this.#verify(headers, body)
    const received = readContent(body)
    switch (received.kind) {
      case "events":
        this.#requireSignature(verified)
        return this.#takeEvents(received)
      case "status": {
        const onStatus = this.#handler("onStatus")
        return this.#takeNotification(headers, verified, 1, (context) => onStatus(received.notification, context))
      }
      case "charges": {
        const onCharges = this.#handler("onCharges")
        return this.#takeNotification(headers, verified, received.charges.length, (context) => onCharges(received.charges, context))
      }
      case "pickups": {
        this.#requireSignature(verified)
        const onPickups = this.#handler("onPickups")
        const { deliveryId, pickups } = received
        return this.#takeOnce(this.#idOf("delivery", deliveryId), { deliveryId, signed: true }, pickups.length, (context) => onPickups(pickups, context))
      }
      case "notice": {
        this.#requireSignature(verified)
        const onNotice = this.#handler("onNotice")
        return this.#takeNotification(headers, verified, 1, (context) => onNotice(received.notice, context))
      }
      case "test":
        return this.#takeNotification(headers, verified, 1, (context) => this.#options.onTest?.(received.test, context))
    }
  }

  get #signatureHeader(): string {
    return this.#options.signature === "x-signature" ? "x-signature" : "webhook-signature"
  }

  /** Bodies that Waybill always signs need a signature, regardless of `unsigned`. */
  #requireSignature({ signed }: Verified): void {
    if (!signed) throw new DeliveryRefused("header_missing", `The header ${this.#signatureHeader} is missing; only shipment status and freight charges may be unsigned.`)
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

  async #takeEvents(batch: Extract<DeliveryContent, { readonly kind: "events" }>): Promise<DeliveryReceipt> {
    const onEvents = this.#handler("onEvents")
    const events = firstOfEachKey(batch.events)
    const parts = events.map((event) => this.#idOf("event", keyOf(event)))
    let handled: ReadonlyArray<TransitEvent> = []
    await this.#once([this.#idOf("delivery", batch.deliveryId), ...parts], async (isNew, transaction) => {
      const found = events.filter((_, index) => isNew(index + 1))
      if (found.length > 0) {
        const arrived = await this.#sequences?.arrived([...sequencesOf(found).keys()])
        await onEvents(found, {
          deliveryId: batch.deliveryId,
          sentAt: batch.sentAt,
          duplicates: batch.events.filter((event) => !found.includes(event)),
          order: arrived === undefined ? nothingToReport : reportSequences(arrived, found),
          transaction
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
    give: (context: NotificationContext<Transaction>) => unknown
  ): Promise<DeliveryReceipt> {
    // Separate ids: an unsigned delivery, which anyone can post, must not suppress a signed one.
    return this.#takeOnce(this.#idOf(signed ? "notification" : "unsigned", deliveryId), { deliveryId, signed }, count, give)
  }

  /** `id`: of "delivery" if the body has it, because `x-signature` does not cover the header, and a copy with another header must not suppress a later delivery. */
  async #takeOnce(
    id: string,
    { deliveryId, signed }: Required<Verified>,
    count: number,
    give: (context: NotificationContext<Transaction>) => unknown
  ): Promise<DeliveryReceipt> {
    const isNew = await this.#once([id], async (_, transaction) => {
      await give({ deliveryId, signed, transaction })
    })
    return { deliveryId, handled: isNew ? count : 0, duplicates: isNew ? 0 : count }
  }

  #handler<Kind extends HandlerName>(kind: Kind): Handler<Kind, Transaction> {
    const handler = this.#options[kind]
    if (handler === undefined) throw new DeliveryRefused("no_handler", `This receiver takes no ${contents[kind]}: it has no ${kind}.`)
    return handler as Handler<Kind, Transaction>
  }

  /**
   * Claims the ids, runs the handler, and marks them as seen. The first id is the delivery's: returns false without
   * running the handler when it was handled before.
   */
  async #once(ids: ReadonlyArray<string>, give: Give<Transaction>): Promise<boolean> {
    const { seen } = this.#options
    const outcome = await ("transact" in seen ? this.#onceInTransaction(seen, ids, give) : this.#onceWithClaims(seen, ids, give as Give<undefined>))
    if (outcome === "busy") throw new DeliveryRefused("in_progress", "This delivery, or some of its events, is in progress. Retry later.")
    return outcome === "claimed"
  }

  /** Commits the ids together with the writes of the handler. */
  async #onceInTransaction(seen: TransactionalSeenStore<Transaction>, ids: ReadonlyArray<string>, give: Give<Transaction>): Promise<ClaimAnswer> {
    let outcome: ClaimAnswer | undefined
    try {
      await seen.transact(ids, async (answers, transaction) => {
        outcome = outcomeOf(answers)
        if (outcome !== "claimed") throw new Error("Rolled back: there is nothing to handle.")
        await give((index) => answers[index] === "claimed", transaction)
      })
    } catch (error) {
      if (outcome === undefined || outcome === "claimed") throw handlerError(error)
    }
    if (outcome === undefined) throw new Error("The SeenStore did not call its handler.")
    return outcome
  }

  /** Ids are marked as seen only after the handler succeeded. */
  async #onceWithClaims(seen: SeenStore, ids: ReadonlyArray<string>, give: Give<undefined>): Promise<ClaimAnswer> {
    const claim = { token: randomToken(), seconds: this.#options.claimSeconds ?? 60 }
    const answers = await seen.claim(ids, claim)
    const isNew = (index: number) => answers[index] === "claimed"
    const claimed = ids.filter((_, index) => isNew(index))
    const outcome = outcomeOf(answers)
    if (outcome !== "claimed") {
      await this.#orReport(() => seen.release(claimed, claim))
      return outcome
    }
    try {
      await give(isNew, undefined)
    } catch (error) {
      await this.#orReport(() => seen.release(claimed, claim))
      throw handlerError(error)
    }
    await seen.markSeen(claimed, claim)
    return outcome
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
      // oxlint-disable-next-line no-console -- without onError, silence would hide why deliveries fail
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

/** Passes the new part of a delivery to the handler. */
type Give<Transaction> = (isNew: (index: number) => boolean, transaction: Transaction) => Promise<void>

/** Decides on a delivery by the claims of its own id, which is the first, and of its events. */
const outcomeOf = (answers: ReadonlyArray<ClaimAnswer>): ClaimAnswer =>
  answers[0] === "seen" ? "seen" : answers.includes("busy") ? "busy" : "claimed"

/** A handler may verify something itself: its errors must not look like errors of this delivery. */
const handlerError = (error: unknown): unknown =>
  error instanceof DeliveryRefused || error instanceof RawBodyNeeded ? new Error("The handler failed.", { cause: error }) : error

/** Without one of these a receiver takes nothing. */
const contents = {
  onEvents: "event batches",
  onStatus: "shipment status",
  onCharges: "freight charges",
  onPickups: "pickups",
  onNotice: "notices"
} as const

type HandlerName = keyof typeof contents
const handlerNames = Object.keys(contents) as ReadonlyArray<HandlerName>
type Handler<Kind extends HandlerName, Transaction> = NonNullable<DeliveryReceiverOptions<Transaction>[Kind]>

/** An eventId is unique for its shipment. Neither id has a line break. */
const keyOf = ({ eventId, shipment: { shipmentId } }: TransitEvent): string => `${shipmentId}\n${eventId}`

const firstOfEachKey = (events: ReadonlyArray<TransitEvent>): ReadonlyArray<TransitEvent> => {
  const keys = new Set<string>()
  return events.filter((event) => !keys.has(keyOf(event)) && keys.add(keyOf(event)))
}

const nothingToReport: SequenceReport = { missing: [], late: [], outOfOrder: [], repeated: [] }
