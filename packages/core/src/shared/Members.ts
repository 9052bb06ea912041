/** Members of many bodies: numbers, texts and lists with a maximum length, and what may be left out. */
import { Schema } from "effect"

/** Input that may be left out or `null`. */
export const nullish = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

export const textUpTo = (maxLength: number) =>
  Schema.String.check(Schema.isMaxLength(maxLength, { message: `At most ${maxLength} characters.` }))

export const listUpTo = <S extends Schema.Top>(item: S, maximum: number) =>
  Schema.Array(item).check(Schema.isMaxLength(maximum, { message: `At most ${maximum} items.` }))

/** Weights, lengths, volumes, values and numbers of pieces of freight. 0 or more: systems write 0 for what nobody measured or counted. SPEC-GAP-X9 */
export const Measure = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0, { message: "Use a number from 0." }))

/**
 * An integer that a JSON number represents exactly, without bounds of its own. `Schema.Int` writes the bounds of JavaScript's safe integers
 * into JSON Schema, and code generators turn those into types and checks that do not compile. Where there are real bounds, use `Schema.Int`
 * with `isBetween`.
 */
export const Integer = Schema.Number.check(Schema.isInt({ toJsonSchema: () => ({ type: "integer" }) }))

/** 0 or more. */
export const Count = Integer.check(Schema.isGreaterThanOrEqualTo(0))

/** Often exceeds 32 bits; the format `int64` makes client generators use a wide type. */
export const LargeInteger = Schema.Number.check(Schema.isInt({ toJsonSchema: () => ({ type: "integer", format: "int64" }) }))

/** The status of an HTTP response. */
export const HttpStatus = Schema.Int.check(Schema.isBetween({ minimum: 100, maximum: 599 }))
