/** Error body of area E: one code per status, and machine-readable details. */
import { Schema } from "effect"
import { cut, type Problem, type ProblemFault, type ProblemShape } from "../shared/ProblemDetails.ts"

const Fault = { field: Schema.optionalKey(Schema.String), error: Schema.optionalKey(Schema.String) }

export const ChargeProblem = Schema.Struct({
  code: Schema.String,
  message: Schema.String,
  details: Schema.optionalKey(Schema.Struct({
    ...Fault,
    errors: Schema.optionalKey(Schema.Array(Schema.Struct(Fault)).annotate({ description: "Every fault, where there are several." })),
    resource: Schema.optionalKey(Schema.String),
    value: Schema.optionalKey(Schema.String),
    accountId: Schema.optionalKey(Schema.String),
    subscriptionId: Schema.optionalKey(Schema.String)
  }))
}).annotate({ identifier: "ChargeProblem" })

/** The first five are published; the others follow the same style. SPEC-GAP-E30 */
const codes: Readonly<Record<number, string>> = {
  400: "INVALID_REQUEST",
  401: "UNAUTHORIZED",
  403: "FORBIDDEN",
  404: "NOT_FOUND",
  409: "SUBSCRIPTION_CONFLICT",
  429: "TOO_MANY_REQUESTS",
  500: "INTERNAL_ERROR",
  503: "UNAVAILABLE"
}

export const chargeProblem = {
  contentType: "application/json",
  schema: ChargeProblem,
  write: (problem: Problem) => {
    const details = detailsOf(problem)
    return JSON.stringify({
      code: codes[problem.status] ?? problem.code.toUpperCase(),
      message: cut(problem.detail, 4096),
      ...(details === undefined ? {} : { details })
    })
  }
} satisfies ProblemShape

const detailsOf = ({ about, errors = [] }: Problem): Readonly<Record<string, unknown>> | undefined => {
  if (about !== undefined) return about
  const [first, ...more] = errors.map(faultOf)
  return more.length === 0 ? first : { ...first, errors: [first, ...more] }
}

const faultOf = ({ detail, header, parameter, pointer }: ProblemFault) => ({
  field: cut(parameter ?? header ?? fieldAt(pointer ?? ""), 1024),
  error: cut(detail, 4096)
})

/** Turns a JSON pointer into a path such as `dataOptions.eventType` or `accounts[0]`. */
const fieldAt = (pointer: string): string => {
  const parts = pointer.split("/").slice(1).map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
  return parts.length === 0 ? "body" : parts.map((part, index) => /^\d+$/.test(part) ? `[${part}]` : index === 0 ? part : `.${part}`).join("")
}
