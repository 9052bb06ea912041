/** Encodes many texts as UTF-8. */
import { Effect } from "effect"
import { mapPaced } from "./Turns.ts"

/** Characters that are encoded together. */
const groupLength = 65_536

const encoder = new TextEncoder()

/** The bytes of each text. Texts are encoded in groups, because an encoding of its own takes three times as long as the bytes of a short text. */
export const encodeTexts = (texts: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<Uint8Array>> =>
  Effect.map(mapPaced(groupsOf(texts), encodeGroup), (groups) => groups.flat())

const groupsOf = (texts: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<string>> => {
  const groups: Array<Array<string>> = []
  let left = 0
  for (const text of texts) {
    if (left < text.length || groups.length === 0) {
      groups.push([])
      left = groupLength
    }
    groups.at(-1)!.push(text)
    left -= text.length
  }
  return groups
}

const encodeGroup = (texts: ReadonlyArray<string>): ReadonlyArray<Uint8Array> => {
  const joined = texts.join("")
  const bytes = encoder.encode(joined)
  // a character may take more than one byte, and two halves of one at the ends of two texts would join
  if (bytes.length !== joined.length) return texts.map((text) => encoder.encode(text))
  let at = 0
  return texts.map((text) => bytes.subarray(at, at += text.length))
}
