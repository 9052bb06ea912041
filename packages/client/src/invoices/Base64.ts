/** Streaming base64 (RFC 4648, standard alphabet), for data that is never in memory as a whole. */
import type { Bytes } from "../shared/Bytes.ts"

const alphabet = new TextEncoder().encode("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
const equals = 0x3d

const padding = 64
const blank = 65
const foreign = 66

/** Meaning of each byte: six bits, or one of the three markers above. */
const meaning = new Uint8Array(256).fill(foreign)
alphabet.forEach((byte, value) => {
  meaning[byte] = value
})
meaning[equals] = padding
for (const byte of [0x20, 0x09, 0x0d, 0x0a]) meaning[byte] = blank

/** Encodes chunks of any length as base64 in ASCII bytes. */
export interface Base64Encoder {
  readonly push: (bytes: Uint8Array) => Bytes
  /** The last characters with their padding. */
  readonly end: () => Bytes
}

export const base64Encoder = (): Base64Encoder => {
  let bits = 0
  let held = 0
  const push = (bytes: Uint8Array): Bytes => {
    const ascii = new Uint8Array(Math.floor((bytes.length + held) / 3) * 4)
    let length = 0
    for (let at = 0; at < bytes.length; at++) {
      bits = (bits << 8) | bytes[at]!
      if (++held < 3) continue
      ascii[length++] = alphabet[bits >> 18]!
      ascii[length++] = alphabet[(bits >> 12) & 63]!
      ascii[length++] = alphabet[(bits >> 6) & 63]!
      ascii[length++] = alphabet[bits & 63]!
      bits = 0
      held = 0
    }
    return ascii
  }
  const end = (): Bytes => {
    if (held === 0) return new Uint8Array(0)
    if (held === 1) return Uint8Array.of(alphabet[bits >> 2]!, alphabet[(bits << 4) & 63]!, equals, equals)
    return Uint8Array.of(alphabet[bits >> 10]!, alphabet[(bits >> 4) & 63]!, alphabet[(bits << 2) & 63]!, equals)
  }
  return { push, end }
}

/** Decodes chunks of base64 of any length. Both functions return `undefined` for invalid base64. Padding is optional. */
export interface Base64Decoder {
  readonly push: (ascii: Uint8Array) => Bytes | undefined
  /** The last bytes. */
  readonly end: () => Bytes | undefined
}

export const base64Decoder = (): Base64Decoder => {
  let bits = 0
  let held = 0
  let padded = 0
  let wrong = false
  const push = (ascii: Uint8Array): Bytes | undefined => {
    const bytes = new Uint8Array(Math.floor((ascii.length + held) / 4) * 3)
    let length = 0
    for (let at = 0; at < ascii.length && !wrong; at++) {
      const value = meaning[ascii[at]!]!
      if (value < padding && padded === 0) {
        bits = (bits << 6) | value
        if (++held < 4) continue
        bytes[length++] = bits >> 16
        bytes[length++] = bits >> 8
        bytes[length++] = bits
        bits = 0
        held = 0
      } else if (value === padding) {
        padded += 1
        wrong = held < 2 || held + padded > 4
      } else {
        wrong = value !== blank
      }
    }
    return wrong ? undefined : bytes.subarray(0, length)
  }
  const end = (): Bytes | undefined => {
    if (wrong || held === 1 || (padded > 0 && held + padded !== 4)) return undefined
    if (held === 0) return new Uint8Array(0)
    return held === 2 ? Uint8Array.of(bits >> 4) : Uint8Array.of(bits >> 10, bits >> 2)
  }
  return { push, end }
}
