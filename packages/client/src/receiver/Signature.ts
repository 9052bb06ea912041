/** Standard Webhooks signatures, and the older `X-Signature`: made and checked. */
import { type DeliveryHeaders, readHeader } from "./DeliveryHeaders.ts"
import { DeliveryRefused, RawBodyNeeded } from "./DeliveryRefused.ts"
import { readSecrets, type WebhookSecrets } from "./WebhookSecret.ts"

export interface VerifyDeliveryOptions {
  /** Every secret that may have signed: during a rotation the new and the old one. */
  readonly secrets: WebhookSecrets
  readonly headers: DeliveryHeaders
  /** The body's bytes exactly as they came, before anything parsed them. */
  readonly body: Uint8Array
  /** When the request came. Default: now. */
  readonly now?: Date | undefined
  /** How far the sender's clock may be away, either way. Default 300. */
  readonly toleranceSeconds?: number | undefined
}

/** What a good signature vouches for. */
export interface VerifiedDelivery {
  /** `webhook-id`: the same for every attempt. */
  readonly deliveryId: string
  /** When this attempt was signed. */
  readonly signedAt: Date
  /** Which of the secrets fitted. When it is always the newest, the old one can go. */
  readonly secretIndex: number
}

export interface SignDeliveryOptions {
  /** Every secret signs. */
  readonly secrets: WebhookSecrets
  readonly deliveryId: string
  readonly body: Uint8Array
  /** When this attempt is signed. Default: now. */
  readonly now?: Date | undefined
}

/** A type and not an interface, so that it fits wherever headers of any name do. */
export type SignatureHeaders = {
  readonly "webhook-id": string
  readonly "webhook-timestamp": string
  readonly "webhook-signature": string
}

const longestId = 256
const longestSignatureHeader = 8192
/** Signatures of known version that are compared; a sender in rotation sends two. */
const mostSignatures = 32
/** No dot: it separates what is signed, and `a.1` at time `2` would read like `a` at `1.2`. */
const plainId = new RegExp(`^[\\x21-\\x2d\\x2f-\\x7e]{1,${longestId}}$`)

/**
 * Checks a delivery by Standard Webhooks: id, time and body under any of the secrets.
 *
 * Fails with `DeliveryRefused` when the delivery must not be believed, and with `WebhookSecretUnusable` or
 * `RawBodyNeeded` when this receiver is set up wrongly.
 */
export const verifyDelivery = async (options: VerifyDeliveryOptions): Promise<VerifiedDelivery> => {
  const keys = readSecrets(options.secrets)
  const id = readHeader(options.headers, "webhook-id", longestId)
  const timestamp = readHeader(options.headers, "webhook-timestamp", 64)
  const signatures = knownSignatures(readHeader(options.headers, "webhook-signature", longestSignatureHeader))
  checkId(id)
  if (!/^\d{1,12}$/.test(timestamp)) throw new DeliveryRefused("timestamp_malformed", "The webhook-timestamp is not a Unix time in seconds.")
  const signedAt = new Date(Number(timestamp) * 1000)
  checkAge(signedAt, options.now ?? new Date(), options.toleranceSeconds ?? 300)
  const secretIndex = await matchingKey(keys, signedContent(id, timestamp, options.body), signatures)
  return { deliveryId: id, signedAt, secretIndex }
}

/** `webhook-id` where no signature vouches for it. */
export const readDeliveryId = (headers: DeliveryHeaders): string => {
  const id = readHeader(headers, "webhook-id", longestId)
  checkId(id)
  return id
}

const checkId = (id: string): void => {
  if (!plainId.test(id)) throw new DeliveryRefused("id_malformed", "The webhook-id has a dot, a blank or a character outside ASCII.")
}

/** Makes the headers of a delivery, so that a receiver can be tested without a sender. */
export const signDelivery = async (options: SignDeliveryOptions): Promise<SignatureHeaders> => {
  const keys = readSecrets(options.secrets)
  if (!plainId.test(options.deliveryId)) {
    throw new TypeError(`A deliveryId is 1 to ${longestId} printable ASCII characters without blanks and dots.`)
  }
  const timestamp = String(Math.floor((options.now ?? new Date()).getTime() / 1000))
  const content = signedContent(options.deliveryId, timestamp, options.body)
  const signatures = await Promise.all(keys.map(async (key) => `v1,${await hmac(key, content)}`))
  return { "webhook-id": options.deliveryId, "webhook-timestamp": timestamp, "webhook-signature": signatures.join(" ") }
}

