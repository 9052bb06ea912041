/** What every intake call has in common: one item or a list of them, and an answer for each. */
import { Effect } from "effect"
import { NotPermitted } from "../access/AccessErrors.ts"
import { isCarrier, type Principal } from "../access/model/Principal.ts"
import { type Fault, fault, maxFaults } from "../shared/Fault.ts"
import { InvalidInput } from "../shared/InvalidInput.ts"
import { isObject, maxDepth, nestsDeeperThan } from "../shared/Json.ts"
import { makePace } from "../shared/Turns.ts"

/** Most items in one call. */
export const maxItemsPerCall = 1000

export interface IntakeOptions {
  /** Takes the good items although others are refused. */
  readonly partial?: boolean
}

/** An item that cannot be used. */
export interface RefusedItem {
  readonly index: number
  readonly result: "refused"
  readonly faults: ReadonlyArray<Fault>
}

/** What became of one item; `Key` is what it is known by from now on. */
export type ItemResult<Key> = ({ readonly index: number; readonly result: "accepted" | "duplicate" } & Key) | RefusedItem

/** One item for each, in the order they came. */
export interface IntakeResults<Key> {
  readonly results: ReadonlyArray<ItemResult<Key>>
}

/** An item that passed its schema. */
export interface ReadItem<A> {
  readonly index: number
  readonly value: A
  /** As it came. */
  readonly json: Readonly<Record<string, unknown>>
}

/** The items of `{member: […]}`, `{member: {…}}`, a bare list or one bare item; `undefined` when the body is none of these. */
export const itemsOf = (
  body: unknown,
  member: string,
  looksLikeOne: (body: Readonly<Record<string, unknown>>) => boolean
): ReadonlyArray<unknown> | undefined => {
  if (Array.isArray(body)) return body
  if (!isObject(body)) return undefined
  const items = Object.hasOwn(body, member) ? body[member] : undefined
  if (Array.isArray(items)) return items
  if (isObject(items)) return [items]
  return items === undefined && looksLikeOne(body) ? [body] : undefined
}

/** The same, refusing what is no list of 1 to 1000 items. */
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
  const detail = `At most ${maxItemsPerCall} items in one call, these are ${items.length}. Send several calls.`
  return Effect.fail(InvalidInput.of(fault([member], detail, "out_of_bounds")))
}

/**
 * Reads items one by one, telling good ones from refused ones. Faults point into `member`. A call that is refused as a whole names a
 * hundred faults and reads no further; of `partial` ones each item has an answer, after a hundred faults with its first one alone.
 */
export const readItems = Effect.fnUntraced(function*<A>(
  items: ReadonlyArray<unknown>,
  member: string,
  partial: boolean,
  read: (item: unknown, prefix: ReadonlyArray<PropertyKey>) => Effect.Effect<A, InvalidInput>
) {
  const good: Array<ReadItem<A>> = []
  const refused: Array<RefusedItem> = []
  const pace = yield* makePace
  let faultsLeft = maxFaults
  for (let index = 0; index < items.length && (partial || faultsLeft > 0); index++) {
    if (pace.isDue()) yield* pace.turn
    const at = [member, index]
    const result = yield* Effect.result(Effect.flatMap(plainJson(items[index], at), (json) =>
      Effect.map(read(json, at), (value): ReadItem<A> => ({ index, value, json }))))
    if (result._tag === "Success") {
      good.push(result.success)
    } else {
      const faults = result.failure.faults.slice(0, Math.max(1, faultsLeft))
      faultsLeft -= faults.length
      refused.push({ index, result: "refused", faults })
    }
  }
  return { good, refused }
})

/** A host hands in objects of its own, with dates and the like: what counts is their JSON. */
const plainJson = (item: unknown, at: ReadonlyArray<PropertyKey>): Effect.Effect<Readonly<Record<string, unknown>>, InvalidInput> => {
  if (!isObject(item)) return Effect.fail(InvalidInput.of(fault(at, "An item is a JSON object.")))
  if (nestsDeeperThan(item, maxDepth)) {
    return Effect.fail(InvalidInput.of(fault(at, `An item nests at most ${maxDepth} levels deep.`, "out_of_bounds")))
  }
  return Effect.try({
    try: () => JSON.parse(JSON.stringify(item)) as unknown,
    catch: () => InvalidInput.of(fault(at, "An item holds JSON values only."))
  }).pipe(Effect.filterOrFail(isObject, () => InvalidInput.of(fault(at, "An item is a JSON object."))))
}

/** The failure of a call that is refused as a whole. */
export const refusedCall = (refused: ReadonlyArray<RefusedItem>): InvalidInput =>
  new InvalidInput({ faults: refused.flatMap((each) => each.faults).slice(0, maxFaults) })

/** In the order the items came. */
export const inOrder = <Key>(results: ReadonlyArray<ItemResult<Key>>): ReadonlyArray<ItemResult<Key>> =>
  results.toSorted((a, b) => a.index - b.index)

/** What one kind of item needs besides what every call does. */
export interface Intake<A, Key, E, R> {
  /** The body's member that holds the items, and the beginning of every pointer. */
  readonly member: string
  readonly looksLikeOne: (body: Readonly<Record<string, unknown>>) => boolean
  readonly read: (item: unknown, at: ReadonlyArray<PropertyKey>) => Effect.Effect<A, InvalidInput>
  /** At least one good item; what is refused here refuses the whole call as well, unless `partial`. */
  readonly take: (good: ReadonlyArray<ReadItem<A>>, partial: boolean) => Effect.Effect<ReadonlyArray<ItemResult<Key>>, E, R>
}

/** One call of a carrier: its items are read, the good ones are taken, and each is answered. */
export const takeItems = Effect.fnUntraced(function*<A, Key, E, R>(
  principal: Principal,
  body: unknown,
  options: IntakeOptions,
  { looksLikeOne, member, read, take }: Intake<A, Key, E, R>
) {
  if (!isCarrier(principal)) return yield* new NotPermitted({ needed: "carrier" })
  const partial = options.partial === true
  const items = yield* intakeItems(body, member, looksLikeOne)
  const { good, refused } = yield* readItems(items, member, partial, read)
  if (refused.length > 0 && !partial) return yield* refusedCall(refused)
  const results = good.length === 0 ? [] : yield* take(good, partial)
  return { results: inOrder([...refused, ...results]) }
})
