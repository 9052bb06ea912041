/** Lists whose pages name the next one by a cursor. */
import type { CallOptions, Connection, Query } from "./Connection.ts"
import { WaybillCallFailed } from "./WaybillProblem.ts"

/** Selects a page of a list. */
export interface PageQuery {
  /** Items per page: 1 to 500. The server's default is 100. */
  readonly limit?: number | undefined
  /** `nextCursor` of the previous page. */
  readonly cursor?: string | undefined
}

/** One page of a list. */
export interface ListedPage<A> {
  readonly data: ReadonlyArray<A>
  /** Absent, `null` or empty on the last page. */
  readonly nextCursor?: string | null
}

export const cursorPage = async <A>(connection: Connection, path: ReadonlyArray<string>, query: object, options: CallOptions | undefined): Promise<ListedPage<A>> => {
  const answer = await connection.send({ method: "GET", path, query: query as Query, repeatable: true }, options)
  const page = answer.json as ListedPage<A> | null | undefined
  if (!Array.isArray(page?.data)) throw new WaybillCallFailed(answer.call, "unreadable_answer", "the answer is not a page: it has no data.")
  if (page.nextCursor && page.nextCursor === (query as PageQuery).cursor) throw new WaybillCallFailed(answer.call, "unreadable_answer", "the next page is the same page again.")
  return page
}

/** Iterates over every item, page by page. */
export async function* allPages<A>(
  pageAt: (cursor: string | undefined) => Promise<{ readonly data: ReadonlyArray<A>; readonly nextCursor?: string | null | undefined }>
): AsyncGenerator<A, void, undefined> {
  let cursor: string | undefined
  do {
    const page = await pageAt(cursor)
    yield* page.data
    // an empty one would ask for the first page again
    cursor = page.nextCursor || undefined
  } while (cursor !== undefined)
}
