/** Seals secrets without a pause: on a virtual clock, waiting for WebCrypto would let time run away. */
import { Sealer, SecretUnreadable } from "@waybill/core/delivery"
import { Effect, Layer } from "effect"
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto"

const nonceLength = 12
const tagLength = 16

/** Encrypts signing secrets of tests. */
export const SealerNode = {
  /** AES-256-GCM under a key made from any text; bound to the place, as the service's own. */
  layer: (passphrase = "waybill test kit"): Layer.Layer<Sealer> => {
    const key = createHash("sha256").update(passphrase).digest()
    return Layer.succeed(Sealer, {
      isSealedByNewest: () => true,
      deriveKeys: (purpose) => Effect.sync(() => [new Uint8Array(hkdfSync("sha256", key, new Uint8Array(0), purpose, 32))]),
      seal: (place, plain) =>
        Effect.sync(() => {
          const nonce = randomBytes(nonceLength)
          const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(place))
          const hidden = Buffer.concat([cipher.update(plain), cipher.final()])
          return new Uint8Array(Buffer.concat([nonce, cipher.getAuthTag(), hidden]))
        }),
      open: (place, sealed) =>
        Effect.try({
          try: () => {
            const nonce = sealed.subarray(0, nonceLength)
            const tag = sealed.subarray(nonceLength, nonceLength + tagLength)
            const decipher = createDecipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(place)).setAuthTag(tag)
            return new Uint8Array(Buffer.concat([decipher.update(sealed.subarray(nonceLength + tagLength)), decipher.final()]))
          },
          catch: () => new SecretUnreadable({ hmacSecretId: place })
        })
    })
  }
}
