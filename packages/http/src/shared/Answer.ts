/** Successful responses: JSON, pages of JSON, and empty ones. */
import { mapPaced, type Page } from "@waybill/core"
import { Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { holding } from "./HeldBytes.ts"

type Headers = Readonly<Record<string, string>>

const contentType = "application/json"
const encoder = new TextEncoder()

export const json = (value: unknown, options: { readonly status?: number; readonly headers?: Headers } = {}) =>
  HttpServerResponse.text(JSON.stringify(value), { ...options, contentType })

export const noContent = HttpServerResponse.empty({ status: 204 })

export const accepted = HttpServerResponse.empty({ status: 202 })

/** A response with encoded JSON. */
export const encoded = (body: Uint8Array, status = 200) => HttpServerResponse.uint8Array(body, { status, contentType })

/** Several encoded items as one array. */
export const encodedList = (items: ReadonlyArray<Uint8Array>) => joined("[", items, "]", {})

/** A page whose items are encoded JSON, joined without parsing. */
export const encodedPage = (page: Page<Uint8Array>, headers: Headers) => {
  const { page: number, pageSize, totalCount, totalPages } = page
  return joined("{\"data\":[", page.data, `],${JSON.stringify({ page: number, pageSize, totalPages, totalCount }).slice(1)}`, headers)
}

/** A page whose items are encoded JSON, and where the next one starts. */
export const encodedCursorPage = ({ data, nextCursor }: { readonly data: ReadonlyArray<Uint8Array>; readonly nextCursor: string }) =>
  joined("{\"data\":[", data, `],${JSON.stringify({ nextCursor }).slice(1)}`, {})

/** Several encoded items as one array, sent while they are read. `chunkBytes`: how many of them are read at once, about. */
export const encodedStream = <E>(items: Stream.Stream<Uint8Array, E>, chunkBytes: number) => {
  const array = Stream.suspend(() => {
    let before = "["
    return Stream.concat(
      Stream.map(Stream.chunks(items), (some) => {
        const piece = pieceOf([encoder.encode(before), ...some, none], 0, some.length + 2)
        before = ","
        return piece
      }),
      Stream.sync(() => encoder.encode(before === "[" ? "[]" : "]"))
    )
  })
  // the items and the piece that they are joined to
  return holding(2 * chunkBytes, HttpServerResponse.stream(array, { contentType }))
}

const none = new Uint8Array(0)

/** A page of values, encoded in slices. */
export const pageOf = (page: Page<unknown>, headers: Headers) =>
  Effect.map(mapPaced(page.data, (each) => encoder.encode(JSON.stringify(each))), (data) => encodedPage({ ...page, data }, headers))

/** An object with one long list, whose items are written in slices. */
export const jsonWithList = <A extends object, K extends keyof A & string>(value: A, member: K) => {
  const { [member]: items, ...rest } = value
  const before = JSON.stringify(rest).slice(0, -1)
  return Effect.map(
    mapPaced(items as ReadonlyArray<unknown>, (each) => encoder.encode(JSON.stringify(each))),
    (written) => joined(`${before}${before === "{" ? "" : ","}${JSON.stringify(member)}:[`, written, "]}", {})
  )
}

/** A page of values, and where the next one starts. */
export const listPage = (page: { readonly data: ReadonlyArray<unknown> }) => jsonWithList(page, "data")

/** Larger bodies are sent in chunks of about this size, without a copy of the whole. */
const pieceBytes = 64 * 1024

/** A body of bytes that other responses have too: each holds one chunk of it, a copy. */
export const sharedBytes = (parts: ReadonlyArray<Uint8Array>, type: string, headers: Headers) =>
  HttpServerResponse.stream(Stream.suspend(() => Stream.fromIterable(copies(parts), { chunkSize: 1 })), {
    headers,
    contentType: type,
    contentLength: parts.reduce((length, part) => length + part.length, 0)
  })

const copies = function*(parts: ReadonlyArray<Uint8Array>): Iterable<Uint8Array> {
  for (const part of parts) for (let from = 0; from < part.length; from += pieceBytes) yield part.slice(from, from + pieceBytes)
}

const joined = (head: string, items: ReadonlyArray<Uint8Array>, tail: string, headers: Headers) => {
  const [before, after] = [encoder.encode(head), encoder.encode(tail)]
  let length = before.length + after.length + Math.max(0, items.length - 1)
  for (const item of items) length += item.length
  const parts = [before, ...items, after]
  if (length <= pieceBytes) return HttpServerResponse.uint8Array(pieceOf(parts, 0, parts.length), { headers, contentType })
  return holding(length, HttpServerResponse.stream(Stream.suspend(() => Stream.fromIterable(pieces(parts), { chunkSize: 1 })), { headers, contentType, contentLength: length }))
}

const pieces = function*(parts: ReadonlyArray<Uint8Array>): Iterable<Uint8Array> {
  for (let from = 0; from < parts.length;) {
    let [to, length] = [from, 0]
    while (to < parts.length && (to === from || length + parts[to]!.length <= pieceBytes)) length += parts[to++]!.length
    yield pieceOf(parts, from, to)
    from = to
  }
}

/** Items `from` up to `to`, exclusive, with a comma before each item except the first. */
const pieceOf = (parts: ReadonlyArray<Uint8Array>, from: number, to: number): Uint8Array => {
  const hasComma = (index: number) => index > 1 && index < parts.length - 1
  let length = 0
  for (let index = from; index < to; index++) length += parts[index]!.length + (hasComma(index) ? 1 : 0)
  const piece = new Uint8Array(length)
  let at = 0
  for (let index = from; index < to; index++) {
    if (hasComma(index)) piece[at++] = 0x2c
    piece.set(parts[index]!, at)
    at += parts[index]!.length
  }
  return piece
}
