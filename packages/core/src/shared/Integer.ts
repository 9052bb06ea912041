/**
 * Integers without bounds of their own. `Schema.Int` writes the bounds of JavaScript's safe integers into JSON Schema, and code
 * generators turn those into types and checks that do not compile. Where there are real bounds, use `Schema.Int` with `isBetween`.
 */
import { Schema } from "effect"

/** An integer that a JSON number represents exactly. */
export const Integer = Schema.Number.check(Schema.isInt({ toJsonSchema: () => ({ type: "integer" }) }))

/** 0 or more. */
export const Count = Integer.check(Schema.isGreaterThanOrEqualTo(0))

/** Often exceeds 32 bits; the format `int64` makes client generators use a wide type. */
export const LargeInteger = Schema.Number.check(Schema.isInt({ toJsonSchema: () => ({ type: "integer", format: "int64" }) }))

/** The status of an HTTP response. */
export const HttpStatus = Schema.Int.check(Schema.isBetween({ minimum: 100, maximum: 599 }))
