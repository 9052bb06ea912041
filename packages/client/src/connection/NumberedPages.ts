/** Lists that come in numbered pages, and how to walk them to the end. */
import { type Answer, type CallOptions, type Connection, type Query, queryOf } from "./Connection.ts"
import { nextLink } from "./Link.ts"
import { WaybillCallFailed } from "./WaybillProblem.ts"

/** One page of a list. Totals are `null` or absent when counting would cost more than it tells. */
export interface NumberedPage<A> {
  readonly data: ReadonlyArray<A>
  readonly page: number
  readonly pageSize: number
  readonly totalPages?: number | null
  readonly totalCount?: number | null
}

/** One page, as asked for. */
export const pageOf = async <A>(
  connection: Connection,
  path: ReadonlyArray<string>,
  query: Query | URLSearchParams,
  options?: CallOptions
): Promise<NumberedPage<A>> => readPage(await connection.send({ method: "GET", path, query, repeatable: true }, options))

/**
 * Every item of a list, page after page.
 *
 * Follows the `Link` header's `next` (RFC 8288), which keeps the pages of one walk together while the list grows. Only
 * its query is taken: it is sent to the address this client already calls, so a proxy that renames host or path does no
 * harm and credentials never go where a header points. A server that sends no `Link` at all is walked by page number.
 */
export async function* itemsOf<A>(
  connection: Connection,
  path: ReadonlyArray<string>,
  query: Query,
  options?: CallOptions
): AsyncGenerator<A, void, undefined> {
  let search = queryOf(query)
  let hasLinks = false
  while (true) {
    const answer = await connection.send({ method: "GET", path, query: search, repeatable: true }, options)
    const page = readPage<A>(answer)
    yield* page.data
    const link = answer.headers.get("link")
    hasLinks ||= link !== null
    const next = hasLinks ? queryOfNext(link, answer) : queryOfNumber(search, page)
    if (next === undefined) return
    if (next.toString() === search.toString()) {
      throw new WaybillCallFailed(answer.call, "unreadable_answer", "the next page is this page again.")
    }
    search = next
  }
}

const queryOfNext = (link: string | null, answer: Answer): URLSearchParams | undefined => {
  const target = link === null ? undefined : nextLink(link)
  if (target === undefined) return undefined
  try {
    return new URL(target, answer.call.url).searchParams
  } catch (cause) {
    throw new WaybillCallFailed(answer.call, "unreadable_answer", "the next page's address cannot be read.", { cause })
  }
}

const queryOfNumber = (search: URLSearchParams, page: NumberedPage<unknown>): URLSearchParams | undefined => {
  if (page.data.length === 0 || page.page >= (page.totalPages ?? 0)) return undefined
  const next = new URLSearchParams(search)
  next.set("page", String(page.page + 1))
  return next
}

const readPage = <A>(answer: Answer): NumberedPage<A> => {
  const page = answer.json as NumberedPage<A> | null | undefined
  if (typeof page === "object" && page !== null && Array.isArray(page.data)) return page
  throw new WaybillCallFailed(answer.call, "unreadable_answer", "the answer is not a page: it has no data.")
}
