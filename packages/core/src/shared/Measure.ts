/** Weights, lengths, volumes, values and numbers of pieces of freight. */
import { Schema } from "effect"

/** 0 or more: systems write 0 for what nobody measured or counted. SPEC-GAP-X9 */
export const Measure = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0, { message: "Use a number from 0." }))
