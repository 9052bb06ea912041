/** Lists that operators walk: by an id that is the cursor as well. */
import { Effect, Schema } from "effect"
import { fault } from "./Fault.ts"
import { InvalidInput } from "./InvalidInput.ts"
import { mapPaced } from "./Turns.ts"

export const defaultListLimit = 100

export const ListLimit = Schema.optionalKey(
  Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 500 }, { message: "limit is an integer from 1 to 500." }))
)

export const ListCursor = Schema.optionalKey(Schema.String)

export interface ListPage<A> {
  readonly data: ReadonlyArray<A>
  /** `null` at the end. */
  readonly nextCursor: string | null
}

/** Refuses a cursor that was never given out. */
export const foreignCursor = Effect.suspend(() => Effect.fail(InvalidInput.of(fault(["cursor"], "cursor comes from nextCursor of the page before."))))

/** A page that is larger than this ends, in characters of its JSON. It is written as JSON in one step. */
export const maxPageSize = 4 * 1024 * 1024

/** Read at a time, so that a page of large rows costs no more memory than one of small ones. */
export const rowsAtATime = 50

export interface ListSource<Row, A, E, R> {
  /** Rows after this id, by id. */
  readonly read: (range: { readonly after: string | undefined; readonly limit: number }) => Effect.Effect<ReadonlyArray<Row>, E, R>
  readonly idOf: (row: Row) => string
  /** Characters of its JSON, about; rows without one are small. */
  readonly sizeOf?: (row: Row) => number
  readonly shown: (row: Row) => A
}

/** Characters of a list of texts as JSON, about. */
export const textsSize = (texts: ReadonlyArray<string>): number => texts.reduce((sum, text) => sum + text.length + 3, 0)

/** A page of `limit` rows at most, one at least where there is any. It ends earlier where rows are large. */
export const listPage = Effect.fnUntraced(function*<Row, A, E, R>(
  { idOf, read, shown, sizeOf }: ListSource<Row, A, E, R>,
  cursor: string | undefined,
  limit: number
): Effect.fn.Return<ListPage<A>, E, R> {
  const data: Array<A> = []
  let after = cursor
  let size = 0
  for (;;) {
    const wanted = Math.min(rowsAtATime, limit - data.length)
    // one more tells whether anything follows
    const rows = yield* read({ after, limit: wanted + 1 })
    const taken: Array<Row> = []
    for (const row of rows.slice(0, wanted)) {
      size += sizeOf?.(row) ?? 0
      if (size > maxPageSize && data.length + taken.length > 0) break
      taken.push(row)
    }
    data.push(...yield* mapPaced(taken, shown))
    if (taken.length > 0) after = idOf(taken[taken.length - 1]!)
    if (taken.length === rows.length) return { data, nextCursor: null }
    if (taken.length < wanted || data.length === limit) return { data, nextCursor: after! }
  }
})
