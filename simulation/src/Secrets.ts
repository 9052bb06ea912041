/** Cheap sealing and signatures, for schedules that do not test cryptography. */
import { type HmacSha256, placeOfSecret, type Sealer, SecretUnreadable } from "@waybill/core/delivery"
import { Effect } from "effect"

const keyLength = 32
const encoder = new TextEncoder()

/** Bound to tenant and secret id, as a real sealed key is. */
export const sealedKey = (tenantId: string, hmacSecretId: string, key: Uint8Array): Uint8Array =>
  Uint8Array.from([...encoder.encode(placeOfSecret(tenantId, hmacSecretId)), ...key])

export const openSealer: Sealer["Service"] = {
  isSealedByNewest: () => true,
  deriveKeys: () => Effect.succeed([new Uint8Array(32)]),
  seal: (place, plain) => Effect.sync(() => Uint8Array.from([...encoder.encode(place), ...plain])),
  open: (place, sealed) =>
    Effect.suspend(() => {
      const own = Buffer.from(sealed.subarray(0, -keyLength)).toString() === place
      return own ? Effect.succeed(sealed.subarray(-keyLength)) : Effect.fail(new SecretUnreadable({ hmacSecretId: place }))
    })
}

/** Not cryptographic: only gives other results for other bytes or another key. */
export const cheapSha256: HmacSha256 = (key, pieces) => {
  let low = 0x811c_9dc5
  let high = 0x1234_5678
  const take = (bytes: Uint8Array) => {
    for (let at = 0; at < bytes.length; at++) {
      low = Math.imul(low ^ bytes[at]!, 0x0100_0193)
      high = Math.imul(high + bytes[at]!, 0x85eb_ca6b) ^ (high >>> 13)
    }
  }
  take(key)
  for (const piece of pieces) take(typeof piece === "string" ? encoder.encode(piece) : piece)
  return `${low >>> 0}/${high >>> 0}`
}
