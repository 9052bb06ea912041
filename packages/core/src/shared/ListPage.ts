/** Cursor pagination of operator lists, where the cursor names the last row, and size limits of lists. */
import { Effect, Schema } from "effect"
import { Base64Url } from "effect/encoding"
import { fault } from "./Fault.ts"
import { InvalidInput } from "./InvalidInput.ts"
import { mapPaced } from "./Turns.ts"
import { isUniqueId } from "./UniqueIds.ts"

/** Entries on a page without `limit`. */
export const defaultListLimit = 100

/** Most entries on a page, from 1 to 500; 100 if left out. */
export const ListLimit = Schema.optionalKey(
  Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 500 }, { message: "limit is an integer from 1 to 500." }))
)

/** `nextCursor` of the page before; the first page has none. */
export const ListCursor = Schema.optionalKey(Schema.String)

const foreign = "cursor is invalid. Use nextCursor of the previous page."

/** Like `ListCursor`, for lists whose cursor is the id that Waybill gave to a row. */
export const IdCursor = Schema.optionalKey(Schema.String.check(Schema.makeFilter((text: string) => isUniqueId(text) || foreign)))

/** `nextCursor` of an answer: for the next call; `null` when nothing is left. */
export const NextCursor = Schema.NullOr(Schema.String)

/** A page of a list that is read to its end by cursor. */
export interface ListPage<A> {
  readonly data: ReadonlyArray<A>
  /** `null` at the end. */
  readonly nextCursor: string | null
}

/** A page with the number of entries of the whole list. */
export interface CountedPage<A> extends ListPage<A> {
  /** Of all pages, up to a bound, if it was asked for. */
  readonly total?: number
}

/** Refuses a cursor that Waybill did not issue. */
export const foreignCursor = Effect.suspend(() => Effect.fail(InvalidInput.of(fault(["cursor"], foreign))))

/** Largest page in characters of its JSON, which is serialised in one step. A page ends before it would exceed this. */
export const maxPageSize = 4 * 1024 * 1024

/** Size in bytes after which a store returns no older entries of a shipment's history. */
export const maxHistoryBytes = 8_000_000

/** Most rows per read. */
export const rowsAtATime = 50

/** Rows of the first read. Their size limits the reads after it. */
const firstRows = 10

/** Characters of JSON per read, about: storage decodes what it reads in one step. */
const readSize = 512 * 1024

/** A range of a list: rows after `after`, at most `limit`. */
export interface ListRange {
  readonly after: string | undefined
  readonly limit: number
}

/** Rows of a store that ends a read early. */
interface RowsRead<Row> {
  readonly rows: ReadonlyArray<Row>
  /** Where it ended early: the page ends there too, and the next one continues after it. */
  readonly lookedTo: string | undefined
}

/** How `listPage` reads a list of a store. */
export interface ListSource<Row, A, E, R> {
  /** Reads rows with ids after `after`, in the order of their ids. */
  readonly read: (range: ListRange) => Effect.Effect<ReadonlyArray<Row> | RowsRead<Row>, E, R>
  readonly idOf: (row: Row) => string
  /** Approximate size of the row's JSON in characters. Without it, rows count as small. */
  readonly sizeOf?: (row: Row) => number
  /**
   * Chooses rows, for what no store can look for by an index. A page then looks at `mostLooked` rows at most, so it may be short, or empty,
   * with a cursor.
   */
  readonly keeps?: (row: Row) => boolean
  readonly shown: (row: Row) => A
}

/** Rows that one page of a search looks at, at most. */
export const mostLooked = 1000

/** Approximate size of a list of texts as JSON, in characters. */
export const textsSize = (texts: ReadonlyArray<string>): number => texts.reduce((sum, text) => sum + text.length + 3, 0)

/** Reads a page of at most `limit` rows, and of at least one if any exists. The page ends early when rows are large. */
export const listPage = Effect.fnUntraced(function*<Row, A, E, R>(
  { idOf, keeps, read, shown, sizeOf }: ListSource<Row, A, E, R>,
  cursor: string | undefined,
  limit: number
): Effect.fn.Return<ListPage<A>, E, R> {
  const data: Array<A> = []
  let after = cursor
  let size = 0
  let looked = 0
  let isFull = false
  for (;;) {
    const fitting = data.length === 0 ? firstRows : Math.max(1, Math.floor(readSize * data.length / Math.max(1, size)))
    const wanted = keeps === undefined ? Math.min(rowsAtATime, fitting, limit - data.length) : rowsAtATime
    // one extra row shows whether another page follows
    const found = yield* read({ after, limit: wanted + 1 })
    const { lookedTo, rows } = "rows" in found ? found : { rows: found, lookedTo: undefined }
    const taken: Array<Row> = []
    let passed = 0
    for (const row of rows.slice(0, wanted)) {
      if (keeps?.(row) ?? true) {
        size += sizeOf?.(row) ?? 0
        isFull = size > maxPageSize && data.length + taken.length > 0
        if (isFull) break
        taken.push(row)
      }
      passed += 1
      after = idOf(row)
      isFull = data.length + taken.length === limit
      if (isFull) break
    }
    data.push(...yield* mapPaced(taken, shown))
    if (passed === rows.length) return { data, nextCursor: lookedTo ?? null }
    looked += passed
    if (isFull || (keeps !== undefined && looked >= mostLooked)) return { data, nextCursor: after! }
  }
})

const decodeName = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Tuple([Schema.String])))

/**
 * Like `listPage`, for rows whose ids are names that callers chose. Most texts could be such a name, so its cursor has a form of its own: otherwise
 * the number of a page or the cursor of another list would silently leave rows out. `isName`: whether a text can be an id.
 */
export const namedListPage = <Row, A, E, R>(
  source: ListSource<Row, A, E, R>,
  isName: (text: string) => boolean,
  cursor: string | undefined,
  limit: number
): Effect.Effect<ListPage<A>, InvalidInput | E, R> => {
  const after = cursor === undefined ? Effect.undefined : Effect.fromResult(Base64Url.decodeString(cursor)).pipe(
    Effect.flatMap(decodeName),
    Effect.map(([name]) => name),
    Effect.filterOrFail(isName),
    Effect.catch(() => foreignCursor)
  )
  return Effect.map(Effect.flatMap(after, (name) => listPage(source, name, limit)), ({ data, nextCursor }) => ({
    data,
    nextCursor: nextCursor === null ? null : Base64Url.encode(JSON.stringify([nextCursor]))
  }))
}
