/** A list that lets go of what was removed. */
import { assert, describe, it } from "@effect/vitest"
import { LinkedList } from "@waybill/core"

const listOf = (...values: ReadonlyArray<string>) => {
  const list = new LinkedList<string>()
  return { list, entries: values.map((value) => list.add(value)) }
}

describe("LinkedList", () => {
  it("keeps the order of its elements", () => {
    const { list } = listOf("a", "b", "c")
    assert.deepStrictEqual(Array.from(list), ["a", "b", "c"])
    assert.strictEqual(list.first, "a")
  })

  for (const [removed, rest] of [[[0], ["b", "c"]], [[1], ["a", "c"]], [[2], ["a", "b"]], [[0, 1], ["c"]], [[2, 1], ["a"]], [[1, 0, 2], []]] as const) {
    it(`removes ${removed.join(", ")}, and takes new elements`, () => {
      const { entries, list } = listOf("a", "b", "c")
      for (const n of removed) list.remove(entries[n]!)
      assert.deepStrictEqual(Array.from(list), [...rest])
      assert.strictEqual(list.first, rest[0])
      assert.strictEqual(list.isEmpty, rest.length === 0)
      list.add("d")
      assert.deepStrictEqual(Array.from(list), [...rest, "d"])
    })
  }

  it("has no reference from a removed element to another", () => {
    const { entries, list } = listOf("a", "b", "c")
    list.remove(entries[1]!)
    assert.deepStrictEqual(entries[1], { value: "b", before: undefined, after: undefined })
  })
})
