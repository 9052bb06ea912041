/** Standard Webhooks signatures: the signed content and the headers. SPEC-GAP-D3 */
import { Base64 } from "effect/encoding"
import { Result } from "effect"
import type { RequestBody } from "./RequestBody.ts"

/** HMAC-SHA256 of the pieces as if they were one, in base64. */
export type HmacSha256 = (key: Uint8Array, pieces: RequestBody) => string

/** The signed parts of an attempt. `timestampSeconds`: Unix time of the attempt, not of the delivery. */
export interface SignedContent {
  readonly deliveryId: string
  readonly timestampSeconds: number
  readonly body: RequestBody
}

/** The `webhook-signature` header: one `v1` signature for each live key, newest first, separated by blanks. */
export const signatureHeader = (hmac: HmacSha256, keys: ReadonlyArray<Uint8Array>, content: SignedContent): string => {
  const signed = [`${content.deliveryId}.${content.timestampSeconds}.`, ...content.body]
  return keys.map((key) => `v1,${hmac(key, signed)}`).join(" ")
}

/**
 * The headers of a request, unsigned without keys. `isBodySigned`: with the older `X-Signature` too, the HMAC of the body alone. That has no time, so it does not
 * prevent replays.
 */
export const requestHeaders = (hmac: HmacSha256, keys: ReadonlyArray<Uint8Array>, content: SignedContent, isBodySigned: boolean): Readonly<Record<string, string>> => {
  const named = { "content-type": "application/json", "webhook-id": content.deliveryId, "webhook-timestamp": String(content.timestampSeconds) }
  if (keys.length === 0) return named
  const signed = { ...named, "webhook-signature": signatureHeader(hmac, keys, content) }
  return isBodySigned ? { ...signed, "x-signature": hmac(keys[0]!, content.body) } : signed
}

/** The bytes of a secret: `whsec_` and standard base64 of 24 to 64 bytes; `undefined` for other text. */
export const parseSecret = (text: string): Uint8Array | undefined => {
  const match = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/.exec(text)
  if (match === null) return undefined
  const bytes = Result.getOrUndefined(Base64.decode(match[1]!))
  return bytes !== undefined && bytes.length >= 24 && bytes.length <= 64 ? bytes : undefined
}

/** The secret as text, the inverse of `parseSecret`. */
export const formatSecret = (bytes: Uint8Array): string => `whsec_${Base64.encode(bytes)}`
