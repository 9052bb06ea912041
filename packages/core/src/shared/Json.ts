/** JSON values: merge patch (RFC 7396), and a canonical text for comparing contents. */
import { plainTime } from "./Instant.ts"

export type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [key: string]: Json }

/** Whether a JSON value is an object, not an array and not `null`. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The members of an object; none of any other value. */
export const membersOf = (value: unknown): Readonly<Record<string, unknown>> => isObject(value) ? value : {}

/** Only the members that are not `undefined`. */
export const withoutUndefined = <A extends object>(members: A): Partial<{ [K in keyof A]: Exclude<A[K], undefined> }> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Partial<{ [K in keyof A]: Exclude<A[K], undefined> }>

/** Deepest nesting of input. Deeper values could overflow the stack of recursive readers. */
export const maxDepth = 64

/** Whether a value nests deeper than `limit`. Recursion stops at the limit. */
export const nestsDeeperThan = (value: unknown, limit: number): boolean => typeof value === "object" && value !== null && isDeeper(value, limit)

/** Without a list of the members and without a call for each leaf: this reads every value of every event. */
const isDeeper = (value: object, limit: number): boolean => {
  if (limit === 0) return true
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) {
      const inner: unknown = value[at]
      if (typeof inner === "object" && inner !== null && isDeeper(inner, limit - 1)) return true
    }
    return false
  }
  for (const name in value) {
    const inner: unknown = (value as Readonly<Record<string, unknown>>)[name]
    if (typeof inner === "object" && inner !== null && isDeeper(inner, limit - 1)) return true
  }
  return false
}

/** The path of a number that JSON parsers would round, or write as `null`. The value must not nest too deep. SPEC-GAP-B5 */
export const inexactNumber = (value: unknown): ReadonlyArray<PropertyKey> | undefined => {
  if (typeof value === "number") return isExact(value) ? undefined : []
  if (typeof value !== "object" || value === null) return undefined
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) {
      const path = inexactNumber(value[at])
      if (path !== undefined) return [at, ...path]
    }
    return undefined
  }
  for (const name in value) {
    const path = inexactNumber((value as Readonly<Record<string, unknown>>)[name])
    if (path !== undefined) return [name, ...path]
  }
  return undefined
}

const isExact = (value: number): boolean => Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))

/**
 * Whether a value surely is JSON of at most so many bytes, and not too deep, without its text. Where only the text can tell, it is not: larger values, and
 * objects that are not plain, because these may write themselves (`toJSON`). Nor is one with an inexact number.
 */
export const isSmallJson = (value: unknown, bytes: number): boolean => bytesLeft(value, bytes, maxDepth) >= 0

/** The longest text of a number, with a comma. */
const numberBytes = 25

/** What is left of a number of bytes after the longest text that a value can have: six bytes for each character. Negative if nothing may be left. */
const bytesLeft = (value: unknown, bytes: number, depth: number): number => {
  switch (typeof value) {
    case "string":
      return bytes - 6 * value.length - 3
    case "number":
      return isExact(value) ? bytes - numberBytes : -1
    case "boolean":
    case "undefined":
      return bytes - numberBytes
    case "object":
      return value === null ? bytes - numberBytes : bytesLeftOf(value, bytes - 3, depth)
    default:
      return -1
  }
}

const bytesLeftOf = (value: object, bytes: number, depth: number): number => {
  const prototype: unknown = Object.getPrototypeOf(value)
  let left = bytes
  if (depth === 0) return -1
  if (Array.isArray(value)) {
    if (prototype !== Array.prototype) return -1
    for (let at = 0; at < value.length && left >= 0; at++) left = bytesLeft(value[at], left, depth - 1)
    return left
  }
  if (prototype !== Object.prototype && prototype !== null) return -1
  for (const name in value) {
    if (left < 0) return left
    left = bytesLeft((value as Readonly<Record<string, unknown>>)[name], left - 6 * name.length - 3, depth - 1)
  }
  return left
}

/** RFC 7396: objects merge, `null` removes, everything else replaces. */
export const mergePatch = (target: unknown, patch: unknown): unknown => {
  if (!isObject(patch)) return patch
  const merged = new Map(isObject(target) ? Object.entries(target) : [])
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key)
    else merged.set(key, mergePatch(merged.get(key), value))
  }
  // fromEntries defines own properties, so a member called __proto__ stays data
  return Object.fromEntries(merged)
}

/** Formats equal content as equal text, regardless of the order of members and the spelling of date-times. */
export const canonicalText = (value: unknown): string => {
  if (typeof value === "string") return JSON.stringify(plainTime(value))
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(",")}]`
  if (!isObject(value)) return JSON.stringify(value) ?? "null"
  const members = Object.keys(value).sort().filter((key) => value[key] !== undefined)
  return `{${members.map((key) => `${JSON.stringify(key)}:${canonicalText(value[key])}`).join(",")}}`
}
