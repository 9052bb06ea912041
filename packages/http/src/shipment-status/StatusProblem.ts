/** Error body of area A. The interface defines none; this one has the shape of its other responses. SPEC-GAP-A30 */
import { Schema } from "effect"
import { type Problem, type ProblemShape, sentenceOf } from "../shared/ProblemDetails.ts"

export const StatusProblem = Schema.Struct({ message: Schema.String }).annotate({ identifier: "StatusProblem" })

export const statusProblem = {
  contentType: "application/json",
  schema: StatusProblem,
  write: (problem: Problem) => JSON.stringify({ message: sentenceOf(problem) })
} satisfies ProblemShape