/**
 * Checks the older `X-Signature`: base64 of HMAC-SHA256 over the bare body.
 *
 * It vouches for the body only. It carries no time, so a copy of a delivery stays good for ever: prefer
 * `verifyDelivery`, and remember delivery ids for long where you cannot. Waybill makes it with the newest secret only,
 * so in a rotation the receiver has to know the new secret first.
 */
export const verifyXSignature = async (
  options: Pick<VerifyDeliveryOptions, "secrets" | "headers" | "body">
): Promise<Pick<VerifiedDelivery, "secretIndex">> => {
  const keys = readSecrets(options.secrets)
  const signature = readHeader(options.headers, "x-signature", longestSignatureHeader)
  return { secretIndex: await matchingKey(keys, copyOfBytes(options.body), [signature]) }
}

/** Makes the `X-Signature` header of a body under the first secret. */
export const signXSignature = async (
  options: Pick<SignDeliveryOptions, "secrets" | "body">
): Promise<{ readonly "x-signature": string }> => ({
  "x-signature": await hmac(readSecrets(options.secrets)[0]!, copyOfBytes(options.body))
})

/** A copy of the body's bytes: what is checked is what is used, whoever writes to the buffer meanwhile. Refuses text and parsed objects. */
export const copyOfBytes = (body: unknown, prefix = new Uint8Array()): Uint8Array<ArrayBuffer> => {
  if (ArrayBuffer.isView(body)) {
    const copy = new Uint8Array(prefix.length + body.byteLength)
    copy.set(prefix)
    copy.set(new Uint8Array(body.buffer, body.byteOffset, body.byteLength), prefix.length)
    return copy
  }
  throw new RawBodyNeeded(
    "The body must be a Uint8Array with the bytes as they came; text or a parsed object cannot be verified. "
      + "In Express use express.raw({ type: \"*/*\" }) on this route, before any express.json(); in Fastify add a content type parser with parseAs: \"buffer\"."
  )
}

/** The base64 parts of `v1,…` signatures. Versions we do not know are somebody else's and prove nothing. */
const knownSignatures = (header: string): ReadonlyArray<string> => {
  const signatures = header.split(" ").filter((part) => part.startsWith("v1,")).slice(0, mostSignatures).map((part) => part.slice(3))
  if (signatures.length === 0) throw new DeliveryRefused("no_known_signature", "The webhook-signature has no v1 signature.")
  return signatures
}

/** Written so that a time or tolerance that is no number refuses too. */
const checkAge = (signedAt: Date, now: Date, toleranceSeconds: number): void => {
  if (!(Number.isFinite(toleranceSeconds) && toleranceSeconds >= 0)) throw new RangeError("toleranceSeconds is a number from 0.")
  const age = Math.floor(now.getTime() / 1000) - signedAt.getTime() / 1000
  if (Number.isNaN(age)) throw new RangeError("now is not a valid Date.")
  if (age > toleranceSeconds) {
    throw new DeliveryRefused("timestamp_too_old", `The delivery was signed ${age} seconds ago; ${toleranceSeconds} are allowed. Are both clocks right?`)
  }
  if (-age > toleranceSeconds) {
    throw new DeliveryRefused("timestamp_in_future", `The delivery was signed ${-age} seconds ahead of this clock; ${toleranceSeconds} are allowed. Are both clocks right?`)
  }
}

/** The first key under which one of the signatures fits. The body is hashed once a key, however many signatures came. */
const matchingKey = async (
  keys: ReadonlyArray<Uint8Array<ArrayBuffer>>,
  content: Uint8Array<ArrayBuffer>,
  signatures: ReadonlyArray<string>
): Promise<number> => {
  for (const [index, key] of keys.entries()) {
    const expected = await hmac(key, content)
    if (signatures.some((signature) => isSame(signature, expected))) return index
  }
  throw new DeliveryRefused("signature_mismatch", "No signature fits. Is it the right secret, and are these the bytes as they came?")
}

/**
 * Compares as text, not as decoded bytes: base64 has several spellings of the same bytes, and only one is right. Takes
 * the same time wherever the difference is.
 */
const isSame = (given: string, expected: string): boolean => {
  if (given.length !== expected.length) return false
  let difference = 0
  for (let at = 0; at < expected.length; at++) difference |= given.charCodeAt(at) ^ expected.charCodeAt(at)
  return difference === 0
}

const signedContent = (id: string, timestamp: string, body: Uint8Array): Uint8Array<ArrayBuffer> =>
  copyOfBytes(body, new TextEncoder().encode(`${id}.${timestamp}.`))

const hmac = async (key: Uint8Array<ArrayBuffer>, content: Uint8Array<ArrayBuffer>): Promise<string> => {
  const imported = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"])
  return btoa(String.fromCharCode(...new Uint8Array(await crypto.subtle.sign("HMAC", imported, content))))
}
