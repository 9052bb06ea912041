/** Crypto port: HMAC-SHA256, synchronous, because signing happens while a batch is joined and WebCrypto costs twenty times as much. */
import { Context } from "effect"

/**
 * HMAC-SHA256 of the chunks as if they were one piece; 32 bytes.
 *
 * For implementers: key `0x0b` twenty times and the text `Hi There` give
 * `b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7` (RFC 4231, case 1).
 */
export class Hmac extends Context.Service<Hmac, {
  readonly sha256: (key: Uint8Array, chunks: ReadonlyArray<Uint8Array>) => Uint8Array
}>()("@waybill/core/delivery/Hmac") {}
