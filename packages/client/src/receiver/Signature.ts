/** Verifies and creates Standard Webhooks signatures and the older `X-Signature`. */
import type { Bytes } from "../shared/Bytes.ts"
import { copyOfBytes, type DeliveryBody } from "./DeliveryBody.ts"
import { type DeliveryHeaders, readHeader } from "./DeliveryHeaders.ts"
import { DeliveryRefused } from "./DeliveryRefused.ts"
import { readSecrets, type WebhookSecrets } from "./WebhookSecret.ts"

/** A received request and the secrets that verify it. */
export interface VerifyDeliveryOptions {
  /** All secrets that may have signed: the new and the old one during a rotation. */
  readonly secrets: WebhookSecrets
  readonly headers: DeliveryHeaders
  /** As received, before any parser. */
  readonly body: DeliveryBody
  /** When the request was received. Default: now. */
  readonly now?: Date | undefined
  /** Maximum clock difference to the sender in seconds, in both directions. Default 300. */
  readonly toleranceSeconds?: number | undefined
}

/** The values that a valid signature authenticates. */
export interface VerifiedDelivery {
  /** `webhook-id`: the same for every attempt. */
  readonly deliveryId: string
  /** When this attempt was signed. */
  readonly signedAt: Date
  /** Index of the secret that matched. When it is always the newest, the old one can be removed. */
  readonly secretIndex: number
}

/** `x-signature` authenticates only the body. */
export type SignatureScheme = "standard-webhooks" | "x-signature"

/** A type and not an interface, so that it is assignable to a record of headers. */
export type SignatureHeaders = {
  readonly "webhook-id": string
  readonly "webhook-timestamp": string
  readonly "webhook-signature": string
}

export const longestId = 256
const longestSignatureHeader = 8192
/** Maximum number of signatures to compare. A sender sends two during a rotation. */
const mostSignatures = 32
/** No dot: it separates the signed parts, and id `a.1` at time `2` would read like `a` at `1.2`. */
const plainId = new RegExp(`^[\\x21-\\x2d\\x2f-\\x7e]{1,${longestId}}$`)

/**
 * Verifies a delivery by Standard Webhooks: id, timestamp and body, with any of the secrets.
 *
 * Fails with `DeliveryRefused` when the delivery is not authentic, and with `WebhookSecretUnusable` or `RawBodyNeeded`
 * when this receiver is misconfigured.
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

/** Reads `webhook-id` of a delivery whose signature does not cover it. */
export const readDeliveryId = (headers: DeliveryHeaders): string => {
  const id = readHeader(headers, "webhook-id", longestId)
  checkId(id)
  return id
}

export const isDeliveryId = (id: string): boolean => plainId.test(id)

const checkId = (id: string): void => {
  if (!isDeliveryId(id)) throw new DeliveryRefused("id_malformed", "The webhook-id has a dot, a blank or a character outside ASCII.")
}

/** Signs by Standard Webhooks. Each secret adds a signature. */
export const standardSignature = async (
  { body, deliveryId, now, secrets }: { readonly secrets: WebhookSecrets; readonly deliveryId: string; readonly body: Uint8Array; readonly now: Date }
): Promise<SignatureHeaders> => {
  const keys = readSecrets(secrets)
  const timestamp = String(Math.floor(now.getTime() / 1000))
  const content = signedContent(deliveryId, timestamp, body)
  const signatures = await Promise.all(keys.map(async (key) => `v1,${await hmac(key, content)}`))
  return { "webhook-id": deliveryId, "webhook-timestamp": timestamp, "webhook-signature": signatures.join(" ") }
}

/**
 * Verifies the older `X-Signature`: base64 of HMAC-SHA256 over the body.
 *
 * It authenticates the body only. Without a timestamp, a copied delivery stays valid forever: prefer `verifyDelivery`,
 * or else remember delivery ids for a long time. Waybill signs it with the newest secret only, so during a rotation the
 * receiver must know the new secret first.
 */
export const verifyXSignature = async (
  options: Pick<VerifyDeliveryOptions, "secrets" | "headers" | "body">
): Promise<Pick<VerifiedDelivery, "secretIndex">> => {
  const keys = readSecrets(options.secrets)
  const signature = readHeader(options.headers, "x-signature", longestSignatureHeader)
  return { secretIndex: await matchingKey(keys, copyOfBytes(options.body), [signature]) }
}

/** Signs by `X-Signature`, with the first secret. */
export const bodySignature = async ({ body, secrets }: { readonly secrets: WebhookSecrets; readonly body: Uint8Array }): Promise<string> =>
  hmac(readSecrets(secrets)[0]!, copyOfBytes(body))

/** The base64 parts of the `v1,…` signatures. Other versions are ignored. */
const knownSignatures = (header: string): ReadonlyArray<string> => {
  const signatures = header.split(" ").filter((part) => part.startsWith("v1,")).slice(0, mostSignatures).map((part) => part.slice(3))
  if (signatures.length === 0) throw new DeliveryRefused("no_known_signature", "The webhook-signature has no v1 signature.")
  return signatures
}

/** Without an end there would be no protection from replays. */
export const isTolerance = (seconds: unknown): boolean => Number.isFinite(seconds) && (seconds as number) >= 0

/** Written so that NaN as time or tolerance refuses too. */
const checkAge = (signedAt: Date, now: Date, toleranceSeconds: number): void => {
  if (!isTolerance(toleranceSeconds)) throw new RangeError("toleranceSeconds is a number from 0.")
  const age = Math.floor(now.getTime() / 1000) - signedAt.getTime() / 1000
  if (Number.isNaN(age)) throw new RangeError("now is not a valid Date.")
  if (age > toleranceSeconds) {
    throw new DeliveryRefused("timestamp_too_old", `The delivery was signed ${age} seconds ago; ${toleranceSeconds} are allowed. Check both clocks.`)
  }
  if (-age > toleranceSeconds) {
    throw new DeliveryRefused("timestamp_in_future", `The delivery was signed ${-age} seconds ahead of this clock; ${toleranceSeconds} are allowed. Check both clocks.`)
  }
}

/** Index of the first key that matches a signature. Hashes the body once per key, regardless of the number of signatures. */
const matchingKey = async (
  keys: ReadonlyArray<Bytes>,
  content: Bytes,
  signatures: ReadonlyArray<string>
): Promise<number> => {
  for (const [index, key] of keys.entries()) {
    const expected = await hmac(key, content)
    if (signatures.some((signature) => isSame(signature, expected))) return index
  }
  throw new DeliveryRefused("signature_mismatch", "No signature matches. Check the secret, and that the body is the raw bytes of the request.")
}

/** Compares as text, not as decoded bytes: base64 has several spellings of the same bytes, and only one is valid. Constant time. */
const isSame = (given: string, expected: string): boolean => {
  if (given.length !== expected.length) return false
  let difference = 0
  for (let at = 0; at < expected.length; at++) difference |= given.charCodeAt(at) ^ expected.charCodeAt(at)
  return difference === 0
}

const signedContent = (id: string, timestamp: string, body: DeliveryBody): Bytes =>
  copyOfBytes(body, new TextEncoder().encode(`${id}.${timestamp}.`))

const hmac = async (key: Bytes, content: Bytes): Promise<string> => {
  const imported = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"])
  return btoa(String.fromCharCode(...new Uint8Array(await crypto.subtle.sign("HMAC", imported, content))))
}
