/** Parses a query string into the values of its endpoint. Core validates the values; this checks only their syntax. */
import { nearestName } from "@waybill/core"
import type { Schema } from "effect"
import type { ProblemFault } from "./ProblemDetails.ts"

interface QueryParameter {
  /**
   * How the text becomes a value. A `list` may be repeated (`a=1&a=2`) or comma-separated; every other kind may occur
   * once. An `instant` whose `+` was decoded as a blank is repaired. `pairs` is the whole query: every decoded name
   * with its value, for values with several spellings. Its schema describes the one to send.
   */
  readonly kind: "text" | "integer" | "boolean" | "instant" | "list" | "pairs"
  /** The schema in core. */
  readonly schema: Schema.Top
  readonly description: string
  readonly default?: unknown
  /** For `pairs`: whether a name of the query is one of its spellings. */
  readonly isPart?: (name: string) => boolean
  /** For the description; core checks it. */
  readonly required?: boolean
}

export type QueryParameters = Readonly<Record<string, QueryParameter>>

type Pairs = ReadonlyArray<readonly [name: string, value: string]>

/** The values of a query. Core's use cases validate them: these are the types that they accept. */
export type QueryOf<P> = {
  readonly [Name in keyof P as P[Name] extends { readonly required: true } ? never : Name]?: ValueOf<P[Name]>
} & {
  readonly [Name in keyof P as P[Name] extends { readonly required: true } ? Name : never]: ValueOf<P[Name]>
}

type ValueOf<P> = P extends { readonly kind: "pairs" } ? Pairs : P extends QueryParameter ? P["schema"]["Encoded"] : never

interface ReadQuery {
  readonly values: Readonly<Record<string, unknown>>
  readonly faults: ReadonlyArray<ProblemFault>
}

const none: ReadonlySet<string> = new Set()
const nothing: ReadQuery = { values: {}, faults: [] }

/** Faults of one query. */
const maxFaults = 100

/**
 * Refuses unknown parameters: one that is misspelt would otherwise select or delete too much. SPEC-GAP-X4. `ignored` are names of the host's
 * own; where the endpoint has a parameter of such a name, it has its meaning.
 */
export const readQuery = (parameters: QueryParameters, search: string, ignored: ReadonlySet<string> = none): ReadQuery => {
  if (search === "") return nothing
  const values: Record<string, unknown> = {}
  const faults = new Map<string, ProblemFault>()
  const whole = Object.keys(parameters).find((name) => parameters[name]!.kind === "pairs")
  const pairs: Array<readonly [string, string]> = []
  const unknown = new Map<string, ProblemFault>()
  for (const pair of search.split("&")) {
    if (pair === "") continue
    const at = pair.indexOf("=")
    const written = decode(at < 0 ? pair : pair.slice(0, at))
    if (written !== undefined && ignored.has(written) && !Object.hasOwn(parameters, written)) continue
    const text = at < 0 ? "" : decode(pair.slice(at + 1))
    if (whole !== undefined) {
      if (written !== undefined && text !== undefined) pairs.push([written, text])
      else faults.set(whole, { detail: "The query is not percent-encoded UTF-8.", parameter: whole, code: "invalid" })
    }
    const name = written === undefined ? undefined : knownAs(parameters, written)
    if (name === undefined) {
      const isPart = whole !== undefined && (written === undefined || parameters[whole]!.isPart?.(written) === true)
      if (!isPart && unknown.size < maxFaults) unknown.set(pair, unknownParameter(parameters, written))
      continue
    }
    const parameter = parameters[name]!
    if (text === undefined) {
      faults.set(name, { detail: `${name} is not percent-encoded UTF-8.`, parameter: name, code: "invalid" })
    } else if (parameter.kind === "pairs") {
      continue
    } else if (parameter.kind === "list") {
      const items = text.split(",").map((item) => item.trim()).filter((item) => item !== "")
      values[name] = [...(values[name] as ReadonlyArray<string> | undefined ?? []), ...items]
    } else if (Object.hasOwn(values, name)) {
      faults.set(name, { detail: `Give ${name} once.`, parameter: name, code: "invalid" })
    } else if (parameter.kind === "boolean" && text !== "true" && text !== "false") {
      faults.set(name, { detail: `${name} is true or false.`, parameter: name, code: "invalid" })
    } else if (parameter.kind === "integer" && !/^[+-]?\d+$/.test(text)) {
      faults.set(name, { detail: `${name} is an integer.`, parameter: name, code: "invalid" })
    } else {
      values[name] = valueOf(parameter.kind, text)
    }
  }
  if (whole !== undefined) values[whole] = pairs
  return { values, faults: [...faults.values(), ...unknown.values()].slice(0, maxFaults) }
}

const unknownParameter = (parameters: QueryParameters, written: string | undefined): ProblemFault => {
  if (written === undefined) return { detail: "The query is not percent-encoded UTF-8.", pointer: "", code: "invalid" }
  const name = written.slice(0, 100)
  const known = Object.keys(parameters)
  const nearest = nearestName(written, known)
  const hint = nearest !== undefined ? `Did you mean ${nearest}?` : known.length > 0 ? `It has ${known.join(", ")}.` : "It has none."
  return { detail: `This call has no query parameter ${name}. ${hint}`, parameter: name, code: "unknown_field" }
}

/** Some software writes lists as `fileIds[]=` or `fileIds[0]=`; ignoring these would change the meaning. */
const knownAs = (parameters: QueryParameters, written: string): string | undefined => {
  const name = Object.hasOwn(parameters, written) ? written : written.replace(/\[\d{0,9}\]$/, "")
  if (!Object.hasOwn(parameters, name)) return undefined
  const { kind } = parameters[name]!
  return name === written || kind === "list" ? name : undefined
}

const decode = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text.replaceAll("+", " "))
  } catch {
    return undefined
  }
}

const valueOf = (kind: "text" | "integer" | "boolean" | "instant", text: string): unknown => {
  switch (kind) {
    case "text":
      return text
    case "integer":
      return integerOf(text)
    case "boolean":
      return text === "true"
    case "instant":
      // Sent unencoded, the plus of 2026-11-20T10:00:00+02:00 decodes to a blank.
      return text.replace(/ (\d\d:\d\d)$/, "+$1")
  }
}

/** One with too many digits becomes the largest there is, so that core answers with its message about the bounds. */
const integerOf = (text: string): number => Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Number(text)))
