/** Crypto port: HMAC-SHA256. Synchronous, because every attempt is signed and WebCrypto takes twenty times as long. */
import { Context } from "effect"
import type { HmacSha256 } from "../model/Signature.ts"

/**
 * HMAC-SHA256 of the pieces as if they were one, in standard base64. Texts are UTF-8.
 *
 * For implementers: key `0x0b` twenty times and the text `Hi There` give
 * `sDRMYdjbOFNcqK/OrwvxK4gdwgDJgz2nJuk3bC4yz/c=` (RFC 4231, case 1).
 */
export class Hmac extends Context.Service<Hmac, {
  readonly sha256: HmacSha256
}>()("@waybill/core/delivery/Hmac") {}
