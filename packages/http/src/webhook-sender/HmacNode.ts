/** HMAC-SHA256 by `node:crypto`. */
import { Layer } from "effect"
import { createHmac, createSecretKey, type KeyObject } from "node:crypto"
import { Hmac, type HmacSha256 } from "@waybill/core/delivery"

// Creating a key costs four times as much as signing, and all attempts of a subscription use the same keys.
const keys = new WeakMap<Uint8Array, KeyObject>()

const keyOf = (bytes: Uint8Array): KeyObject => {
  let key = keys.get(bytes)
  if (key === undefined) keys.set(bytes, key = createSecretKey(bytes))
  return key
}

const sha256: HmacSha256 = (key, pieces) => {
  const hmac = createHmac("sha256", keyOf(key))
  // Each update is a call into OpenSSL, so texts that follow one another are joined.
  let text = ""
  for (const piece of pieces) {
    if (typeof piece === "string") text += piece
    else {
      if (text !== "") hmac.update(text)
      text = ""
      hmac.update(piece)
    }
  }
  if (text !== "") hmac.update(text)
  return hmac.digest("base64")
}

export const HmacNode = {
  sha256,
  /** The `Hmac` port on Node's crypto. */
  layer: Layer.succeed(Hmac, { sha256 })
}
