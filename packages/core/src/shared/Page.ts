/** Numbered pages of the published interfaces: `page`, `pageSize`, and totals where they are known. */
import { Schema } from "effect"

/** One page of a list. Totals are `null` when counting would be too expensive. */
export interface Page<A> {
  readonly data: ReadonlyArray<A>
  readonly page: number
  readonly pageSize: number
  readonly totalPages: number | null
  readonly totalCount: number | null
  /** Whether another page exists. Known also when totals are `null`. */
  readonly hasMore: boolean
}

/** The 1-based page number. */
export const PageNumber = Schema.Int.check(
  Schema.isBetween({ minimum: 1, maximum: 1_000_000_000 }, { message: "page is an integer from 1." })
)

/** Results per page, from 1 to `maximum`. */
export const pageSizeUpTo = (maximum: number) =>
  Schema.Int.check(Schema.isBetween({ minimum: 1, maximum }, { message: `pageSize is an integer from 1 to ${maximum}.` }))

/** Number of pages for `count` results. */
export const pagesFor = (count: number, pageSize: number): number => Math.ceil(count / pageSize)
