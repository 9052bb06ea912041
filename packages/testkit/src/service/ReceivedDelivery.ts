/** A delivery as a receiver got it, and the result of its signature check. */
import { parseSecret, signatureHeader } from "@waybill/core/delivery"
import type { PreliminaryFreightCharge } from "@waybill/core/freight-charges"
import type { DeliveryInformation, DeliveryUpdate } from "@waybill/core/shipment-status"
import type { TransitEvent } from "@waybill/core/transit-events"
import { HmacNode } from "@waybill/http"
import { type ReceivedRequest, jsonOf } from "../delivery/WebhookSenderScripted.ts"
import { verifySignature } from "../delivery/verifySignature.ts"

/**
 * - `good`: signed with a secret of the service, over this id, time and body.
 * - `stale`: good, but signed more than 5 minutes before or after it arrived.
 * - `wrong`: signed with another key.
 * - `none`: the subscription names no secret.
 */
export type SignatureState = "good" | "stale" | "wrong" | "none"

/** A request that reached a receiver. */
export interface ReceivedDelivery {
  /** `webhook-id`: the same for every attempt. */
  readonly deliveryId: string
  readonly headers: Readonly<Record<string, string>>
  /** The body parsed as JSON. */
  readonly body: unknown
  /** The events of an area D delivery; empty for others. */
  readonly events: ReadonlyArray<TransitEvent>
  /** The notification of an area A delivery: a delivery update or a delivery information. */
  readonly notice: (Partial<DeliveryUpdate> & Partial<DeliveryInformation>) | undefined
  /** The charges of an area E delivery; empty for others. */
  readonly charges: ReadonlyArray<PreliminaryFreightCharge>
  /** The bytes that were signed. */
  readonly bytes: Uint8Array
  readonly signature: SignatureState
  /** On the virtual clock. */
  readonly at: Date
  /**
   * The status that your handler or the scripted answer gave, `refuse`, or `hang` when the sender's deadline passed. `undefined` until then.
   * A fault on the way may keep it from the sender.
   */
  readonly answer: number | "refuse" | "hang" | undefined
}

/** The clock tolerance of Standard Webhooks. */
const toleranceMillis = 300_000

export const receivedDelivery = (request: ReceivedRequest, secrets: Iterable<string>, at: number): Omit<ReceivedDelivery, "answer"> => ({
  deliveryId: request.headers["webhook-id"] ?? "",
  headers: request.headers,
  ...readAs(jsonOf(request)),
  bytes: request.body,
  signature: signatureState(request, secrets, at),
  at: new Date(at)
})

/** The body differs by area: a batch of events, an array of charges, one notification. */
const readAs = (body: unknown): Pick<ReceivedDelivery, "body" | "events" | "notice" | "charges"> => {
  const nothing = { body, events: [], notice: undefined, charges: [] }
  if (Array.isArray(body)) return { ...nothing, charges: body }
  if (typeof body !== "object" || body === null) return nothing
  return "events" in body ? { ...nothing, events: body.events as ReadonlyArray<TransitEvent> } : { ...nothing, notice: body }
}

const signatureState = (request: ReceivedRequest, secrets: Iterable<string>, at: number): SignatureState => {
  if (request.headers["webhook-signature"] === undefined) return "none"
  if (![...secrets].some((secret) => verifySignature(secret, request))) return "wrong"
  return Math.abs(Number(request.headers["webhook-timestamp"]) * 1000 - at) > toleranceMillis ? "stale" : "good"
}

/** The same delivery from a sender whose clock is behind, or ahead if negative. Unsigned deliveries stay unchanged. */
export const skewed = (request: ReceivedRequest, secrets: Iterable<string>, behindMillis: number): ReceivedRequest => {
  const timestampSeconds = Math.floor(Number(request.headers["webhook-timestamp"]) - behindMillis / 1000)
  const signers = [...secrets].filter((secret) => verifySignature(secret, request))
  return signers.length === 0 ? request : signed(request, signers.map((secret) => parseSecret(secret)!), timestampSeconds)
}

/** The same delivery, signed with an unknown key. An unsigned one gets such a signature, too. */
export const wronglySigned = (request: ReceivedRequest): ReceivedRequest =>
  signed(request, [new Uint8Array(32)], Number(request.headers["webhook-timestamp"] ?? Math.floor(request.at / 1000)))

const signed = (request: ReceivedRequest, keys: ReadonlyArray<Uint8Array>, timestampSeconds: number): ReceivedRequest => {
  const { body, headers } = request
  const signature = signatureHeader(HmacNode.sha256, keys, { deliveryId: headers["webhook-id"] ?? "", timestampSeconds, body: [body] })
  // the older header has no time, so only another key changes it
  const older = headers["x-signature"] === undefined ? {} : { "x-signature": HmacNode.sha256(keys[0]!, [body]) }
  return { ...request, headers: { ...headers, ...older, "webhook-timestamp": String(timestampSeconds), "webhook-signature": signature } }
}
