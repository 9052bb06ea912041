import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Heap } from "../../src/shared/Heap.ts"

/** A number is inserted; null removes the first element. */
const steps = Schema.Array(Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 20 }))))

describe("a heap", () => {
  it.prop("returns elements in order for any sequence of inserts", [steps], ([steps]) => {
    const heap = new Heap<number>((one, other) => one < other)
    const inside: Array<number> = []
    for (const step of steps) {
      if (step === null) {
        assert.strictEqual(heap.first, inside[0])
        assert.strictEqual(heap.take(), inside.shift())
      } else {
        heap.add(step)
        inside.push(step)
        inside.sort((one, other) => one - other)
      }
    }
    while (inside.length > 0) assert.strictEqual(heap.take(), inside.shift())
    assert.isUndefined(heap.take())
  })
})
