/** One thing wrong with what a caller sent, and where it stands. */
import { type Schema, SchemaIssue } from "effect"

/** `pointer` is a JSON pointer (RFC 6901) into the body or the arguments; `code` is stable, `detail` is for people. */
export interface Fault {
  readonly pointer: string
  readonly detail: string
  readonly code: FaultCode
}

export type FaultCode = "required" | "unknown_field" | "invalid" | "out_of_bounds" | "not_allowed" | "conflict" | "unknown_reference"

/** A fault at a path of keys and indices. */
export const fault = (path: ReadonlyArray<PropertyKey>, detail: string, code: FaultCode = "invalid"): Fault => ({
  pointer: pointer(path),
  detail: detail.length > 1000 ? `${detail.slice(0, 1000)}…` : detail,
  code
})

/** A path as a JSON pointer: `["filters", "eventTypes", 0]` is `/filters/eventTypes/0`. */
export const pointer = (path: ReadonlyArray<PropertyKey>): string =>
  path.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("")

/** At most this many faults are named; a caller who makes more learns the first ones. */
const maxFaults = 100

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** Every fault of a failed decoding, under `prefix`. */
export const faultsOf = (error: Schema.SchemaError, prefix: ReadonlyArray<PropertyKey> = []): ReadonlyArray<Fault> =>
  format(error.issue).issues.slice(0, maxFaults).map((issue) => {
    const path = (issue.path ?? []).map((segment) => typeof segment === "object" ? segment.key : segment)
    return fault([...prefix, ...path], sentence(issue.message), codeOf(issue.message))
  })

const sentence = (message: string): string => {
  if (message === "Missing key") return "This field is required."
  if (message.startsWith("Unexpected key")) return "This field is not known here. Remove it."
  return message.endsWith(".") ? message : `${message}.`
}

const codeOf = (message: string): FaultCode =>
  message === "Missing key" ? "required" : message.startsWith("Unexpected key") ? "unknown_field" : "invalid"
