/** HMAC-SHA256 by `node:crypto`, and the receiver's side of it: whether a request is signed as Standard Webhooks asks. */
import { type HmacSha256, parseSecret, signatureHeader } from "@waybill/core"
import { createHmac, timingSafeEqual } from "node:crypto"

export const hmacSha256: HmacSha256 = (key, pieces) => {
  const hmac = createHmac("sha256", key)
  for (const piece of pieces) hmac.update(piece)
  return hmac.digest("base64")
}

/** What a receiver has in hand when it checks a signature. */
export interface SignedRequest {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

const encoder = new TextEncoder()

/** Whether one of the request's signatures was made with this secret (`whsec_…`) over its id, timestamp and body. */
export const verifySignature = (secret: string, { body, headers }: SignedRequest): boolean => {
  const key = parseSecret(secret)
  if (key === undefined) return false
  const timestampSeconds = Number(headers["webhook-timestamp"])
  const expected = encoder.encode(signatureHeader(hmacSha256, [key], { deliveryId: headers["webhook-id"] ?? "", timestampSeconds, body: [body] }))
  return (headers["webhook-signature"] ?? "").split(" ").some((each) => {
    const given = encoder.encode(each)
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
}
