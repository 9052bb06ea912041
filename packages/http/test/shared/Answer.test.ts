import { it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import type { HttpServerResponse } from "effect/http"
import { describe, expect } from "vitest"
import { encodedList, encodedPage, encodedStream, jsonWithList } from "../../src/shared/Answer.ts"

const encode = (text: string) => new TextEncoder().encode(text)
const texts = (count: number, size: number) => Array.from({ length: count }, (_, n) => JSON.stringify(`${n} ${"x".repeat(size)}`))

const piecesOf = ({ body }: HttpServerResponse.HttpServerResponse): Effect.Effect<ReadonlyArray<Uint8Array>> =>
  body._tag === "Uint8Array" ? Effect.succeed([body.body]) : body._tag === "Stream" ? Effect.orDie(Stream.runCollect(body.stream)) : Effect.succeed([])

const page = { page: 1, pageSize: 500, totalCount: null, totalPages: null, hasMore: false }

describe("a list of encoded JSON", () => {
  it.effect.each([[0, 0, 1], [1, 10, 1], [10, 10, 1], [5000, 100, 8], [40, 30_000, 10]] as const)(
    "of %i items of %i bytes is sent in chunks, never copied as a whole",
    ([count, size, least]) => Effect.gen(function*() {
      const items = texts(count, size)
      for (const [answer, expected] of [
        [encodedList(items.map(encode)), `[${items.join(",")}]`],
        [encodedPage({ ...page, data: items.map(encode) }, {}), `{"data":[${items.join(",")}],"page":1,"pageSize":500,"totalPages":null,"totalCount":null}`]
      ] as const) {
        const pieces = yield* piecesOf(answer)
        expect(Buffer.concat(pieces).toString()).toBe(expected)
        expect(pieces.length).toBeGreaterThanOrEqual(least)
        expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(70_000)
        expect((answer.body as { readonly contentLength?: number }).contentLength).toBe(expected.length)
      }
    })
  )
})

describe("a list that is read while it is sent", () => {
  it.effect.each([[], [1], [200, 3], [1, 1, 1], [200, 200]] as const)("is one array, wherever it is split: %j", (sizes) => Effect.gen(function*() {
    const pieces = sizes.map((size, n) => texts(size, n))
    let read = 0
    const items = Stream.flatMap(Stream.fromIterable(pieces, { chunkSize: 1 }), (piece) => {
      read += 1
      return Stream.fromIterable(piece.map(encode))
    })
    const answer = encodedStream(items, 1000)
    expect(read).toBe(0)
    expect(Buffer.concat(yield* piecesOf(answer)).toString()).toBe(`[${pieces.flat().join(",")}]`)
  }))
})

describe("an object with a long list", () => {
  it.effect.each([0, 1, 500])("is the same JSON, with its list of %i items last", (count) => Effect.gen(function*() {
    const value = { id: "a", history: texts(count, 1000), last: null }
    const pieces = yield* piecesOf(yield* jsonWithList(value, "history"))
    expect(JSON.parse(Buffer.concat(pieces).toString())).toEqual(value)
    expect(pieces.length).toBeGreaterThanOrEqual(count / 66)
  }))

  it.effect("may have no other members", () => Effect.gen(function*() {
    expect(Buffer.concat(yield* piecesOf(yield* jsonWithList({ list: [1, 2] }, "list"))).toString()).toBe("{\"list\":[1,2]}")
  }))
})
