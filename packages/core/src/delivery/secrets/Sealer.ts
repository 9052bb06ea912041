/** Seals secrets for storage with AES-256-GCM, bound to tenant and secret id. */
import { Context, Effect, Layer, Redacted } from "effect"
import { RandomBytes } from "../../shared/UniqueIds.ts"
import { SecretUnreadable } from "../DeliveryErrors.ts"

const version = 1
const nonceLength = 12
const keyIdLength = 4
const headLength = 1 + keyIdLength + nonceLength

const encoder = new TextEncoder()

/** A copy with its own ArrayBuffer, which WebCrypto requires. */
const own = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => new Uint8Array(bytes)

interface SealingKey {
  readonly id: Uint8Array
  readonly key: CryptoKey
}

/**
 * Seals and opens secrets. `place` (tenant and secret id) is authenticated with the sealed bytes, so a sealed secret that is copied to
 * another row does not open there.
 */
export class Sealer extends Context.Service<Sealer, {
  readonly seal: (place: string, plain: Uint8Array) => Effect.Effect<Uint8Array>
  /** Fails if no sealing key opens it, or it was sealed for another place. */
  readonly open: (place: string, sealed: Uint8Array) => Effect.Effect<Uint8Array, SecretUnreadable>
  /** Whether it was sealed with the newest key. */
  readonly isSealedByNewest: (sealed: Uint8Array) => boolean
  /** Derives a key of 32 bytes for another purpose from each sealing key, in order. It reveals nothing about the sealing key. */
  readonly deriveKeys: (purpose: string) => Effect.Effect<ReadonlyArray<Uint8Array>>
}>()("@waybill/core/delivery/Sealer") {
  /** The first key seals, all keys open; 32 bytes each. Append a new key first, and put it in front when every process has it. */
  static readonly layer = (keys: readonly [Redacted.Redacted<Uint8Array>, ...ReadonlyArray<Redacted.Redacted<Uint8Array>>]): Layer.Layer<Sealer> =>
    Layer.effect(Sealer, Effect.gen(function*() {
      const fill = yield* RandomBytes
      const imported = yield* Effect.forEach(keys, (key) => Effect.promise(() => importKey(Redacted.value(key))))
      const newest = imported[0]!

      const seal = (place: string, plain: Uint8Array) =>
        Effect.promise(async () => {
          const nonce = new Uint8Array(nonceLength)
          fill(nonce)
          const additionalData = own(encoder.encode(place))
          const secret = await globalThis.crypto.subtle.encrypt({ name: "AES-GCM", iv: nonce, additionalData }, newest.key, own(plain))
          const sealed = new Uint8Array(headLength + secret.byteLength)
          sealed[0] = version
          sealed.set(newest.id, 1)
          sealed.set(nonce, 1 + keyIdLength)
          sealed.set(new Uint8Array(secret), headLength)
          return sealed
        })

      const isSealedBy = ({ id }: SealingKey, sealed: Uint8Array) => id.every((byte, index) => byte === sealed[1 + index])

      const open = (place: string, sealed: Uint8Array) =>
        Effect.suspend(() => {
          const unreadable = new SecretUnreadable({ hmacSecretId: place })
          const known = imported.find((key) => isSealedBy(key, sealed))
          if (sealed[0] !== version || known === undefined) return Effect.fail(unreadable)
          const iv = own(sealed.subarray(1 + keyIdLength, headLength))
          const additionalData = own(encoder.encode(place))
          return Effect.tryPromise({
            try: () => globalThis.crypto.subtle.decrypt({ name: "AES-GCM", iv, additionalData }, known.key, own(sealed.subarray(headLength))),
            catch: () => unreadable
          }).pipe(Effect.map((plain) => new Uint8Array(plain)))
        })

      const deriveKeys = (purpose: string) => Effect.forEach(keys, (key) => Effect.promise(() => deriveKey(Redacted.value(key), purpose)))

      return Sealer.of({ deriveKeys, seal, open, isSealedByNewest: (sealed) => isSealedBy(newest, sealed) })
    }))
}

/** A key's id is the beginning of its hash, which does not reveal the key. */
const importKey = async (raw: Uint8Array): Promise<SealingKey> => {
  if (raw.length !== 32) throw new Error(`A sealing key has 32 bytes, this one has ${raw.length}.`)
  const hash = new Uint8Array(await globalThis.crypto.subtle.digest("SHA-256", own(raw)))
  const key = await globalThis.crypto.subtle.importKey("raw", own(raw), "AES-GCM", false, ["encrypt", "decrypt"])
  return { id: hash.slice(0, keyIdLength), key }
}

/** HKDF with SHA-256. */
const deriveKey = async (raw: Uint8Array, purpose: string): Promise<Uint8Array> => {
  const key = await globalThis.crypto.subtle.importKey("raw", own(raw), "HKDF", false, ["deriveBits"])
  const bits = await globalThis.crypto.subtle.deriveBits({ name: "HKDF", hash: "SHA-256", salt: new Uint8Array(0), info: own(encoder.encode(purpose)) }, key, 256)
  return new Uint8Array(bits)
}
