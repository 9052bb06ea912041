/** One thing wrong with what a caller sent, and where it stands. */
import { SchemaIssue } from "effect"

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
export const maxFaults = 100

/** Codes travel in front of the sentence through the formatter, which knows sentences only. */
const coded = (code: FaultCode, sentence: string): string => `${code}|${sentence}`

const format = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) => {
    switch (issue._tag) {
      case "MissingKey":
        return coded("required", "This field is required.")
      case "UnexpectedKey":
        return coded("unknown_field", "This field is not known here. Remove it.")
      default:
        return coded("invalid", SchemaIssue.defaultLeafHook(issue))
    }
  }
})

/** Every fault of a failed decoding, under `prefix`. */
export const faultsOf = (failed: SchemaIssue.Issue, prefix: ReadonlyArray<PropertyKey> = []): ReadonlyArray<Fault> =>
  format(failed).issues.slice(0, maxFaults).map((issue) => {
    const path = (issue.path ?? []).map((segment) => typeof segment === "object" ? segment.key : segment)
    const [code, sentence] = decoded(issue.message)
    return fault([...prefix, ...path], sentence, code)
  })

/** Messages of checks come without a code. */
const decoded = (message: string): readonly [FaultCode, string] => {
  const parts = /^([a-z_]+)\|([^]*)$/.exec(message)
  const sentence = parts === null ? message : parts[2]!
  return [parts === null ? "invalid" : parts[1] as FaultCode, sentence.endsWith(".") ? sentence : `${sentence}.`]
}
