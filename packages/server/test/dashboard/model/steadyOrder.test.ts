import { describe, expect, it } from "vitest"
import { steadyOrder } from "../../../dashboard/model/steadyOrder.ts"

describe("steadyOrder", () => {
  const id = (row: string) => row[0]!

  it("shows what there is, in its own order, while nobody holds the list", () => {
    expect(steadyOrder(["a", "b"], ["c1", "b2"], id, false)).toEqual({ rows: ["c1", "b2"], heldBack: 0 })
  })

  it("keeps held rows in their places, changed within, without new ones and without those that are gone", () => {
    expect(steadyOrder(["a", "b", "c"], ["d1", "c2", "a2"], id, true)).toEqual({ rows: ["a2", "c2"], heldBack: 1 })
  })

  it("has nothing to hold when it was empty, or when everything in it is gone", () => {
    expect(steadyOrder([], ["a1"], id, true)).toEqual({ rows: ["a1"], heldBack: 0 })
    expect(steadyOrder(["x"], ["a1"], id, true)).toEqual({ rows: ["a1"], heldBack: 0 })
  })
})
