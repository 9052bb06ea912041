/** HMAC-SHA256 by `node:crypto`. */
import type { HmacSha256 } from "@waybill/core"
import { createHmac } from "node:crypto"

export const hmacSha256: HmacSha256 = (key, pieces) => {
  const hmac = createHmac("sha256", key)
  for (const piece of pieces) hmac.update(piece)
  return hmac.digest("base64")
}
