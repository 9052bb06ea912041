import { assert, describe, it } from "@effect/vitest"
import { idBefore, UniqueIds } from "@waybill/core"
import { Effect } from "effect"
import { TestClock } from "effect/testing"

describe("UniqueIds", () => {
  it.effect("are UUIDs of version 7 that begin with their instant", Effect.fnUntraced(function*() {
    yield* TestClock.setTime(1_763_626_500_123)
    const id = yield* (yield* UniqueIds).next
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    assert.strictEqual(Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16), 1_763_626_500_123)
  }, Effect.provide(UniqueIds.layer)))

  it.effect("sort in the order of creation, within one millisecond and when the clock goes back", Effect.fnUntraced(function*() {
    const { nextAt } = yield* UniqueIds
    const given = [
      ...Array.from({ length: 10_000 }, () => nextAt(1000)),
      ...Array.from({ length: 100 }, () => nextAt(500)),
      nextAt(2000)
    ]
    assert.deepStrictEqual(given.toSorted(), given)
    assert.strictEqual(new Set(given).size, given.length)
  }, Effect.provide(UniqueIds.layer)))

  it.effect("contain no dot, which separates the signed parts", Effect.fnUntraced(function*() {
    const { nextAt } = yield* UniqueIds
    assert.isFalse(Array.from({ length: 1000 }, (_, n) => nextAt(n)).some((id) => id.includes(".")))
  }, Effect.provide(UniqueIds.layer)))

  it("have an id immediately before them", () => {
    assert.strictEqual(idBefore("0199f3a0-0000-7000-8000-000000000001"), "0199f3a0-0000-7000-8000-000000000000")
    assert.strictEqual(idBefore("0199f3a0-0000-7000-8000-000000000000"), "0199f3a0-0000-7000-7fff-ffffffffffff")
    for (const none of ["", "S-1", "00000000-0000-0000-0000-000000000000"]) assert.isUndefined(idBefore(none))
  })
})
