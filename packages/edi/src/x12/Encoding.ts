/** Encodings of files: partners with older systems read windows-1252. */

export type Encoding = "utf-8" | "windows-1252"

/** Codes by their characters. */
const windows1252: ReadonlyMap<string, number> = new Map(
  Array.from(new TextDecoder("windows-1252").decode(Uint8Array.from({ length: 256 }, (_, code) => code), { stream: true }), (character, code) => [character, code])
)

/** Replaces characters that the encoding has not by question marks. */
export const encodable = (text: string, encoding: Encoding = "utf-8"): string =>
  encoding === "utf-8" ? text : Array.from(text, (character) => windows1252.has(character) ? character : "?").join("")

/** The bytes of a file that was written for a partner, by `encoding` of its profile. */
export const encodeText = (text: string, encoding: Encoding = "utf-8"): Uint8Array =>
  encoding === "utf-8" ? new TextEncoder().encode(text) : Uint8Array.from(Array.from(encodable(text, encoding)), (character) => windows1252.get(character)!)
