import { assert, describe, it } from "@effect/vitest"
import { byOrder, cutBatches, type WaitingEntry } from "@waybill/core"
import * as Arbitrary from "effect/Arbitrary"
import { int, listOf, oneOf } from "../../arbitraries.ts"

const entry = (key: string, sequence: number, size = 100): WaitingEntry => ({ key, sequence, orderId: `${key}/${sequence}`, size })

/** What a claim hands out: entries by key and sequence, from somewhere on and round. */
const waiting = Arbitrary.map(
  Arbitrary.all({
    entries: listOf(Arbitrary.all({ key: oneOf(["a", "b", "c", "d", "e", "B", "é"]), size: oneOf([1, 10, 400, 999, 1000, 5000]) }), 0, 60),
    from: int(0, 60)
  }),
  ({ entries, from }) => {
    const numbered = entries.map(({ key, size }, n) => entry(key, n, size)).sort(byOrder)
    const keys = [...new Set(numbered.map((each) => each.key))]
    const turned = keys.map((_, n) => keys[(n + from) % keys.length]!)
    return turned.flatMap((key) => numbered.filter((each) => each.key === key))
  }
)

const limits = Arbitrary.all({ maxSize: int(1, 12), maxBytes: oneOf([1, 500, 1000, 2500, 100_000]), maxBatches: int(0, 6) })

describe("cutBatches", () => {
  it.prop("holds every limit, except that an entry larger than all bytes goes alone", [waiting, limits], ([entries, each]) => {
    const batches = cutBatches(entries, each)
    assert.isAtMost(batches.length, each.maxBatches)
    for (const batch of batches) {
      assert.isAtLeast(batch.length, 1)
      assert.isAtMost(batch.length, each.maxSize)
      const bytes = batch.reduce((sum, { size }) => sum + size, 0)
      assert.isTrue(bytes <= each.maxBytes || batch.length === 1)
    }
  })

  it.prop("puts no shipment into two batches, because they are sent side by side", [waiting, limits], ([entries, each]) => {
    const keys = cutBatches(entries, each).flatMap((batch) => [...new Set(batch.map(({ key }) => key))])
    assert.strictEqual(new Set(keys).size, keys.length)
  })

  it.prop("takes of every shipment the first events without a gap, in order", [waiting, limits], ([entries, each]) => {
    for (const batch of cutBatches(entries, each)) {
      assert.deepStrictEqual(batch, batch.toSorted(byOrder))
      for (const key of new Set(batch.map((one) => one.key))) {
        const taken = batch.filter((one) => one.key === key)
        assert.deepStrictEqual(taken, entries.filter((one) => one.key === key).slice(0, taken.length))
      }
    }
  })

  it.prop("takes every entry exactly once when it is asked again and again", [waiting, limits], ([entries, each]) => {
    let left = entries
    const taken: Array<WaitingEntry> = []
    while (left.length > 0) {
      const [batch] = cutBatches(left, { ...each, maxBatches: 1 })
      assert.isDefined(batch)
      taken.push(...batch!)
      left = left.filter((one) => !batch!.includes(one))
    }
    assert.deepStrictEqual(taken.toSorted(byOrder), entries.toSorted(byOrder))
  })

  it("fills one batch before the next", () => {
    const entries = [entry("a", 1), entry("a", 2), entry("b", 1), entry("c", 1)]
    const batches = cutBatches(entries, { maxSize: 3, maxBytes: 10_000, maxBatches: 9 })
    assert.deepStrictEqual(batches.map((batch) => batch.map((each) => each.orderId)), [["a/1", "a/2", "b/1"], ["c/1"]])
  })

  it("leaves the rest of a shipment that did not fit for later, and goes on with others", () => {
    const entries = [entry("a", 1), entry("a", 2), entry("a", 3), entry("b", 1)]
    const batches = cutBatches(entries, { maxSize: 2, maxBytes: 10_000, maxBatches: 9 })
    assert.deepStrictEqual(batches.map((batch) => batch.map((each) => each.orderId)), [["a/1", "a/2"], ["b/1"]])
  })
})
