/** Numbers that name things: text inside, whatever they look like. Leading zeros, letters and check digits stay. */
import { Schema, SchemaGetter } from "effect"

const printable = /^[^\p{Cc}\p{Cs}]*$/u

/** Text of people and carriers: free, but of a length. */
export const textUpTo = (maxLength: number) =>
  Schema.String.check(Schema.isMaxLength(maxLength, { message: `At most ${maxLength} characters.` }))

/** Text that names something, so it also stands in indexes. */
export const nameUpTo = (maxLength: number) =>
  textUpTo(maxLength).check(Schema.isPattern(printable, { message: "No control characters." }))

export const CarrierText = textUpTo(1000)

/**
 * An identifier. A sender that has it as a JSON number is understood as long as the number lost nothing on the way;
 * it is text from here on. SPEC-GAP-C5
 */
export const KeptText = Schema.Union([
  nameUpTo(100),
  Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))
]).annotate({ message: "Use text, or an integer from 0 to 9007199254740991." }).pipe(
  Schema.decodeTo(Schema.String, {
    decode: SchemaGetter.transform((given) => String(given)),
    encode: SchemaGetter.transform((text) => text)
  })
)

/** Where the interface shows an integer: one if the text fits into it without loss, else the text itself. SPEC-GAP-C6 */
export const EmittedInteger = Schema.Union([Schema.Int, Schema.String])

/** `02134`, `A1A1A1` and twenty digits would not come back from an integer as they were. */
export const emitted = (text: string): number | string =>
  /^(?:0|[1-9]\d*)$/u.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : text

/** What nobody gave: `null`, an absent member, or an empty text, which is how some senders write `null`. */
export const given = (text: string | null | undefined): string | undefined =>
  text === null || text === undefined || text.trim() === "" ? undefined : text
