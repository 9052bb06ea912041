/** Takes deliveries of transit events, shipment status and freight charges: verified, and each once. */
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
 * A delivery goes to the handler of its kind, told by the shape of its body; at least one handler is needed. When a
 * handler fails, nothing of the delivery counts as handled and the sender sends it again.
 */
export interface DeliveryReceiverOptions {
  /**
   * Every secret that may have signed, or a function that is asked at each delivery: for secrets that rotate. Can be left
   * out only where `unsigned` is `accept`.
   */
  readonly secrets?: WebhookSecrets | (() => WebhookSecrets | Promise<WebhookSecrets>) | undefined
  /** Gets the transit events that were not handled before, in the order of their delivery. */
  readonly onEvents?: ((events: ReadonlyArray<TransitEvent>, context: DeliveryContext) => unknown) | undefined
  /** Gets each notification of a shipment's status once. */
  readonly onStatus?: ((notification: StatusNotification, context: NotificationContext) => unknown) | undefined
  /** Gets each delivery of freight charges once. `pfc.isTest` marks the sample of a webhook test. */
  readonly onCharges?: ((charges: ReadonlyArray<PreliminaryFreightCharge>, context: NotificationContext) => unknown) | undefined
  /** Which signature must be there. Default `standard-webhooks`; the other carries no time and cannot stop a late replay. */
  readonly signature?: "standard-webhooks" | "x-signature" | undefined
  /**
   * `accept` takes shipment status and freight charges without a signature too: they come so until a secret is registered
   * for you. Anybody who knows the address can then make them up. Event batches are always signed. Default `refuse`.
   */
  readonly unsigned?: "refuse" | "accept" | undefined
  /** What was handled. Default: in this process's memory. */
  readonly seen?: SeenStore | undefined
  /**
   * Which sequence numbers of events came. Default: in this process's memory. `false` where the subscription filters event
   * types, because then gaps are normal.
   */
  readonly sequences?: SequenceStore | false | undefined
  /** Names the sender. Senders that share a `SeenStore` need different names, so that none can hide another's deliveries. */
  readonly source?: string | undefined
  /** Largest body. Default 5 MiB; freight charges of a whole day may need more. */
  readonly mostBytes?: number | undefined
  /** How far the sender's clock may be away, either way. Default 300. */
  readonly toleranceSeconds?: number | undefined
  /** Longer than a handler ever takes: after that a delivery whose handling never ended is free again. Default 60. */
  readonly claimSeconds?: number | undefined
  /** How a taken delivery is answered; both tell the sender not to send it again. Default 200. */
  readonly acknowledgeWith?: 200 | 202 | undefined
  /** Hears of every failure that is not the sender's: of the handlers, the stores, the set-up. Default: `console.error`. */
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

/** What `onStatus` and `onCharges` are told besides. */
export interface NotificationContext {
  /** `webhook-id`: the same for every attempt. */
  readonly deliveryId: string
  /** False only where `unsigned` is `accept`: nothing vouches for what came. */
  readonly signed: boolean
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
  /** How many events, notifications or charges went to their handler. */
  readonly handled: number
  /** How many had been handled before. */
  readonly duplicates: number
}

export class DeliveryReceiver {
  readonly #options: DeliveryReceiverOptions
  readonly #seen: SeenStore
  readonly #sequences: SequenceStore | undefined
  readonly #mostBytes: number

  constructor(options: DeliveryReceiverOptions) {
    const { onCharges, onEvents, onStatus, secrets, unsigned } = options
    // a bad secret shows when the program starts, not with the first delivery
    if (typeof secrets !== "function" && !(secrets === undefined && unsigned === "accept")) readSecrets(secrets as WebhookSecrets)
    if (onEvents === undefined && onStatus === undefined && onCharges === undefined) throw new TypeError("Give onEvents, onStatus or onCharges.")
    this.#options = options
    this.#seen = options.seen ?? new SeenInMemory()
    this.#sequences = options.sequences === false ? undefined : options.sequences ?? new SequencesInMemory()
    this.#mostBytes = options.mostBytes ?? 5 * 1024 * 1024
  }

  /**
   * Takes a request and answers it; never rejects. 200 (or 202) when the delivery was handled now or before, 401 when
   * its signature does not stand, 400 when it is nothing there is a handler for, 413 when it is too large, 503 when it is
   * being handled right now, 500 when its handler fails, so that the sender comes again.
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

  /** A signature that came must stand, unless there is no secret to check it with. */
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
    let fresh: ReadonlyArray<TransitEvent> = []
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
      fresh = found
    })
    // the events are handled; not knowing their numbers only makes a later report poorer
    if (fresh.length > 0) await this.#orReport(() => this.#sequences?.add(sequencesOf(fresh)))
    return { deliveryId: batch.deliveryId, handled: fresh.length, duplicates: batch.events.length - fresh.length }
  }

  async #takeNotification(
    headers: DeliveryHeaders,
    { deliveryId = readDeliveryId(headers), signed }: Verified,
    count: number,
    give: (context: NotificationContext) => unknown
  ): Promise<DeliveryReceipt> {
    // remembered apart: what anybody may post must not pass for a delivery that is signed
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
   * Claims the ids, hands over, and only then remembers them. The first id is the delivery's: answers false, and hands
   * nothing over, when it was handled before.
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
      throw new DeliveryRefused("in_progress", "This delivery, or some of its events, is being handled right now.")
    }
    try {
      await give(isNew)
    } catch (error) {
      await this.#orReport(() => this.#seen.release(claimed, claim))
      // a handler that verifies something itself must not have its failure taken for ours
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
  #idOf(kind: "delivery" | "event" | "notification" | "unsigned", id: string): string {
    const source = this.#options.source ?? ""
    return `${source.length}:${source}:${kind}:${id}`
  }
}

interface Verified {
  readonly signed: boolean
  /** Where the signature vouches for it. */
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
