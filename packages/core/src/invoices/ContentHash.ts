/** Crypto port: incremental SHA-256. WebCrypto can only hash data that is complete in memory. */
import { Context } from "effect"

/** A SHA-256 that is computed chunk by chunk. */
export interface RunningHash {
  readonly update: (chunk: Uint8Array) => void
  /** Returns 32 bytes. Call it once, after the last chunk. */
  readonly digest: () => Uint8Array
}

/** For implementers: the hash of no data is `e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855`. */
export class ContentHash extends Context.Service<ContentHash, {
  readonly sha256: () => RunningHash
}>()("@waybill/core/invoices/ContentHash") {}
