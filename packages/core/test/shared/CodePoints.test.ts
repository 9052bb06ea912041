import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { compareText } from "../../src/shared/CodePoints.ts"

/** Half surrogate pairs have no bytes in UTF-8. */
const wellFormed = (text: string) => Buffer.from(text, "utf8").toString("utf8")

describe("compareText", () => {
  it.prop("orders like UTF-8 bytes", [Schema.String, Schema.String], ([a, b]) => {
    const [x, y] = [wellFormed(a), wellFormed(b)]
    assert.strictEqual(Math.sign(compareText(x, y)), Math.sign(Buffer.compare(Buffer.from(x), Buffer.from(y))))
  })

  it("sorts characters beyond the first plane last, unlike JavaScript", () => {
    assert.isBelow(compareText("\uffee", "😀"), 0)
    assert.deepStrictEqual(["😀", "\uffee"].toSorted(), ["😀", "\uffee"])
    assert.isAbove(compareText("a😀", "a\uffee"), 0)
    assert.isBelow(compareText("a", "a "), 0)
    assert.strictEqual(compareText("ä", "ä"), 0)
  })
})
