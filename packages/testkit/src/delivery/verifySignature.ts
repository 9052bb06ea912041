/** The receiver's side of a signature: whether a request is signed as Standard Webhooks asks. */
import { parseSecret, signatureHeader } from "@waybill/core/delivery"
import { HmacNode } from "@waybill/http"
import { timingSafeEqual } from "node:crypto"

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
  const expected = encoder.encode(signatureHeader(HmacNode.sha256, [key], { deliveryId: headers["webhook-id"] ?? "", timestampSeconds, body: [body] }))
  return (headers["webhook-signature"] ?? "").split(" ").some((each) => {
    const given = encoder.encode(each)
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
}
