import { it } from "@effect/vitest"
import { Effect } from "effect"
import { describe, expect } from "vitest"
import { listPage, type ListSource, maxPageSize, mostLooked, rowsAtATime } from "../../src/shared/ListPage.ts"

interface Row {
  readonly id: string
  readonly size: number
}

const rowsOf = (sizes: ReadonlyArray<number>): ReadonlyArray<Row> => sizes.map((size, n) => ({ id: String(n).padStart(4, "0"), size }))

const sourceOf = (rows: ReadonlyArray<Row>) => {
  const reads: Array<number> = []
  const source: ListSource<Row, string, never, never> = {
    read: ({ after = "", limit }) => Effect.sync(() => {
      reads.push(limit)
      return rows.filter(({ id }) => id > after).slice(0, limit)
    }),
    idOf: ({ id }) => id,
    sizeOf: ({ size }) => size,
    shown: ({ id }) => id
  }
  return { reads, source }
}

const small = (count: number) => rowsOf(Array.from({ length: count }, () => 10))

describe("listPage", () => {
  it.effect.each([[0, 100], [1, 1], [49, 500], [50, 50], [51, 50], [100, 500], [101, 100], [500, 500], [501, 500]] as const)(
    "returns of %i rows at most %i, and a cursor for the next page",
    ([count, limit]) => Effect.gen(function*() {
      const rows = small(count)
      const { data, nextCursor } = yield* listPage(sourceOf(rows).source, undefined, limit)
      expect(data).toEqual(rows.slice(0, limit).map(({ id }) => id))
      expect(nextCursor).toBe(count > limit ? data.at(-1) : null)
    })
  )

  it.effect("reads few rows at a time, because each may be large", () => Effect.gen(function*() {
    const { reads, source } = sourceOf(small(600))
    yield* listPage(source, undefined, 500)
    expect(reads).toEqual([11, ...Array.from({ length: 9 }, () => rowsAtATime + 1), 41])
  }))

  it.effect("reads fewer rows at a time when the first ones are large", () => Effect.gen(function*() {
    const { reads, source } = sourceOf(rowsOf(Array.from({ length: 100 }, () => 80_000)))
    const { data } = yield* listPage(source, undefined, 500)
    expect(data).toHaveLength(Math.floor(maxPageSize / 80_000))
    expect(new Set(reads.slice(1))).toEqual(new Set([7]))
  }))

  it.effect("ends a page where the store ended its search, and continues there", () => Effect.gen(function*() {
    const read = ({ after }: { readonly after: string | undefined }) =>
      Effect.succeed(after === undefined ? { rows: ["0000"], lookedTo: "0001" } : { rows: ["0002", "0003"].filter((id) => id > after), lookedTo: undefined })
    const source = { read, idOf: (id: string) => id, shown: (id: string) => id }
    const first = yield* listPage(source, undefined, 100)
    expect(first).toEqual({ data: ["0000"], nextCursor: "0001" })
    expect(yield* listPage(source, first.nextCursor!, 100)).toEqual({ data: ["0002", "0003"], nextCursor: null })
  }))

  it.effect("ends a page before a row that would exceed the size limit, and continues there", () => Effect.gen(function*() {
    const rows = rowsOf([10, maxPageSize - 20, 11, 10])
    const { source } = sourceOf(rows)
    const first = yield* listPage(source, undefined, 100)
    expect(first).toEqual({ data: ["0000", "0001"], nextCursor: "0001" })
    expect(yield* listPage(source, first.nextCursor!, 100)).toEqual({ data: ["0002", "0003"], nextCursor: null })
  }))

  it.effect("puts a row that exceeds the size limit on a page of its own", () => Effect.gen(function*() {
    const { source } = sourceOf(rowsOf([maxPageSize * 2, maxPageSize * 2]))
    expect(yield* listPage(source, undefined, 100)).toEqual({ data: ["0000"], nextCursor: "0000" })
    expect(yield* listPage(source, "0000", 100)).toEqual({ data: ["0001"], nextCursor: null })
  }))
})

describe("listPage of rows that are chosen", () => {
  const search = (count: number, keeps: (n: number) => boolean, limit: number, cursor?: string) => {
    const { reads, source } = sourceOf(small(count))
    return Effect.map(listPage({ ...source, keeps: ({ id }) => keeps(Number(id)) }, cursor, limit), (page) => ({ ...page, reads: reads.length }))
  }

  it.effect("returns rows that are kept, up to the limit, and goes on after the last one", () => Effect.gen(function*() {
    const first = yield* search(200, (n) => n % 30 === 0, 3)
    expect(first).toEqual({ data: ["0000", "0030", "0060"], nextCursor: "0060", reads: 2 })
    expect(yield* search(200, (n) => n % 30 === 0, 5, first.nextCursor!)).toMatchObject({ data: ["0090", "0120", "0150", "0180"], nextCursor: null })
    expect(yield* search(61, (n) => n % 30 === 0, 3)).toMatchObject({ data: ["0000", "0030", "0060"], nextCursor: null })
  }))

  it.effect("ends a page before a kept row that would exceed the size limit, and continues there", () => Effect.gen(function*() {
    const { source } = sourceOf(rowsOf([10, 10, maxPageSize - 20, 11]))
    const kept = { ...source, keeps: ({ id }: Row) => id !== "0001" }
    expect(yield* listPage(kept, undefined, 100)).toEqual({ data: ["0000", "0002"], nextCursor: "0002" })
    expect(yield* listPage(kept, "0002", 100)).toEqual({ data: ["0003"], nextCursor: null })
  }))

  it.effect("ends an empty page after a bounded number of rows, with a cursor", () => Effect.gen(function*() {
    const last = String(mostLooked - 1).padStart(4, "0")
    expect(yield* search(mostLooked + 1, () => false, 10)).toEqual({ data: [], nextCursor: last, reads: mostLooked / rowsAtATime })
    expect(yield* search(mostLooked, () => false, 10)).toMatchObject({ data: [], nextCursor: null })
  }))
})
