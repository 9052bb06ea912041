/** Successful answers: JSON, pages of JSON, and nothing. */
import type { Page } from "@waybill/core"
import { HttpServerResponse } from "effect/http"

type Headers = Readonly<Record<string, string>>

const contentType = "application/json"
const encoder = new TextEncoder()

export const json = (value: unknown, options: { readonly status?: number; readonly headers?: Headers } = {}) =>
  HttpServerResponse.text(JSON.stringify(value), { ...options, contentType })

export const noContent = HttpServerResponse.empty({ status: 204 })

/** A page whose items are JSON bytes already; they are joined, never read. */
export const encodedPage = (page: Page<Uint8Array>, headers: Headers) => {
  const { page: number, pageSize, totalCount, totalPages } = page
  const head = encoder.encode("{\"data\":[")
  const tail = encoder.encode(`],${JSON.stringify({ page: number, pageSize, totalPages, totalCount }).slice(1)}`)
  let length = head.length + tail.length + Math.max(0, page.data.length - 1)
  for (const item of page.data) length += item.length
  const body = new Uint8Array(length)
  body.set(head)
  let at = head.length
  page.data.forEach((item, index) => {
    if (index > 0) body[at++] = 0x2c
    body.set(item, at)
    at += item.length
  })
  body.set(tail, at)
  return HttpServerResponse.uint8Array(body, { headers, contentType })
}

export const pageOf = (page: Page<unknown>, headers: Headers) => {
  const { data, page: number, pageSize, totalCount, totalPages } = page
  return json({ data, page: number, pageSize, totalPages, totalCount }, { headers })
}
