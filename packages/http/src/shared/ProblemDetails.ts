/** What a failed call is told: RFC 9457 problem details, `application/problem+json`. */
import { Schema } from "effect"

const text = (maxLength: number) => Schema.String.check(Schema.isMaxLength(maxLength))

/** One fault: `pointer` into the body, or the name of a `parameter` or `header`. */
export const ProblemFault = Schema.Struct({
  detail: text(4096),
  pointer: Schema.optionalKey(text(1024)),
  parameter: Schema.optionalKey(text(1024)),
  header: Schema.optionalKey(text(1024)),
  code: Schema.optionalKey(text(50))
}).annotate({ identifier: "ProblemFault" })
export type ProblemFault = typeof ProblemFault.Type

/** `code` is stable; `instance` carries the correlation id, which every log line of the call bears too. */
export const ProblemDetails = Schema.Struct({
  status: Schema.Int.check(Schema.isBetween({ minimum: 100, maximum: 599 })),
  title: text(1024),
  detail: Schema.optionalKey(text(4096)),
  instance: Schema.optionalKey(text(1024)),
  code: Schema.optionalKey(text(50)),
  errors: Schema.optionalKey(Schema.Array(ProblemFault))
}).annotate({ identifier: "ProblemDetails" })
export type ProblemDetails = typeof ProblemDetails.Type

export const problemContentType = "application/problem+json"

/** A failure as HTTP says it, before it is written in an area's own shape. */
export interface Problem {
  readonly status: number
  readonly code: string
  readonly title: string
  readonly detail: string
  readonly errors?: ReadonlyArray<ProblemFault>
  /** Response headers that belong to it, such as `allow` or `retry-after`. */
  readonly headers?: Readonly<Record<string, string>>
}

/** How an area writes a problem. */
export interface ProblemShape {
  readonly contentType: string
  readonly write: (problem: Problem, instance: string) => string
}

/** Area D, intake and operator calls, and whatever belongs to no area. */
export const problemDetails: ProblemShape = {
  contentType: problemContentType,
  write: (problem, instance) => JSON.stringify(detailsOf(problem, instance))
}

export const detailsOf = (problem: Problem, instance: string): ProblemDetails => ({
  status: problem.status,
  title: problem.title,
  detail: cut(problem.detail, 4096),
  instance,
  code: problem.code,
  ...(problem.errors === undefined || problem.errors.length === 0 ? {} : { errors: problem.errors.map(bounded) })
})

/** A caller's own member names stand in pointers, and may be as long as the body. */
export const bounded = (fault: ProblemFault): ProblemFault => ({
  ...fault,
  detail: cut(fault.detail, 4096),
  ...(fault.pointer === undefined ? {} : { pointer: cut(fault.pointer, 1024) })
})

const cut = (value: string, length: number): string => value.length <= length ? value : `${value.slice(0, length - 1)}…`
