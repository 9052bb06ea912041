/** One problem in a caller's input, and its location. */
import { SchemaAST, SchemaIssue } from "effect"
import { nearestName } from "./NearestName.ts"

/** `pointer`: JSON pointer (RFC 6901) into the body or the arguments. `code`: stable. `detail`: text for people. */
export interface Fault {
  readonly pointer: string
  readonly detail: string
  readonly code: FaultCode
}

/** Why a member is refused, for programs. `unknown_reference`: it names something that does not exist or is not the caller's. */
export type FaultCode = typeof faultCodes[number]
export const faultCodes = ["required", "unknown_field", "invalid", "out_of_bounds", "not_allowed", "conflict", "unknown_reference"] as const

/** Builds a fault from a path of keys and indices. Cuts `detail` after 1,000 characters. */
export const fault = (path: ReadonlyArray<PropertyKey>, detail: string, code: FaultCode = "invalid"): Fault => ({
  pointer: pointer(path),
  detail: detail.length > 1000 ? `${detail.slice(0, 1000)}…` : detail,
  code
})

/** The fault of a number that JSON cannot carry unchanged. */
export const inexactFault = (path: ReadonlyArray<PropertyKey>): Fault =>
  fault(path, "Numbers beyond 9007199254740991 lose digits in JSON. Send this one as text.", "out_of_bounds")

/** Formats a path as a JSON pointer: `["filters", "eventTypes", 0]` becomes `/filters/eventTypes/0`. */
export const pointer = (path: ReadonlyArray<PropertyKey>): string =>
  path.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("")

/** Maximum number of faults in one response: the first ones. */
export const maxFaults = 100

/** The schema formatter passes text only, so the code goes in front of the sentence. */
const coded = (code: FaultCode, sentence: string): string => `${code}|${sentence}`

const format = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) => {
    switch (issue._tag) {
      case "MissingKey":
        return coded("required", "This field is required.")
      case "UnexpectedKey":
        return coded("unknown_field", SchemaAST.isObjects(issue.ast) ? issue.ast.propertySignatures.map(({ name }) => String(name)).join() : "")
      default:
        return coded("invalid", SchemaIssue.defaultLeafHook(issue))
    }
  },
  checkHook: (issue) => {
    const message = SchemaIssue.defaultCheckHook(issue)
    return isBound(issue.filter) ? coded("out_of_bounds", message ?? `Expected ${issue.filter.annotations?.expected}`) : message
  }
})

/** A check of a length, of a number of items, or of the range of a number. */
const isBound = ({ annotations }: SchemaAST.Check<never>): boolean =>
  /^effect\/schema\/is(Min|Max|Between|Greater|Less)/.test(String((annotations?.["representation"] as { readonly id?: unknown } | undefined)?.id))

/** Lists every fault of a failed decoding, with `prefix` in front of each path. */
export const faultsOf = (failed: SchemaIssue.Issue, prefix: ReadonlyArray<PropertyKey> = []): ReadonlyArray<Fault> =>
  format(failed).issues.slice(0, maxFaults).map((issue) => {
    const path = (issue.path ?? []).map((segment) => typeof segment === "object" ? segment.key : segment)
    const [code, text] = decoded(issue.message)
    // a list that must not be empty lacks its first item
    if (code === "required" && typeof path.at(-1) === "number") return fault([...prefix, ...path.slice(0, -1)], "This list must not be empty.", "out_of_bounds")
    return fault([...prefix, ...path], code === "unknown_field" ? unknownField(String(path.at(-1)), text === "" ? [] : text.split(",")) : sentence(text), code)
  })

/** `known` are the fields of the object that has an unknown one. */
const unknownField = (name: string, known: ReadonlyArray<string>): string => {
  const nearest = nearestName(name, known)
  return `This field is not known here. ${nearest === undefined ? "Remove it." : `Did you mean ${nearest}?`}`
}

/** Messages of other checks have no code in front; they count as `invalid`. */
const decoded = (message: string): readonly [FaultCode, string] => {
  const parts = /^([a-z_]+)\|([^]*)$/.exec(message)
  return parts === null ? ["invalid", message] : [parts[1] as FaultCode, parts[2]!]
}

const sentence = (text: string): string => text.endsWith(".") ? text : `${text}.`
