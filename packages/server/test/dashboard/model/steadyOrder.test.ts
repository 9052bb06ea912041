import { describe, expect, it } from "vitest"
import { steadyOrder } from "../../../dashboard/model/steadyOrder.ts"

describe("steadyOrder", () => {
  const id = (row: string) => row[0]!

  it("shows all rows in their order while the list is not held", () => {
    expect(steadyOrder(["a", "b"], ["c1", "b2"], id, false)).toEqual({ rows: ["c1", "b2"], newRowsWaiting: 0 })
  })

  it("keeps held rows in place and updates them, without new or removed rows", () => {
    expect(steadyOrder(["a", "b", "c"], ["d1", "c2", "a2"], id, true)).toEqual({ rows: ["a2", "c2"], newRowsWaiting: 1 })
  })

  it("starts over when the list was empty, or when all its rows are removed", () => {
    expect(steadyOrder([], ["a1"], id, true)).toEqual({ rows: ["a1"], newRowsWaiting: 0 })
    expect(steadyOrder(["x"], ["a1"], id, true)).toEqual({ rows: ["a1"], newRowsWaiting: 0 })
  })
})
