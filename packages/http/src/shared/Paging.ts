/** Pagination headers: page number, totals if known, and links to other pages. */
import { Count, type Page } from "@waybill/core"
import { Schema } from "effect"
import type { HeaderSpec } from "./Contract.ts"
import type { Site } from "./Site.ts"

/** The interfaces say "pagination in headers" and define none. SPEC-GAP-D6 */
export const pageHeaders = {
  "X-Page": { description: "The page's number, from 1.", schema: Count },
  "X-Page-Size": { description: "Most results a page holds.", schema: Count },
  "X-Total-Count": { description: "Number of all results. Absent if counting would be too expensive.", schema: Count },
  "X-Total-Pages": { description: "All pages. Absent like X-Total-Count.", schema: Count },
  "Link": {
    description: "RFC 8288: first, prev, next and, where it is known, last. Follow next as it is: all pages then show one state of the list.",
    schema: Schema.String
  }
} as const satisfies Readonly<Record<string, HeaderSpec>>

/** `query` is the caller's query, repeated in every link. `nextCursor` is added to the link of the next page. */
export const headersOfPage = (
  page: Page<unknown>,
  query: Readonly<Record<string, unknown>>,
  site: Site,
  nextCursor?: string
): Readonly<Record<string, string>> => {
  const link = linksOf(page, query, site, nextCursor)
  return {
    "x-page": String(page.page),
    "x-page-size": String(page.pageSize),
    ...(page.totalCount === null ? {} : { "x-total-count": String(page.totalCount) }),
    ...(page.totalPages === null ? {} : { "x-total-pages": String(page.totalPages) }),
    ...(link === "" ? {} : { link })
  }
}

const longestRepeatedQuery = 1500

const linksOf = (page: Page<unknown>, query: Readonly<Record<string, unknown>>, site: Site, nextCursor: string | undefined): string => {
  const address = site.urlOf(site.path)
  const { page: _page, cursor: _cursor, ...asked } = query
  // Four long links would make a header that clients refuse; keep only the most important one.
  const brief = searchOf(asked).length <= longestRepeatedQuery
  const link = (rel: string, to: number, cursor?: string) => {
    const search = searchOf({ ...asked, page: to, pageSize: page.pageSize, cursor })
    return `<${address}?${search}>; rel="${rel}"`
  }
  const { totalPages } = page
  return [
    ...(brief ? [link("first", 1)] : []),
    ...(brief && page.page > 1 ? [link("prev", totalPages === null ? page.page - 1 : Math.max(1, Math.min(page.page - 1, totalPages)))] : []),
    ...(page.hasMore ? [link("next", page.page + 1, nextCursor)] : []),
    ...(brief && totalPages !== null && totalPages > 0 ? [link("last", totalPages)] : [])
  ].join(", ")
}

/** A query string with these values. A list is repeated. */
export const searchOf = (query: Readonly<Record<string, unknown>>): string => {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? new Set(value) : [value]) {
      if (each !== undefined) search.append(name, String(each))
    }
  }
  return search.toString()
}
