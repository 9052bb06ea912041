/** HMAC-SHA256 by `node:crypto`. */
import { Layer } from "effect"
import { createHmac, hash } from "node:crypto"
import { Hmac, type HmacSha256 } from "@waybill/core/delivery"

const blockBytes = 64
const digestBytes = 32

/** A key in the form of RFC 2104: the block before the content, and the block before its digest with room for it. */
interface Pads {
  readonly inner: Uint8Array
  readonly outer: Buffer
}

/** All attempts of a subscription use the same keys. */
const known = new WeakMap<Uint8Array, Pads>()

const padsOf = (key: Uint8Array): Pads => {
  let pads = known.get(key)
  if (pads === undefined) {
    pads = { inner: new Uint8Array(blockBytes).fill(0x36), outer: Buffer.alloc(blockBytes + digestBytes, 0x5c) }
    for (let at = 0; at < key.length; at++) {
      pads.inner[at]! ^= key[at]!
      pads.outer[at]! ^= key[at]!
    }
    known.set(key, pads)
  }
  return pads
}

/** Content up to this size is signed in one piece. */
const scratch = Buffer.allocUnsafeSlow(16_384)

/** Writes the block and the pieces into `scratch`. Returns their length; undefined if they may not fit. */
const gather = (inner: Uint8Array, pieces: Parameters<HmacSha256>[1]): number | undefined => {
  scratch.set(inner)
  let at = blockBytes
  for (const piece of pieces) {
    const most = typeof piece === "string" ? 3 * piece.length : piece.length
    if (at + most > scratch.length) return undefined
    if (typeof piece === "string") at += scratch.write(piece, at)
    else {
      scratch.set(piece, at)
      at += piece.length
    }
  }
  return at
}

/** Two hashes of one piece each take half the time of an HMAC object, which OpenSSL allocates for every signature. */
const sha256: HmacSha256 = (key, pieces) => {
  if (key.length > blockBytes) return signedInPieces(key, pieces)
  const { inner, outer } = padsOf(key)
  const length = gather(inner, pieces)
  if (length === undefined) return signedInPieces(key, pieces)
  outer.write(hash("sha256", scratch.subarray(0, length), "binary"), blockBytes, "latin1")
  return hash("sha256", outer, "base64")
}

const signedInPieces: HmacSha256 = (key, pieces) => {
  const hmac = createHmac("sha256", key)
  for (const piece of pieces) hmac.update(piece)
  return hmac.digest("base64")
}

/** HMAC-SHA256 for signatures. */
export const HmacNode = {
  sha256,
  /** The `Hmac` port on Node's crypto. */
  layer: Layer.succeed(Hmac, { sha256 })
}
