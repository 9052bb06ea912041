/** Error bodies that are a message alone. */
import { Schema } from "effect"
import { type Problem, type ProblemShape, sentenceOf } from "./ProblemDetails.ts"

/** `identifier`: of its schema in OpenAPI documents. */
export const messageProblem = (identifier: string) => ({
  contentType: "application/json",
  schema: Schema.Struct({ message: Schema.String }).annotate({ identifier }),
  write: (problem: Problem) => JSON.stringify({ message: sentenceOf(problem) })
}) satisfies ProblemShape
