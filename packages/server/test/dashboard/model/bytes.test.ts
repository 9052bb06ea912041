import { describe, expect, it } from "vitest"
import { fileNameOf, hexRows, sizeText } from "../../../dashboard/model/bytes.ts"

describe("bytes", () => {
  it("are shown sixteen per row, with their ASCII", () => {
    expect(hexRows(new TextEncoder().encode("Freight: \u00fc\n0123456"))).toEqual([
      { offset: "00000000", hex: "46 72 65 69 67 68 74 3a 20 c3 bc 0a 30 31 32 33", ascii: "Freight: ...0123" },
      { offset: "00000010", hex: "34 35 36                                       ", ascii: "456" }
    ])
    expect(hexRows(new Uint8Array())).toEqual([])
    expect(hexRows(new Uint8Array(1), 0x8000)[0]!.offset).toBe("00008000")
    expect([sizeText(1), sizeText(1_234_567)]).toEqual(["1 byte", "1,234,567 bytes"])
  })

  it("are downloaded with a file name that data cannot control", () => {
    expect(fileNameOf("delivery", "../../etc/passwd\u202egpj.exe")).toBe("delivery-etcpasswdgpjexe.json")
    expect(fileNameOf("delivery", "x".repeat(999))).toHaveLength("delivery-.json".length + 64)
  })
})
