/** Identifiers, stored as text. Leading zeros, letters and check digits stay. */
import { Schema, SchemaGetter } from "effect"
import { LargeInteger, textUpTo } from "../../shared/Members.ts"

const printable = /^[^\p{Cc}\p{Cs}]*$/u

/** An identifier. Printable, because it is indexed. */
export const nameUpTo = (maxLength: number) =>
  textUpTo(maxLength).check(Schema.isPattern(printable, { message: "No control characters." }))

/** One of some words in any case. JSON Schema has no such patterns, so the document gets one with both cases of each letter. */
export const anyCase = (what: string, words: ReadonlyArray<string>) => {
  const either = (word: string) => [...word].map((letter) => letter.toLowerCase() === letter.toUpperCase() ? letter : `[${letter.toUpperCase()}${letter.toLowerCase()}]`).join("")
  return Schema.String.check(Schema.isPattern(new RegExp(`^(?:${words.join("|")})$`, "iu"), {
    message: `${what} is one of ${words.join(", ")}.`,
    toJsonSchema: () => ({ pattern: `^(?:${words.map(either).join("|")})$` }),
    examples: words
  }))
}

export const CarrierText = textUpTo(1000)

/** An identifier. A JSON number is accepted if it is a safe integer, and converted to text. SPEC-GAP-C5 */
export const KeptText = Schema.Union([
  nameUpTo(100),
  LargeInteger.check(Schema.isGreaterThanOrEqualTo(0))
]).annotate({ message: "Use text, or an integer from 0 to 9007199254740991." }).pipe(
  Schema.decodeTo(Schema.String, {
    decode: SchemaGetter.transform((given) => String(given)),
    encode: SchemaGetter.transform((text) => text)
  })
)

/** The integer that the digits of a text spell, without blanks, hyphens and leading zeros; `null` for `A1A1A1`, and for numbers that JSON parsers round. */
export const integerOf = (text: string | null): number | null => {
  const digits = text?.replaceAll(/[\s-]+/gu, "") ?? ""
  return /^\d+$/u.test(digits) && Number.isSafeInteger(Number(digits)) ? Number(digits) : null
}

/** Maps missing values to `undefined`: `null`, an absent member, or a blank text, which some senders write instead of `null`. */
export const given = (text: string | null | undefined): string | undefined =>
  text === null || text === undefined || text.trim() === "" ? undefined : text
