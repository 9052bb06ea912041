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

  it("is none for a short name that is only part of a long one, or differs in most characters", () => {
    assert.isUndefined(nearestName("id", ["hmacSecretId", "endpointUrl"]))
    assert.isUndefined(nearestName("foo", ["DOT", "MC"]))
    assert.deepStrictEqual(nearestName("mx", ["DOT", "MC"]), "MC")
  })

  it("counts added, removed, changed and swapped characters", () => {
    const distances = [["", "abc"], ["abc", "abc"], ["abc", "acb"], ["abc", "abd"], ["abc", "ab"], ["page", "pgae2"]] as const
    assert.deepStrictEqual(distances.map(([a, b]) => editDistance(a, b)), [3, 0, 1, 1, 1, 2])
  })
})
