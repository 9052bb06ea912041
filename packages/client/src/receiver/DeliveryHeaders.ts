/** Request headers in any form that a runtime or framework provides. */
import { DeliveryRefused } from "./DeliveryRefused.ts"

/** A `Headers`, Node's `request.headers` or `request.rawHeaders`, a plain object, or name-value pairs. Names are case-insensitive. */
export type DeliveryHeaders =
  | { readonly get: (name: string) => string | null | undefined }
  | { readonly [name: string]: string | ReadonlyArray<string> | undefined }
  | ReadonlyArray<string>
  | Iterable<readonly [name: string, value: string]>

/** The single value of a header. `name` is in lower case. Throws when it is absent, repeated or longer than `longest`. */
export const readHeader = (headers: DeliveryHeaders, name: string, longest: number): string => {
  const [value = "", ...others] = valuesOf(headers, name)
  if (value === "") throw new DeliveryRefused("header_missing", `The header ${name} is missing.`)
  if (others.length > 0) throw new DeliveryRefused("header_repeated", `The header ${name} occurs more than once.`)
  if (value.length > longest) throw new DeliveryRefused("header_too_long", `The header ${name} is longer than ${longest} characters.`)
  return value
}

/** Whether a header is present, even if empty. `name` is in lower case. */
export const hasHeader = (headers: DeliveryHeaders, name: string): boolean => valuesOf(headers, name).length > 0

const valuesOf = (headers: DeliveryHeaders, name: string): ReadonlyArray<string> => {
  if ("get" in headers && typeof headers.get === "function" && !(headers instanceof Map)) {
    const value = headers.get(name)
    return typeof value === "string" ? [value] : []
  }
  return pairsOf(headers).flatMap(([key, value]) => key.toLowerCase() !== name || value === undefined ? [] : value)
}

const pairsOf = (headers: object): ReadonlyArray<readonly [name: string, value: string | ReadonlyArray<string> | undefined]> => {
  if (!(Symbol.iterator in headers)) return Object.entries(headers)
  const items = [...headers as Iterable<string | readonly [string, string]>]
  // Node's rawHeaders: name, value, name, value
  return items.flatMap((item, index) => typeof item !== "string" ? [item] : index % 2 === 0 ? [[item, items[index + 1] as string] as const] : [])
}
