/** Successful answers: JSON, pages of JSON, and nothing. */
import type { Page } from "@waybill/core"
import { HttpServerResponse } from "effect/http"

type Headers = Readonly<Record<string, string>>

const contentType = "application/json"
const encoder = new TextEncoder()

export const json = (value: unknown, options: { readonly status?: number; readonly headers?: Headers } = {}) =>
  HttpServerResponse.text(JSON.stringify(value), { ...options, contentType })

export const noContent = HttpServerResponse.empty({ status: 204 })

/** JSON that is bytes already. */
export const encoded = (body: Uint8Array, status = 200) => HttpServerResponse.uint8Array(body, { status, contentType })

/** The same, several as one array. */
export const encodedList = (items: ReadonlyArray<Uint8Array>) => encoded(joined("[", items, "]"))

/** A page whose items are JSON bytes already; they are joined, never read. */
export const encodedPage = (page: Page<Uint8Array>, headers: Headers) => {
  const { page: number, pageSize, totalCount, totalPages } = page
  const tail = `],${JSON.stringify({ page: number, pageSize, totalPages, totalCount }).slice(1)}`
  return HttpServerResponse.uint8Array(joined("{\"data\":[", page.data, tail), { headers, contentType })
}

const joined = (head: string, items: ReadonlyArray<Uint8Array>, tail: string): Uint8Array => {
  const [before, after] = [encoder.encode(head), encoder.encode(tail)]
  let length = before.length + after.length + Math.max(0, items.length - 1)
  for (const item of items) length += item.length
  const body = new Uint8Array(length)
  body.set(before)
  let at = before.length
  items.forEach((item, index) => {
    if (index > 0) body[at++] = 0x2c
    body.set(item, at)
    at += item.length
  })
  body.set(after, at)
  return body
}

export const pageOf = (page: Page<unknown>, headers: Headers) => {
  const { data, page: number, pageSize, totalCount, totalPages } = page
  return json({ data, page: number, pageSize, totalPages, totalCount }, { headers })
}
