/** HMAC-SHA256 by `node:crypto`. */
import { Layer } from "effect"
import { createHmac, createSecretKey, type KeyObject } from "node:crypto"
import { Hmac } from "@waybill/core"

export const HmacNode = {
  /** The `Hmac` port over Node's own crypto. */
  layer: Layer.sync(Hmac, () => {
    // making a key costs four times what signing with it does, and every attempt of a subscription has the same ones
    const keys = new WeakMap<Uint8Array, KeyObject>()
    const keyOf = (bytes: Uint8Array): KeyObject => {
      let key = keys.get(bytes)
      if (key === undefined) keys.set(bytes, key = createSecretKey(bytes))
      return key
    }
    return {
      sha256: (key, chunks) => {
        const hmac = createHmac("sha256", keyOf(key))
        for (const chunk of chunks) hmac.update(chunk)
        return hmac.digest()
      }
    }
  })
}
