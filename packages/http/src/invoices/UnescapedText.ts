/** Decodes a JSON string that arrives in chunks. */

const [quote, backslash, u] = [0x22, 0x5c, 0x75]

/** Characters after a backslash and their meaning. */
const meanings = new Map(Object.entries({ "\"": "\"", "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" })
  .map(([written, meant]) => [written.charCodeAt(0), meant.charCodeAt(0)]))

/** Stands for every character outside ASCII. */
const foreign = 0xff

interface ReadCharacters {
  /** Bytes, one per character, up to the end of the string or chunk; `undefined` when this is not JSON. */
  readonly characters: Uint8Array | undefined
  readonly ended: boolean
  /** Position after the last byte read. */
  readonly next: number
}

const broken: ReadCharacters = { characters: undefined, ended: false, next: 0 }

/** Starts after the opening quote. Decodes ASCII; all other characters become one marker. */
export class UnescapedText {
  /** State of an escape sequence: nothing, its backslash, or `u` and some digits. */
  private escape: string | undefined

  read(chunk: Uint8Array, from: number): ReadCharacters {
    const end = plainEnd(chunk, from)
    // Base64 needs no escapes, so most chunks pass through unchanged.
    if (this.escape !== undefined || chunk[end] === backslash) return this.readEscaped(chunk, from)
    const characters = chunk.subarray(from, end)
    return hasControl(characters) ? broken : { characters, ended: end < chunk.length, next: Math.min(end + 1, chunk.length) }
  }

  private readEscaped(chunk: Uint8Array, from: number): ReadCharacters {
    const characters = new Uint8Array(chunk.length - from)
    let length = 0
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at]!
      if (this.escape === undefined) {
        if (byte === quote) return { characters: characters.subarray(0, length), ended: true, next: at + 1 }
        if (byte < 0x20) return broken
        if (byte === backslash) this.escape = ""
        else characters[length++] = byte
        continue
      }
      const meant = this.escaped(byte)
      if (meant === undefined) return broken
      if (meant !== "more") characters[length++] = meant
    }
    return { characters: characters.subarray(0, length), ended: false, next: chunk.length }
  }

  private escaped(byte: number): number | "more" | undefined {
    if (this.escape === "" && byte !== u) {
      this.escape = undefined
      return meanings.get(byte)
    }
    if (this.escape !== "" && !isHexDigit(byte)) return undefined
    this.escape += String.fromCharCode(byte)
    if (this.escape!.length < 5) return "more"
    const code = Number.parseInt(this.escape!.slice(1), 16)
    this.escape = undefined
    return code < 0x80 ? code : foreign
  }
}

/** The first quote or backslash, or the end. */
const plainEnd = (chunk: Uint8Array, from: number): number => {
  const end = chunk.indexOf(quote, from)
  const escape = chunk.indexOf(backslash, from)
  const last = end < 0 ? chunk.length : end
  return escape < 0 ? last : Math.min(escape, last)
}

const hasControl = (characters: Uint8Array): boolean => {
  for (let at = 0; at < characters.length; at++) if (characters[at]! < 0x20) return true
  return false
}

const isHexDigit = (byte: number): boolean => /[0-9a-fA-F]/.test(String.fromCharCode(byte))
