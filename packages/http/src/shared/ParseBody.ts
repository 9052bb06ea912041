/** Parses a JSON body. Checks its size limits first, and parses a list of many items one by one. */
import { type ListLimits, listLimitsOf, makePace, maxDepth, nextTurn } from "@waybill/core"
import { Effect } from "effect"
import { memoize } from "effect/Function"
import type { BodySpec } from "./Contract.ts"
import { type Exceeded, type ItemRange, JsonScan, type ScanLimits } from "./JsonScan.ts"
import { bodyBeyond, bodyMissing, bodyNotJson, bodyNotUtf8, bodyTooDeep, itemTooLarge, type Refused } from "./Refused.ts"

/** Maximum bytes per item of a call with many. */
export const maxItemBytes = 256 * 1024

/** Maximum bytes besides the items. */
const maxBytesBesideItems = 256 * 1024

/** Maximum members per object. Records with free names have lower limits. */
export const maxMembers = 1000

/** Nesting limit for the whole body. An item above its own, lower limit is refused alone. */
const maxDepthOfItems = 8 * maxDepth

/** Bytes to scan at a time. */
const pieceBytes = 64 * 1024

/** Bodies up to this size are parsed in one go. */
const smallBytes = 64 * 1024

/**
 * Maximum number of values. In ordinary JSON each has a name and some text; this many values in so few bytes means
 * empty objects and lists, which would take more than ten times their size in memory.
 */
export const maxValuesOf = (maxBytes: number, length: number = maxBytes): number =>
  Math.min(Math.max(4096, maxBytes / 16), 4096 + Math.floor(length / 4))

const listsOf = memoize((spec: BodySpec): ListLimits => {
  const whole = listLimitsOf(spec.schema)
  return spec.items === undefined ? whole : itemLists(whole, spec.items)
})

/**
 * For calls that accept `{member: [item …]}`, `{member: item}`, `[item …]` or one item: limits inside an item apply to
 * that item alone, because the others may still be accepted.
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

/** `maxBytes` is the body limit of the call. Large bodies are parsed in slices. */
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

/** The body with each item replaced by its number; `undefined` when it is too large to be parsed in one go. */
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

/** Replaces the numbers of the list by their items. */
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

/** Parses JSON of any depth. Of members with the same name it keeps the last. SPEC-GAP-X10 */
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

/** Removes the position, because a position in a part of the body does not match the request. */
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
