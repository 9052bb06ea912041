/** Converts a host's values to plain JSON values, and JSON to values. */
import { mapPaced } from "@waybill/core"
import { Effect } from "effect"

/** No valid input is nested deeper; the decoder refuses deeper values. */
const maxDepth = 128

/** No list in the interfaces accepts more items. */
export const maxListItems = 10_000

/** Converts the items of one call, in slices. A list that is too long stays unchanged, because the decoder refuses it. */
export const plainItems = <Item>(items: ReadonlyArray<unknown>, max: number): Effect.Effect<ReadonlyArray<Item>> =>
  Array.isArray(items) && items.length <= max ? mapPaced(items, (item) => plain<Item>(item)) : Effect.succeed(items as ReadonlyArray<Item>)

/**
 * A host's value as the input of a use case, which validates it. Removes `undefined` members, and turns a `Date` into its UTC instant. Bytes
 * and plain values stay the same object.
 */
export const plain = <Input>(value: unknown): Input => plainValue(value, maxDepth) as Input

const plainValue = (value: unknown, depth: number): unknown => {
  if (typeof value !== "object" || value === null || depth === 0 || ArrayBuffer.isView(value)) return value
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? String(value) : value.toISOString()
  if (Array.isArray(value)) {
    // The decoder refuses it by its length.
    if (value.length > maxListItems) return value
    const items = value.map((item) => plainValue(item, depth - 1))
    return items.some((item, index) => item !== value[index]) ? items : value
  }
  const members = Object.entries(value)
  const kept = members.filter(([, member]) => member !== undefined).map(([name, member]) => [name, plainValue(member, depth - 1)] as const)
  const same = kept.length === members.length && kept.every(([name, member]) => member === (value as Readonly<Record<string, unknown>>)[name])
  return same ? value : Object.fromEntries(kept)
}

const decoder = new TextDecoder()

/** A stored body as the host sees it. */
export const parsed = <A>(bytes: Uint8Array): A => JSON.parse(decoder.decode(bytes))
