/** Values of a host as JSON has them. */
import { mapPaced } from "@waybill/core"
import { Effect } from "effect"

/** No input of ours is deeper; what is, is refused by whoever reads it. */
const deepest = 128

/** No list of ours takes more items. */
export const longestList = 10_000

/** The items of one call, in slices. Too many of them stay as they are, because they are refused for being so many. */
export const plainItems = (items: ReadonlyArray<unknown>, most: number): Effect.Effect<ReadonlyArray<unknown>> =>
  Array.isArray(items) && items.length <= most ? mapPaced(items, (item) => plain(item)) : Effect.succeed(items)

/** Members that are `undefined` were not given, and a `Date` is its instant in UTC. Bytes, and what is plain already, stay the same object. */
export const plain = (value: unknown, depth = deepest): unknown => {
  if (typeof value !== "object" || value === null || depth === 0 || ArrayBuffer.isView(value)) return value
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? String(value) : value.toISOString()
  if (Array.isArray(value)) {
    // whoever reads it refuses it by its length
    if (value.length > longestList) return value
    const items = value.map((item) => plain(item, depth - 1))
    return items.some((item, index) => item !== value[index]) ? items : value
  }
  const members = Object.entries(value)
  const kept = members.filter(([, member]) => member !== undefined).map(([name, member]) => [name, plain(member, depth - 1)] as const)
  const same = kept.length === members.length && kept.every(([name, member]) => member === (value as Readonly<Record<string, unknown>>)[name])
  return same ? value : Object.fromEntries(kept)
}
