/** Streaming base64 (RFC 4648, standard alphabet), for data that is never complete in memory. */

const alphabet = new TextEncoder().encode("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
const equals = "=".charCodeAt(0)

const padding = 64
const blank = 65
const foreign = 66

/** The value of each byte: six bits, or one of the three constants above. */
const meaning = new Uint8Array(256).fill(foreign)
alphabet.forEach((byte, value) => {
  meaning[byte] = value
})
meaning[equals] = padding
// encoders for mail insert line breaks
for (const byte of " \t\r\n") meaning[byte.charCodeAt(0)] = blank

const none = new Uint8Array(0)

/** Decodes base64 in chunks of any length. Both functions return `undefined` for invalid input. Padding may be left out. */
export interface Base64Decoder {
  /** Returns the bytes decoded so far. */
  readonly push: (ascii: Uint8Array) => Uint8Array<ArrayBuffer> | undefined
  /** Returns the last bytes. Call it once. */
  readonly end: () => Uint8Array<ArrayBuffer> | undefined
}

/** Decodes base64 text that arrives in chunks of any length. */
export const base64Decoder = (): Base64Decoder => {
  let bits = 0
  let held = 0
  let padded = 0
  let wrong = false
  const push = (ascii: Uint8Array): Uint8Array<ArrayBuffer> | undefined => {
    const bytes = new Uint8Array(Math.ceil((ascii.length + held) / 4) * 3)
    let length = 0
    for (let at = 0; at < ascii.length && !wrong; at++) {
      const value = meaning[ascii[at]!]!
      if (value < padding && padded === 0) {
        bits = (bits << 6) | value
        if (++held < 4) continue
        bytes[length++] = bits >> 16
        bytes[length++] = bits >> 8
        bytes[length++] = bits
        held = 0
      } else if (value === padding) {
        padded += 1
        wrong = held < 2
      } else {
        wrong = value !== blank
      }
    }
    return wrong ? undefined : bytes.subarray(0, length)
  }
  const end = (): Uint8Array<ArrayBuffer> | undefined => {
    if (wrong || held === 1 || (padded > 0 && held + padded !== 4)) return undefined
    if (held === 0) return none
    // unused bits must be zero; otherwise the input was cut off
    const spare = held === 2 ? 4 : 2
    if ((bits & ((1 << spare) - 1)) !== 0) return undefined
    return held === 2 ? Uint8Array.of(bits >> 4) : Uint8Array.of(bits >> 10, bits >> 2)
  }
  return { push, end }
}

/** Encodes bytes in chunks of any length into base64, as ASCII bytes. */
export interface Base64Encoder {
  readonly push: (bytes: Uint8Array) => Uint8Array<ArrayBuffer>
  /** Returns the last characters with padding. Call it once. */
  readonly end: () => Uint8Array<ArrayBuffer>
}

/** Encodes bytes that arrive in chunks of any length. */
export const base64Encoder = (): Base64Encoder => {
  let bits = 0
  let held = 0
  const push = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => {
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
  const end = (): Uint8Array<ArrayBuffer> => {
    switch (held) {
      case 1:
        return Uint8Array.of(alphabet[bits >> 2]!, alphabet[(bits << 4) & 63]!, equals, equals)
      case 2:
        return Uint8Array.of(alphabet[bits >> 10]!, alphabet[(bits >> 4) & 63]!, alphabet[(bits << 2) & 63]!, equals)
      default:
        return none
    }
  }
  return { push, end }
}
