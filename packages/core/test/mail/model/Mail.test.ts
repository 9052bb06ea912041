import { assert, describe, it } from "@effect/vitest"
import { isMailAddress, longestMailAddress } from "../../../src/mail/model/Mail.ts"

/** An address of this length. */
const ofLength = (length: number): string => `${"a".repeat(64)}@${"b".repeat(length - 68)}.de`

describe("e-mail addresses", () => {
  it("have at most 254 characters", () => {
    assert.lengthOf(ofLength(longestMailAddress), 254)
    assert.deepStrictEqual([254, 255].map((length) => isMailAddress(ofLength(length))), [true, false])
  })

  it("are one plain address", () => {
    for (const text of ["", "edi", "edi@shipper", "edi@shipper.example, other@shipper.example", "EDI <edi@shipper.example>", "edi@shipper.example\r\nBcc: other@shipper.example", "edi@-shipper.example"]) {
      assert.isFalse(isMailAddress(text), JSON.stringify(text))
    }
    assert.isTrue(isMailAddress("edi+billing@eu.shipper.example"))
  })
})
