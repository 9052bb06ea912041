/** Error body of area C: a message, and no body for 404. */
import { Schema } from "effect"
import { type Problem, type ProblemShape, sentenceOf } from "../shared/ProblemDetails.ts"

export const PickupProblem = Schema.Struct({ message: Schema.String }).annotate({ identifier: "PickupProblem" })

/** SPEC-GAP-C30: published for two of the calls, and used for all. */
export const pickupProblem = {
  contentType: "application/json",
  schema: PickupProblem,
  write: (problem: Problem) => JSON.stringify({ message: sentenceOf(problem) }),
  bodiless: [404]
} satisfies ProblemShape
