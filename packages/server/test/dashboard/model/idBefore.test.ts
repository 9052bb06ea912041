import { describe, expect, it } from "vitest"
import { idBefore } from "../../../dashboard/model/idBefore.ts"

describe("idBefore", () => {
  it("is the UUID right before", () => {
    expect(idBefore("0199f3a0-0000-7000-8000-000000000001")).toBe("0199f3a0-0000-7000-8000-000000000000")
    expect(idBefore("0199f3a0-0000-7000-8000-000000000000")).toBe("0199f3a0-0000-7000-7fff-ffffffffffff")
    for (const none of ["", "S-1", "00000000-0000-0000-0000-000000000000"]) expect(idBefore(none)).toBeUndefined()
  })
})
