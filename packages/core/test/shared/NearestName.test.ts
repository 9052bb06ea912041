import { assert, describe, it } from "@effect/vitest"
import { editDistance, nearestName } from "@waybill/core"

describe("the nearest name", () => {
  it("is the one with the fewest edits, whatever its case", () => {
    const known = ["uniqueID", "invoiceNumber", "fileIds", "DOT"]
    const nearest = (written: string) => nearestName(written, known)
    assert.deepStrictEqual(["invoicenumber", "ids", "dto", "InvoiceNo", "fileIDs", "unique"].map(nearest), ["invoiceNumber", "fileIds", "DOT", "invoiceNumber", "fileIds", "uniqueID"])
    for (const far of ["", "verbose", "__proto__", "x".repeat(100_000)]) assert.isUndefined(nearest(far))
    assert.isUndefined(nearestName("ids", []))
  })

  it("counts added, removed, changed and swapped characters", () => {
    const distances = [["", "abc"], ["abc", "abc"], ["abc", "acb"], ["abc", "abd"], ["abc", "ab"], ["page", "pgae2"]] as const
    assert.deepStrictEqual(distances.map(([a, b]) => editDistance(a, b)), [3, 0, 1, 1, 1, 2])
  })
})
