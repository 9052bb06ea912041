import { assert, describe, it } from "@effect/vitest"
import { intakeItems, itemsOf, maxItemsPerCall } from "@waybill/core"
import { Effect } from "effect"
import { json } from "../arbitraries.ts"

const one = (body: object) => "id" in body

describe("the items of an intake call", () => {
  it("are a list or one, bare or under their name", () => {
    const item = { id: 1 }
    for (const body of [item, [item], { items: item }, { items: [item] }]) assert.deepStrictEqual(itemsOf(body, "items", one), [item])
    for (const body of [null, undefined, 7, "text", {}, { other: [] }, { items: null }, { items: "all" }]) assert.isUndefined(itemsOf(body, "items", one))
    assert.isUndefined(itemsOf({ id: 1 }, "toString", () => false))
  })

  it.effect("are from one to a thousand", () =>
    Effect.gen(function*() {
      const count = (length: number) => intakeItems(Array.from({ length }, () => ({})), "items", one)
      assert.lengthOf(yield* count(maxItemsPerCall), maxItemsPerCall)
      for (const refused of [count(0), count(maxItemsPerCall + 1), intakeItems({}, "items", one)]) {
        assert.strictEqual((yield* Effect.flip(refused))._tag, "InvalidInput")
      }
    }))

  it.prop("are read from anything without breaking", [json], ([body]) => {
    const items = itemsOf(body, "events", one)
    assert.isTrue(items === undefined || Array.isArray(items))
  })
})
