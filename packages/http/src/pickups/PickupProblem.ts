/** What area C's callers are told of a refusal: a sentence, and of what is not there nothing at all. */
import { Schema } from "effect"
import { type ProblemShape, sentenceOf } from "../shared/ProblemDetails.ts"

export const PickupProblem = Schema.Struct({ message: Schema.String }).annotate({ identifier: "PickupProblem" })

/** SPEC-GAP-C30: published so for two of the calls, and done so for all. */
export const pickupProblem: ProblemShape = {
  contentType: "application/json",
  schema: PickupProblem,
  write: (problem) => problem.status === 404 ? undefined : JSON.stringify({ message: sentenceOf(problem) })
}
