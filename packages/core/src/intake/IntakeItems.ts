/** Shared by all intake calls: one item or a list of items, and one result per item. */
import { Effect } from "effect"
import { carriersOnly } from "../access/Callers.ts"
import type { Principal } from "../access/model/Principal.ts"
import { fault, inexactFault } from "../shared/Fault.ts"
import { InvalidInput } from "../shared/InvalidInput.ts"
import { inexactNumber, isObject, maxDepth, nestsDeeperThan } from "../shared/Json.ts"
import { readEach, type RefusedItem, refusedCall } from "../shared/ReadItems.ts"

/** Most items per call. */
export const maxItemsPerCall = 1000

/** Options of every intake call. */
export interface IntakeOptions {
  /** Accepts the valid items even if others are refused. */
  readonly partial?: boolean
}

/** Result of one item. `Key` identifies it from now on. */
export type ItemResult<Key> = ({ readonly index: number; readonly result: "accepted" | "duplicate" } & Key) | RefusedItem

/** One result per item, in the order of the items. */
export interface IntakeResults<Key> {
  readonly results: ReadonlyArray<ItemResult<Key>>
}

/** A valid item. */
export interface ReadItem<A> {
  readonly index: number
  readonly value: A
  /** The item as it was sent. */
  readonly json: Readonly<Record<string, unknown>>
}

/** One item, a list, or either of them in `{member: …}`, as the bodies of HTTP calls have them. */
export type IntakeBody<Member extends string, Item> =
  | Item
  | ReadonlyArray<Item>
  | { readonly [Name in Member]: Item | ReadonlyArray<Item> }

/** Finds the items in `{member: […]}`, `{member: {…}}`, a list, or a single item; `undefined` for any other body. */
export const itemsOf = <Member extends string, Item>(
  body: IntakeBody<Member, Item>,
  member: Member,
  looksLikeOne: (body: Readonly<Record<string, unknown>>) => boolean
): ReadonlyArray<Item> | undefined => {
  if (Array.isArray(body)) return body
  if (!isObject(body)) return undefined
  const items = Object.hasOwn(body, member) ? body[member] : undefined
  if (Array.isArray(items)) return items
  if (isObject(items)) return [items as Item]
  return items === undefined && looksLikeOne(body) ? [body as Item] : undefined
}

/** Like `itemsOf`, but fails unless there are 1 to 1,000 items. */
export const intakeItems = (
  body: unknown,
  member: string,
  looksLikeOne: (body: Readonly<Record<string, unknown>>) => boolean
): Effect.Effect<ReadonlyArray<unknown>, InvalidInput> => {
  const items = itemsOf(body, member, looksLikeOne)
  if (items === undefined) {
    return Effect.fail(InvalidInput.of(fault([], `Send {"${member}": [ … ]} with 1 to ${maxItemsPerCall} items, or one item.`, "required")))
  }
  if (items.length === 0) return Effect.fail(InvalidInput.of(fault([member], "Send at least one item.", "out_of_bounds")))
  if (items.length <= maxItemsPerCall) return Effect.succeed(items)
  const detail = `At most ${maxItemsPerCall} items in one call, this call has ${items.length}. Send several calls.`
  return Effect.fail(InvalidInput.of(fault([member], detail, "out_of_bounds")))
}

/** Validates items one by one. Faults point into `member`. */
export const readItems = <A>(
  items: ReadonlyArray<unknown>,
  member: string,
  partial: boolean,
  read: (item: unknown, prefix: ReadonlyArray<PropertyKey>) => Effect.Effect<A, InvalidInput>
) =>
  readEach(items, partial, (item, index) => {
    const at = [member, index]
    return Effect.result(Effect.flatMap(plainJson(item, at), (json) => Effect.map(read(json, at), (value): ReadItem<A> => ({ index, value, json }))))
  })

/** Converts a host's objects, with dates and the like, to their JSON. Numbers that JSON would turn into `null` are refused. */
const plainJson = (item: unknown, at: ReadonlyArray<PropertyKey>): Effect.Effect<Readonly<Record<string, unknown>>, InvalidInput> => {
  if (!isObject(item)) return Effect.fail(InvalidInput.of(fault(at, "An item is a JSON object.")))
  if (nestsDeeperThan(item, maxDepth)) {
    return Effect.fail(InvalidInput.of(fault(at, `An item nests at most ${maxDepth} levels deep.`, "out_of_bounds")))
  }
  const inexact = inexactNumber(item)
  if (inexact !== undefined) return Effect.fail(InvalidInput.of(inexactFault([...at, ...inexact])))
  return Effect.try({
    try: () => JSON.parse(JSON.stringify(item)) as unknown,
    catch: () => InvalidInput.of(fault(at, "An item can contain JSON values only."))
  }).pipe(Effect.filterOrFail(isObject, () => InvalidInput.of(fault(at, "An item is a JSON object."))))
}

/** Sorts results into the order of the items. */
export const inOrder = <Key>(results: ReadonlyArray<ItemResult<Key>>): ReadonlyArray<ItemResult<Key>> =>
  results.toSorted((a, b) => a.index - b.index)

/** What each kind of item defines. */
export interface Intake<A, Key, E, R> {
  /** The member of the body with the items; also the start of every pointer. */
  readonly member: string
  readonly looksLikeOne: (body: Readonly<Record<string, unknown>>) => boolean
  readonly read: (item: unknown, at: ReadonlyArray<PropertyKey>) => Effect.Effect<A, InvalidInput>
  /** Stores at least one valid item. Items that it refuses also refuse the whole call, unless `partial` is set. */
  readonly take: (good: ReadonlyArray<ReadItem<A>>, partial: boolean) => Effect.Effect<ReadonlyArray<ItemResult<Key>>, E, R>
}

/** Handles one intake call: validates the items, stores the valid ones, and returns one result for each. */
export const takeItems = Effect.fnUntraced(function*<A, Key, E, R>(
  principal: Principal,
  body: unknown,
  options: IntakeOptions,
  { looksLikeOne, member, read, take }: Intake<A, Key, E, R>
) {
  yield* carriersOnly(principal)
  const partial = options.partial === true
  const items = yield* intakeItems(body, member, looksLikeOne)
  const { good, refused } = yield* readItems(items, member, partial, read)
  if (refused.length > 0 && !partial) return yield* refusedCall(refused)
  const results = good.length === 0 ? [] : yield* take(good, partial)
  return { results: inOrder([...refused, ...results]) }
})
