/** Lists that operators walk: by an id that is the cursor as well. */
import { Effect, Schema } from "effect"
import { fault } from "./Fault.ts"
import { InvalidInput } from "./InvalidInput.ts"

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

/** A page of rows that were read with one more than the limit, which tells whether anything follows. */
export const listPage = <Row, A>(
  rows: ReadonlyArray<Row>,
  limit: number,
  idOf: (row: Row) => string,
  shown: (row: Row) => A
): ListPage<A> => ({
  data: rows.slice(0, limit).map(shown),
  nextCursor: rows.length > limit ? idOf(rows[limit - 1]!) : null
})
