/** Displays external text as sent: characters that are invisible or reorder their neighbours become marks with their names. */

/** Either plain text, or one character that needs a mark. */
export type Piece =
  | { readonly text: string }
  | {
    /** Such as `U+202E`. */
    readonly mark: string
    /** Name of the character, if known. */
    readonly name: string
    /** Whether it ends a line. */
    readonly endsLine: boolean
  }

// Control, format, private, unassigned and lone surrogates; blanks other than the plain one; characters that are drawn
// as nothing.
const unseen = /[\p{C}\p{Zl}\p{Zp}\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\u2800]|\p{Default_Ignorable_Code_Point}/gu

export const visible = (text: string): ReadonlyArray<Piece> => {
  const pieces: Array<Piece> = []
  let from = 0
  for (const match of text.matchAll(unseen)) {
    if (match.index > from) pieces.push({ text: text.slice(from, match.index) })
    const code = match[0].codePointAt(0)!
    pieces.push({ mark: markOf(code), name: nameOf(code), endsLine: code === 0x0a })
    from = match.index + match[0].length
  }
  if (from < text.length) pieces.push({ text: text.slice(from) })
  return pieces
}

/** As one line of plain text, for places without marks. */
export const visibleLine = (text: string): string => visible(text).map((piece) => "text" in piece ? piece.text : `⟨${piece.mark}⟩`).join("")

const markOf = (code: number): string => `U+${code.toString(16).toUpperCase().padStart(4, "0")}`

const names: Readonly<Record<number, string>> = {
  0x00: "null",
  0x07: "bell",
  0x08: "backspace",
  0x09: "tab",
  0x0a: "line feed",
  0x0d: "carriage return",
  0x1b: "escape",
  0x7f: "delete",
  0xa0: "no-break space",
  0xad: "soft hyphen",
  0x061c: "Arabic letter mark",
  0x200b: "zero-width space",
  0x200c: "zero-width non-joiner",
  0x200d: "zero-width joiner",
  0x200e: "left-to-right mark",
  0x200f: "right-to-left mark",
  0x2028: "line separator",
  0x2029: "paragraph separator",
  0x202a: "left-to-right embedding",
  0x202b: "right-to-left embedding",
  0x202c: "end of direction",
  0x202d: "left-to-right override",
  0x202e: "right-to-left override",
  0x2060: "word joiner",
  0x2066: "left-to-right isolate",
  0x2067: "right-to-left isolate",
  0x2068: "first strong isolate",
  0x2069: "end of isolate",
  0xfeff: "byte order mark"
}

const nameOf = (code: number): string => {
  const name = names[code]
  if (name !== undefined) return name
  if (code < 0x20 || (code > 0x7e && code < 0xa0)) return "control character"
  if (code >= 0xd800 && code <= 0xdfff) return "half a character"
  if ((code >= 0xe000 && code <= 0xf8ff) || code >= 0xf0000) return "private character"
  if (/\p{Z}/u.test(String.fromCodePoint(code))) return "blank"
  return "invisible character"
}
