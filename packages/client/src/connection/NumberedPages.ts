/** Lists with numbered pages, and iteration over all their pages. */
import { type Answer, type CallOptions, type Connection, type Query, queryOf } from "./Connection.ts"
import { nextLink } from "./Link.ts"
import { WaybillCallFailed } from "./WaybillProblem.ts"

/** One page of a list. Totals are `null` or absent when counting is too expensive. */
export interface NumberedPage<A> {
  readonly data: ReadonlyArray<A>
  readonly page: number
  readonly pageSize: number
  readonly totalPages?: number | null
  readonly totalCount?: number | null
}

/** Fetches one page. */
export const pageOf = async <A>(
  connection: Connection,
  path: ReadonlyArray<string>,
  query: Query | URLSearchParams,
  options?: CallOptions
): Promise<NumberedPage<A>> => readPage(await connection.send({ method: "GET", path, query, repeatable: true }, options))

/**
 * Iterates over every item of a list, page by page.
 *
 * Follows the `next` relation of the `Link` header (RFC 8288), which keeps the pages consistent while the list grows.
 * Only its query is used and sent to the address of this client, so a proxy may rewrite host or path, and credentials
 * never go to an address from a header. Servers without a `Link` header are paged by number: up to `totalPages`, or,
 * because it may be `null`, until a page is not full.
 */
export async function* itemsOf<A>(
  connection: Connection,
  path: ReadonlyArray<string>,
  query: Query,
  options?: CallOptions
): AsyncGenerator<A, void, undefined> {
  let search = queryOf(query)
  let hasLinks = false
  const isKnown = knownPages(search.toString())
  while (true) {
    const answer = await connection.send({ method: "GET", path, query: search, repeatable: true }, options)
    const page = readPage<A>(answer)
    yield* page.data
    const link = answer.headers.get("link")
    hasLinks ||= link !== null
    const next = hasLinks ? queryOfNext(link, answer) : queryOfNumber(search, page)
    if (next === undefined) return
    if (next.toString() === search.toString()) {
      throw new WaybillCallFailed(answer.call, "unreadable_answer", "the next page is the same page again.")
    }
    if (isKnown(next.toString())) throw new WaybillCallFailed(answer.call, "unreadable_answer", "the next page is an earlier page again.")
    search = next
  }
}

/** Says whether a list leads back to an earlier page. Remembers one page, which it replaces after 1, 2, 4, … pages: the memory does not grow with the list. */
const knownPages = (first: string) => {
  let remembered = first
  let [pages, most] = [0, 1]
  return (next: string): boolean => {
    if (next === remembered) return true
    pages += 1
    if (pages === most) [remembered, pages, most] = [next, 0, most * 2]
    return false
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
  const isLast = page.totalPages === null || page.totalPages === undefined ? page.data.length < page.pageSize : page.page >= page.totalPages
  if (isLast || page.data.length === 0) return undefined
  const next = new URLSearchParams(search)
  next.set("page", String(page.page + 1))
  return next
}

const readPage = <A>(answer: Answer): NumberedPage<A> => {
  const page = answer.json as NumberedPage<A> | null | undefined
  if (typeof page === "object" && page !== null && Array.isArray(page.data)) return page
  throw new WaybillCallFailed(answer.call, "unreadable_answer", "the answer is not a page: it has no data.")
}
