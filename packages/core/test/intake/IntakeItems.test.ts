import { assert, describe, it } from "@effect/vitest"
import { fault, InvalidInput, itemsOf, maxItemsPerCall } from "@waybill/core"
import { Effect } from "effect"
import { json } from "../arbitraries.ts"
import { untyped } from "../untyped.ts"
import { intakeItems, readItems } from "../../src/intake/IntakeItems.ts"

const one = (body: object) => "id" in body

describe("the items of an intake call", () => {
  it("are a list or a single item, with or without their member name", () => {
    const item = { id: 1 }
    for (const body of [item, [item], { items: item }, { items: [item] }]) assert.deepStrictEqual(itemsOf(body, "items", one), [item])
    for (const body of [null, undefined, 7, "text", {}, { other: [] }, { items: null }, { items: "all" }]) assert.isUndefined(itemsOf(untyped(body), "items", one))
    assert.isUndefined(itemsOf(untyped({ id: 1 }), "toString", () => false))
  })

  it.effect("number from 1 to 1,000", Effect.fnUntraced(function*() {
    const count = (length: number) => intakeItems(Array.from({ length }, () => ({})), "items", one)
    assert.lengthOf(yield* count(maxItemsPerCall), maxItemsPerCall)
    for (const refused of [count(0), count(maxItemsPerCall + 1), intakeItems({}, "items", one)]) {
      assert.strictEqual((yield* Effect.flip(refused))._tag, "InvalidInput")
    }
  }))

  it.effect("are validated until 100 faults are found, unless each item needs a result", Effect.fnUntraced(function*() {
    let reads = 0
    const read = (_: unknown, at: ReadonlyArray<PropertyKey>) => {
      reads += 1
      return Effect.fail(InvalidInput.of(fault(at, "One."), fault(at, "Two.")))
    }
    const items = Array.from({ length: 1000 }, () => ({}))
    const whole = yield* readItems(items, "items", false, read)
    assert.strictEqual(reads, 50)
    assert.lengthOf(whole.refused.flatMap(({ faults }) => faults), 100)
    const partial = yield* readItems(items, "items", true, read)
    assert.lengthOf(partial.refused, 1000)
    assert.deepStrictEqual([0, 49, 50, 999].map((at) => partial.refused[at]!.faults.length), [2, 2, 1, 1])
  }))

  it.effect("are refused if a number of theirs would become null or lose digits", Effect.fnUntraced(function*() {
    const read = (item: unknown) => Effect.succeed(item)
    for (const number of [Infinity, -Infinity, NaN, 2 ** 53]) {
      const { good, refused } = yield* readItems([{ id: 1 }, { inner: [{ number }] }], "items", true, read)
      assert.deepStrictEqual(good.map(({ value }) => value), [{ id: 1 }])
      assert.deepStrictEqual(refused.map(({ faults }) => faults.map(({ code, pointer }) => [code, pointer])), [[["out_of_bounds", "/items/1/inner/0/number"]]])
    }
  }))

  it.prop("are found in arbitrary input without an exception", [json], ([body]) => {
    const items = itemsOf(body, "events", one)
    assert.isTrue(items === undefined || Array.isArray(items))
  })
})
