/** Numbered pages as the interfaces ask for them: `page`, `pageSize`, and totals where they are known. */
import { Schema } from "effect"

/** One page of a list. Totals are `null` when counting would cost more than it tells. */
export interface Page<A> {
  readonly data: ReadonlyArray<A>
  readonly page: number
  readonly pageSize: number
  readonly totalPages: number | null
  readonly totalCount: number | null
  /** Whether a further page exists, also where totals are unknown. */
  readonly hasMore: boolean
}

/** The 1-based page number. */
export const PageNumber = Schema.Int.check(
  Schema.isBetween({ minimum: 1, maximum: 1_000_000_000 }, { message: "page is an integer from 1." })
)

/** How many results one page holds, from 1 to `maximum`. */
export const pageSizeUpTo = (maximum: number) =>
  Schema.Int.check(Schema.isBetween({ minimum: 1, maximum }, { message: `pageSize is an integer from 1 to ${maximum}.` }))

/** How many pages `count` results fill. */
export const pagesFor = (count: number, pageSize: number): number => Math.ceil(count / pageSize)
