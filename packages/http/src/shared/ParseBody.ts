/** JSON out of a body's bytes. How much it holds is judged first, and a list of many items is parsed item by item. */
import { type ListLimits, listLimitsOf, makePace, maxDepth, nextTurn } from "@waybill/core"
import { Effect } from "effect"
import type { BodySpec } from "./Contract.ts"
import { type Exceeded, type ItemRange, JsonScan, type ScanLimits } from "./JsonScan.ts"
import { bodyBeyond, bodyMissing, bodyNotJson, bodyNotUtf8, bodyTooDeep, itemTooLarge, type Refused } from "./Refused.ts"

/** Most bytes of one item of a call that takes many. */
export const maxItemBytes = 256 * 1024

/** Most bytes beside the items. */
const maxBytesBesideItems = 256 * 1024

/** Most members of one object. Records that take any name take fewer. */
export const maxMembers = 1000

/** An item is refused by itself where it nests too deep; this is for what no item may be. */
const maxDepthOfItems = 8 * maxDepth

/** What is walked at a time. */
const pieceBytes = 64 * 1024

/** Smaller bodies are read in one go. */
const smallBytes = 64 * 1024

/**
 * Most values. Of ordinary JSON each has a name and some text; with so many in so few bytes, objects and lists are empty and would take
 * more than ten times their size in memory.
 */
export const maxValuesOf = (maxBytes: number, length: number = maxBytes): number =>
  Math.min(Math.max(4096, maxBytes / 16), 4096 + Math.floor(length / 4))

const lists = new WeakMap<BodySpec, ListLimits>()

const listsOf = (spec: BodySpec): ListLimits => {
  const known = lists.get(spec)
  if (known !== undefined) return known
  const whole = listLimitsOf(spec.schema)
  const limits = spec.items === undefined ? whole : itemLists(whole, spec.items)
  lists.set(spec, limits)
  return limits
}

/**
 * Of a call that takes `{member: [item …]}`, `{member: item}`, `[item …]` or one item: what is in an item is that item's own affair,
 * because the others may be taken without it.
 */
const itemLists = (whole: ListLimits, member: string): ListLimits => {
  const { items: _items, members: _members, ...list } = whole.members!.get(member)!
  return { ...list, members: new Map([[member, list]]) }
}

const limitsOf = (spec: BodySpec, maxBytes: number, length: number): ScanLimits => ({
  maxDepth: spec.items === undefined ? maxDepth : maxDepthOfItems,
  maxValues: maxValuesOf(maxBytes, length),
  maxMembers,
  lists: listsOf(spec),
  ...(spec.items === undefined ? {} : { itemsIn: spec.items, maxItemBytes })
})

/** `maxBytes` is what the call takes at most. Goes on in slices where the body is large. */
export const parseBody = (bytes: Uint8Array, spec: BodySpec, maxBytes: number): Effect.Effect<unknown, Refused> => {
  const scan = new JsonScan(bytes, limitsOf(spec, maxBytes, bytes.length))
  if (bytes.length <= smallBytes) {
    const verdict = scan.step(bytes.length)
    return typeof verdict === "object" ? Effect.fail(refusalOf(verdict)) : jsonOf(bytes)
  }
  return parseLarge(bytes, spec, scan)
}

const parseLarge = Effect.fnUntraced(function*(bytes: Uint8Array, { items }: BodySpec, scan: JsonScan): Effect.fn.Return<unknown, Refused> {
  yield* nextTurn
  const pace = yield* makePace
  for (;;) {
    const verdict = scan.step(pieceBytes)
    if (verdict === "done") break
    if (verdict !== undefined) return yield* refusalOf(verdict)
    if (pace.isDue()) yield* pace.turn
  }
  if (items === undefined) {
    yield* pace.turn
    return yield* jsonOf(bytes)
  }
  const rest = besideItems(bytes, scan.ranges)
  if (rest === undefined) return yield* itemTooLarge([], maxItemBytes)
  const around = yield* Effect.mapError(jsonOf(rest), withoutPosition)
  const parsed: Array<unknown> = []
  for (const { from, to } of scan.ranges) {
    if (pace.isDue()) yield* pace.turn
    parsed.push(yield* Effect.mapError(jsonOf(bytes.subarray(from, to)), withoutPosition))
  }
  return withItems(around, items, parsed)
})

/** The body with the number of each item in its place; `undefined` where that is too large to be read in one go. */
const besideItems = (bytes: Uint8Array, ranges: ReadonlyArray<ItemRange>): Uint8Array | undefined => {
  const inItems = ranges.reduce((sum, { from, to }) => sum + to - from, 0)
  if (bytes.length - inItems > (ranges.length === 0 ? maxItemBytes : 0) + maxBytesBesideItems) return undefined
  const rest = new Uint8Array(bytes.length - inItems + 8 * ranges.length)
  let length = 0
  let at = 0
  const append = (piece: Uint8Array) => {
    rest.set(piece, length)
    length += piece.length
  }
  ranges.forEach(({ from, to }, number) => {
    append(bytes.subarray(at, from))
    append(encoder.encode(String(number)))
    at = to
  })
  append(bytes.subarray(at))
  return rest.subarray(0, length)
}

/** Every item of the list is a number that stands for one. */
const withItems = (around: unknown, member: string, parsed: ReadonlyArray<unknown>): unknown => {
  const replaced = (list: ReadonlyArray<unknown>) => list.map((number) => parsed[Number(number)])
  if (Array.isArray(around)) return replaced(around)
  const list = typeof around === "object" && around !== null && Object.hasOwn(around, member)
    ? (around as Readonly<Record<string, unknown>>)[member]
    : undefined
  return Array.isArray(list) ? { ...around as object, [member]: replaced(list) } : around
}

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { fatal: true })

/** Whatever JSON it is, however deep. */
export const jsonOf = (bytes: Uint8Array): Effect.Effect<unknown, Refused> => {
  if (bytes.byteLength === 0) return Effect.fail(bodyMissing)
  let text: string
  try {
    text = decoder.decode(bytes)
  } catch {
    return Effect.fail(bodyNotUtf8)
  }
  try {
    return Effect.succeed(JSON.parse(text))
  } catch (error) {
    return Effect.fail(bodyNotJson(/position (\d+)/.exec(String(error))?.[1]))
  }
}

/** A position in a part of the body would be none in what was sent. */
export const withoutPosition = (error: Refused): Refused =>
  error.problem.code === "invalid_json" && error !== bodyNotUtf8 ? bodyNotJson(undefined) : error

const refusalOf = ({ limit, message, path, what }: Exceeded): Refused => {
  switch (what) {
    case "depth":
      return bodyTooDeep(limit)
    case "values":
      return bodyBeyond(path, `The body of this size has at most ${limit} values.`)
    case "members":
      return bodyBeyond(path, `An object has at most ${limit} members.`)
    case "items":
      return bodyBeyond(path, message ?? `At most ${limit} items.`)
    case "itemBytes":
      return itemTooLarge(path, limit)
  }
}
