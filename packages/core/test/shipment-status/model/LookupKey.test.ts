import { assert, describe, it } from "@effect/vitest"
import { type KeyedShipment, keyOf, keysOf, type LookupBy, plainNumber, plainPostalCode, postalCodeOf, referencesOf } from "@waybill/core/shipment-status"
import { verifiedShipment } from "@waybill/testkit"
import * as Arbitrary from "effect/Arbitrary"
import { listOf, oneOf } from "../../arbitraries.ts"

const keyed = (overrides: Partial<KeyedShipment> = {}): KeyedShipment => ({ ...verifiedShipment("0418367745"), shipmentId: "SHP-1", references: [], ...overrides })

const withNumbers = (numbers: Partial<KeyedShipment["ReferenceNumbers"]>, more: Partial<KeyedShipment> = {}): KeyedShipment =>
  keyed({ ReferenceNumbers: { ...keyed().ReferenceNumbers, ...numbers }, ...more })

const finds = (shipment: KeyedShipment, by: LookupBy): boolean => {
  const key = keyOf(by)
  return key !== undefined && keysOf(shipment).includes(key)
}

const pro = (proNumber: string): LookupBy => ({ kind: "pro", proNumber })
const bol = (bolNumber: string, originPostalCode: string): LookupBy => ({ kind: "bol", bolNumber, originPostalCode })
const po = (poNumber: string, destinationPostalCode: string): LookupBy => ({ kind: "po", poNumber, destinationPostalCode })

/** A number with blanks, hyphens and lower case. */
const dressed = Arbitrary.map(listOf(oneOf(["0", "1", "7", "a", "X", "-", " ", "\u00a0", "/"]), 1, 12), (parts) => parts.join(""))

describe("lookup keys", () => {
  it.each([
    ["041-8367745", "0418367745"],
    ["041 8367745", "0418367745"],
    [" 828-561881-x ", "828561881X"],
    ["000123", "000123"],
    ["PRO/12.7", "PRO/12.7"],
    ["straße", "STRASSE"]
  ])("normalise %s (SPEC-GAP-A3)", (written, plain) => {
    assert.strictEqual(plainNumber(written), plain)
    assert.isTrue(finds(keyed({ ProNumber: plain }), pro(written)))
    assert.isTrue(finds(keyed({ ProNumber: written }), pro(plain)))
  })

  it.each([
    ["02134-1000", "02134"],
    ["021341000", "02134"],
    [" 02134 ", "02134"],
    ["K1A 0B1", "K1A0B1"],
    ["k1a-0b1", "K1A0B1"],
    ["2134", "2134"],
    ["2134-1000", "02134"],
    ["21341000", "02134"]
  ])("compare postal code %s as %s", (written, plain) => assert.strictEqual(plainPostalCode(written), plain))

  it.each([
    ["2134", "USA", "02134"],
    ["501", "USA", "00501"],
    ["2134", "MEX", "2134"],
    ["2134-1000", "USA", "02134"],
    ["501-0001", "USA", "00501"],
    ["12", "USA", "12"],
    ["k1a 0b1", "CAN", "K1A0B1"]
  ] as const)("give an address with %s in %s the code %s", (postalCode, country, plain) => {
    assert.strictEqual(postalCodeOf({ postalCode, country }), plain)
  })

  it.prop("find a shipment by its PRO in any spelling", [dressed], ([written]) => {
    if (plainNumber(written) === "") assert.isUndefined(keyOf(pro(written)))
    else for (const again of [written, plainNumber(written), written.toLowerCase(), ` ${written}-`]) assert.isTrue(finds(keyed({ ProNumber: written }), pro(again)))
  })

  it.prop("never find a shipment by another number or postal code", [dressed, dressed], ([one, other]) => {
    const shipment = withNumbers({ bolNumber: one, MasterBOL: null, poNumber: null })
    assert.strictEqual(finds(shipment, bol(other, "60608")), plainNumber(one) !== "" && plainNumber(one) === plainNumber(other))
    assert.isFalse(finds(shipment, bol(one, "60609")))
    assert.isFalse(finds(shipment, po(one, "02108")))
  })

  it("find by bill of lading and origin, master bill included", () => {
    const shipment = withNumbers({ bolNumber: "B-1", MasterBOL: "M-1" })
    for (const by of [bol("b1", "60608"), bol("M1", "60608-1234"), bol("B-1", "60608")]) assert.isTrue(finds(shipment, by))
    for (const by of [bol("b1", "02108"), bol("", "60608"), bol("b1", "")]) assert.isFalse(finds(shipment, by))
  })

  it("find a US address without leading zeros, and no other", () => {
    const shipment = keyed({ PickupAddress: { postalCode: "02134-1000", country: "USA" }, ReferenceNumbers: { ...keyed().ReferenceNumbers, bolNumber: "B1" } })
    for (const code of ["02134", "2134", "2134-1000", "021341000", "02134-9999"]) assert.isTrue(finds(shipment, bol("B1", code)), code)
    for (const code of ["21341", "213", "12134", "0213"]) assert.isFalse(finds(shipment, bol("B1", code)), code)
    const mexican = keyed({ ...shipment, PickupAddress: { postalCode: "01000", country: "MEX" } })
    assert.isFalse(finds(mexican, bol("B1", "1000")))
  })

  it("find by each of several purchase orders and the destination", () => {
    const shipment = withNumbers({ poNumber: "PO-1, po 2;77|X-9" })
    for (const number of ["PO1", "PO-2", "77", "x9"]) assert.isTrue(finds(shipment, po(number, "02108")), number)
    assert.isFalse(finds(shipment, po("77", "60608")))
  })

  it("include references of type PRO, BOL and PO, and the PRO after reconsignment", () => {
    const shipment = keyed({
      UpdatedPro: "PARTNER-7",
      references: [{ type: "pro", value: "P 2" }, { type: "BOL", value: "B2" }, { type: "Po", value: "O2,O3" }, { type: "Load", value: "L2" }]
    })
    for (const by of [pro("partner7"), pro("p2"), bol("b2", "60608"), po("O2", "02108"), po("o3", "02108")]) assert.isTrue(finds(shipment, by))
    assert.isFalse(keysOf(shipment).some((key) => key.includes("L2")))
  })
})

describe("subscription references", () => {
  it("are all normalised numbers of a shipment except the trailer number", () => {
    const shipment = withNumbers(
      { bolNumber: "b-1", QuoteID: "Q 1", ShipmentID: "load-9", MasterBOL: "m-1", poNumber: "p1,p2", AdditionalReferences: "x-1", trailerNumber: "T-53" },
      { UpdatedPro: "041-9", UniqueID: "0418367745WAYB20261120", references: [{ type: "anything", value: "extra 1" }] }
    )
    const references = referencesOf(shipment)
    for (const one of ["SHP1", "0418367745", "0419", "0418367745WAYB20261120", "B1", "M1", "P1", "P2", "Q1", "LOAD9", "X1", "EXTRA1"]) assert.include(references, one)
    assert.notInclude(references, "T53")
    assert.notInclude(references, "")
  })
})
