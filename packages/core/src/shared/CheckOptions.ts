/** Refuses options with another name or type than a function has, for hosts without types: a misspelt option would leave its default without a word. */
import { nearestName } from "./NearestName.ts"

/** The values that an option may have. */
export interface OptionKind {
  readonly what: string
  readonly accepts: (value: unknown) => boolean
}

const numberKind = (what: string, accepts: (value: number) => boolean): OptionKind => ({ what, accepts: (value) => typeof value === "number" && accepts(value) })

/** A timer for longer fires at once. */
const maxTimerMillis = 2 ** 31 - 1

/** No interval of a database is that long. */
const maxMillis = 100 * 365 * 86_400_000

export const optionKinds = {
  /** Its reader checks what it is. */
  any: { what: "a value", accepts: (value) => value !== null },
  boolean: { what: "true or false", accepts: (value) => typeof value === "boolean" },
  count: numberKind("a whole number from 1 to 2,147,483,647", (value) => Number.isInteger(value) && value >= 1 && value < 2 ** 31),
  function: { what: "a function", accepts: (value) => typeof value === "function" },
  list: { what: "a list", accepts: Array.isArray },
  /** What a timer waits for. */
  millis: numberKind("a number of milliseconds above 0, at most 2,147,483,647 (24 days)", (value) => value > 0 && value <= maxTimerMillis),
  /** How long data is kept or waited for: 0 is not at all. */
  period: numberKind("a number of milliseconds from 0 to 100 years", (value) => value >= 0 && value <= maxMillis),
  object: { what: "an object", accepts: (value) => typeof value === "object" && value !== null && !Array.isArray(value) },
  text: { what: "a text that is not empty", accepts: (value) => typeof value === "string" && value !== "" }
} as const satisfies Readonly<Record<string, OptionKind>>

/** The kind of each option of a function; complete, so that a new option cannot be forgotten. */
export type OptionKinds<Options> = { readonly [Name in keyof Options]-?: OptionKind }

/**
 * Throws a `TypeError` unless `options` is an object whose members all have a known name and a value of their kind. A member that is
 * `undefined` is as good as none.
 */
export const checkOptions = (of: string, options: unknown, kinds: Readonly<Record<string, OptionKind>>): void => {
  const known = Object.keys(kinds)
  if (!optionKinds.object.accepts(options)) {
    throw new TypeError(`${of} takes an object with options: ${known.slice(0, 3).join(", ")}${known.length > 3 ? " and others" : ""}.`)
  }
  for (const [name, value] of Object.entries(options as object)) {
    if (value === undefined) continue
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined
    if (kind === undefined) {
      const nearest = nearestName(name, known)
      throw new TypeError(`${of} has no option ${name.slice(0, 100)}. ${nearest === undefined ? "" : `Did you mean ${nearest}? `}It has ${known.join(", ")}.`)
    }
    if (!kind.accepts(value)) throw new TypeError(`${name} of ${of} is ${kind.what}, and got ${gotten(value)}. Correct it, or leave it out for its default.`)
  }
}

/** Never the value of a text: it may be a secret. */
const gotten = (value: unknown): string => {
  if (value === null || typeof value === "number" || typeof value === "boolean") return String(value)
  if (value === "") return "an empty text"
  if (Array.isArray(value)) return "a list"
  return typeof value === "object" ? "an object" : typeof value === "string" ? "a text" : `a ${typeof value}`
}
