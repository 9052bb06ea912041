/** Crypto port: SHA-256 of what arrives in pieces. WebCrypto hashes only what is there as a whole. */
import { Context } from "effect"

export interface RunningHash {
  readonly update: (piece: Uint8Array) => void
  /** Call once, after the last piece; 32 bytes. */
  readonly digest: () => Uint8Array
}

/** For implementers: no piece at all gives `e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855`. */
export class ContentHash extends Context.Service<ContentHash, {
  readonly sha256: () => RunningHash
}>()("@waybill/core/invoices/ContentHash") {}
