import { describe, expect, it } from "vitest"
import { parseFreightCharges } from "../../src/freight-charges/index.ts"
import { bytesOf, chargeOf } from "../samples.ts"

describe("parseFreightCharges", () => {
  it("reads one or many", () => {
    const charges = [chargeOf("B1", 1), chargeOf("B2", 12, true)]
    expect(parseFreightCharges(bytesOf(charges))).toEqual(charges)
    expect(parseFreightCharges(bytesOf([charges[0]]))).toEqual([charges[0]])
  })

  it("passes unknown fields through", () => {
    const charge = { ...chargeOf("B1", 1), surcharges: [{ code: "NEW" }], charges: {} }
    expect(parseFreightCharges(bytesOf([charge]))).toEqual([charge])
  })

  const charge = chargeOf("B1", 1)
  const malformed: ReadonlyArray<readonly [string, unknown, string]> = [
    ["no JSON", "[", ""],
    ["one charge without a list", charge, ""],
    ["an empty list", [], ""],
    ["null among them", [charge, null], "/1"],
    ["no pfc", [charge, { ...charge, pfc: undefined }], "/1/pfc"],
    ["no uniqueID", [{ ...charge, pfc: { ...charge.pfc, uniqueID: "" } }], "/0/pfc/uniqueID"],
    ["no header", [{ ...charge, pfc: { ...charge.pfc, header: undefined } }], "/0/pfc/header"],
    ["no version", [{ ...charge, pfc: { ...charge.pfc, header: { function: 1 } } }], "/0/pfc/header/function"]
  ]
  it.each(malformed)("reports the location of an error: %s", (_, value, pointer) => {
    expect(() => parseFreightCharges(bytesOf(value))).toThrow(expect.objectContaining({ name: "FreightChargesMalformed", pointer }))
  })
})
