/** Pages of the work list over a store that returns scripted reads. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeListChanges } from "../../src/pickups/ListChanges.ts"
import type { PickupChangeRows } from "../../src/pickups/PickupStore.ts"

const carrier = { tenantId: "tenant", client: "carrier", roles: ["carrier"], accounts: [], origin: "key" } as const

/** Where reads began, and the page for a cursor. */
const pageOf = Effect.fnUntraced(function*(read: (after: number) => PickupChangeRows, cursor?: string) {
  const reads: Array<number> = []
  const changes = (_tenantId: string, { after }: { readonly after: number }) => Effect.sync(() => (reads.push(after), read(after)))
  const page = yield* makeListChanges({ changes } as never)(carrier, cursor === undefined ? {} : { cursor })
  return { reads, numbers: page.data.map(([number]) => number), nextCursor: page.nextCursor }
})

const entry = (changeNo: number) => ({ changeNo, body: Uint8Array.of(changeNo) })

describe("a page of the work list", () => {
  it.effect("reads on while nothing matches, and continues after its last entry", Effect.fnUntraced(function*() {
    const found = yield* pageOf((after) => after < 20 ? { entries: [], through: after + 10, more: true } : { entries: [entry(25), entry(27)], through: 30, more: false })
    assert.deepStrictEqual(found, { reads: [0, 10, 20], numbers: [25, 27], nextCursor: "27" })
  }))

  it.effect("is empty at the end of the list, and continues there", Effect.fnUntraced(function*() {
    const found = yield* pageOf(() => ({ entries: [], through: 9, more: false }), "7")
    assert.deepStrictEqual(found, { reads: [7], numbers: [], nextCursor: "9" })
  }))

  it.effect("is empty after ten reads without a match, and continues after them", Effect.fnUntraced(function*() {
    const found = yield* pageOf((after) => ({ entries: [], through: after + 10, more: true }), "5")
    assert.deepStrictEqual(found, { reads: Array.from({ length: 10 }, (_, n) => 5 + 10 * n), numbers: [], nextCursor: "105" })
  }))

  it.effect("is refused beyond the end of the list, whose next entries a poller would miss", Effect.fnUntraced(function*() {
    const error = yield* Effect.flip(pageOf(() => ({ entries: [], through: 4, more: false }), "5"))
    assert.match(error._tag === "InvalidInput" ? error.faults[0]!.detail : error._tag, /^cursor is beyond the end of the work list/)
  }))

  it.effect("starts at a cursor of up to fifteen digits, written as this service writes it", Effect.fnUntraced(function*() {
    const from = (cursor: string) => pageOf((after) => ({ entries: [], through: after, more: false }), cursor)
    assert.deepStrictEqual((yield* from("123456789012345")).reads, [123_456_789_012_345])
    for (const cursor of ["1234567890123456", "00", "01", "1x", "-1", ""]) assert.strictEqual((yield* Effect.flip(from(cursor)))._tag, "InvalidInput", cursor)
  }))
})
