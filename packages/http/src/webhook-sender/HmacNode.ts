/** HMAC-SHA256 by `node:crypto`. */
import { Layer } from "effect"
import { createHmac } from "node:crypto"
import { Hmac } from "@waybill/core"

export const HmacNode = {
  /** The `Hmac` port over Node's own crypto. */
  layer: Layer.succeed(Hmac, {
    sha256: (key, chunks) => {
      const hmac = createHmac("sha256", key)
      for (const chunk of chunks) hmac.update(chunk)
      return hmac.digest()
    }
  })
}
