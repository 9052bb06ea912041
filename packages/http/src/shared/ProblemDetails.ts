/** Error responses: RFC 9457 problem details, `application/problem+json`. */
import { Schema } from "effect"

const text = (maxLength: number) => Schema.String.check(Schema.isMaxLength(maxLength))

/** One error: `pointer` into the body, or the name of a `parameter` or `header`. */
export const ProblemFault = Schema.Struct({
  detail: text(4096),
  pointer: Schema.optionalKey(text(1024)),
  parameter: Schema.optionalKey(text(1024)),
  header: Schema.optionalKey(text(1024)),
  code: Schema.optionalKey(text(50))
}).annotate({ identifier: "ProblemFault" })
export type ProblemFault = typeof ProblemFault.Type

/** `code` is stable; `instance` contains the correlation id, which is in every log line of the call too. */
export const ProblemDetails = Schema.Struct({
  status: Schema.Int.check(Schema.isBetween({ minimum: 100, maximum: 599 })),
  title: text(1024),
  detail: Schema.optionalKey(text(4096)),
  instance: Schema.optionalKey(text(1024)),
  code: Schema.optionalKey(text(50)),
  errors: Schema.optionalKey(Schema.Array(ProblemFault))
}).annotate({ identifier: "ProblemDetails" })
export type ProblemDetails = typeof ProblemDetails.Type

/** Media type of problem details (RFC 9457). */
export const problemContentType = "application/problem+json"

/** A failure in HTTP terms, before an area formats it. */
export interface Problem<Code extends string = string> {
  readonly status: number
  readonly code: Code
  /** Default: the one of the status. */
  readonly title?: string
  readonly detail: string
  readonly errors?: ReadonlyArray<ProblemFault>
  /** The subject's ids by name, for formats with a place for them. */
  readonly about?: Readonly<Record<string, string>>
  /** Response headers of the problem, such as `allow` or `retry-after`. */
  readonly headers?: Readonly<Record<string, string>>
}

/** How an area formats a problem. */
export interface ProblemShape {
  readonly contentType: string
  readonly schema: Schema.Top
  readonly write: (problem: Problem, instance: string) => string
  /** Statuses whose responses have no body. */
  readonly bodiless?: ReadonlyArray<number>
  /** Values besides the body, for response headers and the log. */
  readonly headers?: {
    readonly specs: Readonly<Record<string, { readonly description: string; readonly schema: Schema.Top }>>
    readonly write: (problem: Problem) => Readonly<Record<string, string>>
  }
}

/** The default format, also used outside of areas. */
export const problemDetails = {
  contentType: problemContentType,
  schema: ProblemDetails,
  write: (problem: Problem, instance: string) => JSON.stringify(detailsOf(problem, instance))
} satisfies ProblemShape

const titles: Readonly<Record<number, string>> = {
  400: "Bad request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not found",
  405: "Method not allowed",
  408: "Request timeout",
  409: "Conflict",
  413: "Content too large",
  414: "URI too long",
  415: "Unsupported media type",
  417: "Expectation failed",
  429: "Too many requests",
  431: "Request header fields too large",
  500: "Internal server error",
  501: "Not implemented",
  503: "Service unavailable"
}

export const detailsOf = (problem: Problem, instance: string): ProblemDetails => ({
  status: problem.status,
  title: problem.title ?? titles[problem.status]!,
  detail: cut(problem.detail, 4096),
  instance,
  code: problem.code,
  ...(problem.errors === undefined || problem.errors.length === 0 ? {} : { errors: problem.errors.map(bounded) })
})

/** Pointers contain the caller's own member names, which may be as long as the body. */
export const bounded = (fault: ProblemFault): ProblemFault => ({
  ...fault,
  detail: cut(fault.detail, 4096),
  ...(fault.pointer === undefined ? {} : { pointer: cut(fault.pointer, 1024) })
})

/** An error as one text. Its location, such as `filters.eventTypes.0`, replaces a pointer in front, unless the text begins with it. */
export const placed = ({ detail, header, parameter, pointer = "" }: ProblemFault): string => {
  const place = parameter ?? header ?? pointer.replace(/^\//, "").replaceAll("/", ".")
  if (place === "" || detail.startsWith(`${place} `)) return detail
  return detail.startsWith(`${pointer} `) ? `${place}${detail.slice(pointer.length)}` : `${place}: ${detail}`
}

/** Joins all errors into one text, for formats without a list of errors; names the location of each. */
export const sentenceOf = ({ detail, errors = [] }: Problem): string =>
  cut(errors.length === 0 ? detail : errors.map(placed).join(" "), 4096)

export const cut = (value: string, length: number): string => value.length <= length ? value : `${value.slice(0, length - 1)}…`
