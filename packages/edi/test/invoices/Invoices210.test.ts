import { forRandom, type SeededRandom } from "@waybill/conformance/fixtures"
import { describe, expect, it } from "vitest"
import { Invoice } from "@waybill/core/invoices"
import { invoiceOf210, isCodeOfCharge, type PartnerProfile, placeOf, receiveFile, write210, type WrittenSegment, writeInvoices } from "@waybill/edi"
import { invoiceSample, startTestWaybill } from "@waybill/testkit"
import { Schema } from "effect"
import { fileOf, partnerOf, setOf } from "../Partner.ts"
import { contents, read, sets, written } from "../x12/Samples.ts"

const carrier = { dot: "1234567", mc: "MC-765432" }
const partnerFor = (more: Partial<PartnerProfile> = {}) => partnerOf({ sets: ["210"], carrier, ...more })

const full = [
  "B3**0123456789*SHIP-77*PP**20261120*26378****ABCD", "C3*USD", "ITD*05*****20261220******Net 30", "N9*CN*0123456789", "N9*BM*BOL-9", "G62*86*20261118", "K1*Call before delivery*Gate 2",
  "N1*SH*Closets Inc.", "N3*12 Dock Road", "N4*Chicago*IL*60608*US", "N1*CN*Mirrors Ltd.*93*C-9", "N4*Dallas*TX*75201*US", "N1*BT*Debtor Corp.*93*A-1", "N7*ABCD*53017", "M7*S-1*S-2",
  "LX*1", "L5*1*Mirrors*049880*N", "L0*1*12*CW*1250.5*G***4*PLT**L", "L1*1*16.07*PH*20090", "L7*1******77.5",
  "LX*2", "L5*2*Fuel surcharge", "L1*2***6288****FUE", "L3*1250.5*G***26378"
]

const invoiceIn = (segments: ReadonlyArray<string>, more?: Partial<PartnerProfile>) => invoiceOf210(setOf(segments, "210", { functionalId: "IM" }), partnerFor(more))
const faultsIn = (segments: ReadonlyArray<string>, more?: Partial<PartnerProfile>) => invoiceIn(segments, more).faults.map((fault) => `${placeOf(fault)} ${fault.code}`)

describe("reading 210", () => {
  const { faults, kept, value: invoice, warnings } = invoiceIn(full)

  it("makes an invoice with exact amounts, its lines and its parties", () => {
    expect([faults, warnings]).toEqual([[], []])
    expect(invoice).toEqual({
      uniqueID: "ABCD-0123456789",
      shipmentID: "0123456789",
      DOT: "1234567",
      MC: "MC-765432",
      edi: { scac: "ABCD" },
      invoiceHeader: {
        consignor: { consignorName: "Closets Inc.", address: { streetAddress: "12 Dock Road", locality: "Chicago", adminArea1: "IL", postalCode: "60608", countryCode: "USA" } },
        consignee: { consigneeName: "Mirrors Ltd.", consigneeID: "C-9", address: { locality: "Dallas", adminArea1: "TX", postalCode: "75201", countryCode: "USA" } },
        billingParty: { billingPartyName: "Debtor Corp." },
        terms: { billingTerms: "Prepaid", paymentDueDate: "2026-12-20", paymentTerms: "Net 30" },
        invoiceNumber: "0123456789",
        invoiceDate: "2026-11-20",
        invoiceAmount: { currencyCode: "USD", value: "263.78" }
      },
      invoiceCharges: [
        {
          chargeType: "ITEM_CHARGE", itemId: 1, itemDescription: "Mirrors", nmfcNumber: "049880", quantity: { value: 12, unitOfMeasure: "CW" }, weight: { value: 1250.5, unitOfMeasure: "Pounds" },
          itemPackageQuantity: 4, itemPackageType: "PLT", edi: { rate: "16.07", rateQualifier: "PH" }, chargeUnitCode: "UNIT_RATE", cost: { value: "200.90", currencyCode: "USD" }, chargeCode: "LINEHAUL", freightClassCode: "77.5"
        },
        { chargeType: "BASE_CHARGE", chargeDescription: "Fuel surcharge", chargeUnitCode: "FLAT", cost: { value: "62.88", currencyCode: "USD" }, chargeCode: "FUEL" }
      ],
      attributes: [{ type: "SID", value: "SHIP-77" }, { type: "PRO", value: "0123456789" }, { type: "BOL", value: "BOL-9" }, { type: "accountNumber", value: "A-1" }, { type: "TRAILER", value: "53017" }, { type: "SEAL", value: "S-1" }, { type: "SEAL", value: "S-2" }],
      comments: [{ commentText: "Call before delivery\nGate 2" }]
    })
  })

  it("makes a charge of every L1 of a line, with the freight that has its number or stands beside it", () => {
    const lines = (segments: ReadonlyArray<string>) =>
      invoiceIn([full[0]!, "LX*1", ...segments, "L3*1250.5*G***26378"]).value?.invoiceCharges.map(({ chargeCode, cost, ...charge }) => [chargeCode, cost?.value, "itemDescription" in charge ? charge.itemDescription : charge.chargeDescription, "weight" in charge ? charge.weight?.value : undefined])
    const both = [["LINEHAUL", "200.90", "Mirrors", 1250.5], ["FUEL", "62.88", "Fuel surcharge", undefined]]
    // in the order of the standard, one after another, and without numbers
    expect(lines(["L5*1*Mirrors", "L5*2*Fuel surcharge", "L0*1***1250.5*G", "L1*1***20090", "L1*2***6288****FUE"])).toEqual(both)
    expect(lines(["L5*1*Mirrors", "L0*1***1250.5*G", "L1*1***20090", "L7*1******77.5", "L5*2*Fuel surcharge", "L1*2***6288****FUE"])).toEqual(both)
    expect(lines(["L5**Mirrors", "L0****1250.5*G", "L1****20090", "L7*******77.5", "L5**Fuel surcharge", "L1****6288****FUE"])).toEqual(both)
    // charges of one item
    expect(lines(["L5*1*Mirrors", "L0*1***1250.5*G", "L1*1***20090", "L1*1***6288****FUE****Fuel surcharge"])).toEqual(both)
  })

  it("keeps elements in the order of the file when a line has several charges", () => {
    const { kept } = invoiceIn([full[0]!, "LX*1", "L1*1***20090", "L1*2***6288****FUE", "L5*1*Mirrors", "K1*a"])
    expect(kept.map(({ element, segment, value }) => `${segment}-${element} ${value}`)).toEqual(["L1-1 1", "L1-1 2", "L5-1 1"])
  })

  it("reads weights as X12 writes numbers", () => {
    const weightOf = (text: string) => invoiceIn(full.map((segment) => segment.replace("*1250.5*G***4", `*${text}*G***4`))).value?.invoiceCharges[0]
    expect([weightOf(".5"), weightOf("1250.")]).toMatchObject([{ weight: { value: 0.5 } }, { weight: { value: 1250 } }])
  })

  it("keeps weights in tons, instead of taking them for pounds", () => {
    const read = invoiceIn(full.map((segment) => segment.replace("L0*1*12*CW*1250.5*G***4*PLT**L", "L0*1*12*CW*1.5*G***4*PLT**E")))
    expect(read.value?.invoiceCharges[0]).not.toHaveProperty("weight")
    expect(read.kept.filter(({ segment }) => segment === "L0").map(({ element, value }) => `${element} ${value}`)).toEqual(["4 1.5", "5 G", "11 E"])
  })

  it("makes an invoice that the service accepts", () => expect(Schema.is(Invoice)(invoice)).toBe(true))

  it("takes the carrier's customer code of the payer for its account", () => {
    const read = invoiceIn(full.map((segment) => segment.replace("*93*A-1", "*25*A-1")))
    expect(read.value?.attributes).toContainEqual({ type: "accountNumber", value: "A-1" })
    expect(read.kept).toEqual(kept)
  })

  it("lists every element without a place", () => {
    expect(kept.map(({ element, segment, value }) => `${segment}-${element} ${value}`)).toEqual(["ITD-1 05", "G62-1 86", "G62-2 20261118", "N7-1 ABCD", "L5-1 1", "L1-1 1", "L7-1 1", "L5-1 2", "L1-1 2", "L3-1 1250.5", "L3-2 G"])
  })

  it.each([["5", "0.05"], ["0", "0.00"], ["-120", "-1.20"], ["00000100", "1.00"], ["123456789012345", "1234567890123.45"]])("reads the amount %s as %s", (amount, value) => {
    expect(invoiceIn([`B3**1***L*20261120*${amount}****ABCD`]).value?.invoiceHeader.invoiceAmount).toEqual({ currencyCode: "USD", value })
  })

  it("names what is wrong or missing", () => {
    expect(faultsIn(["B3**1****20261120*12.50****ABCD"])).toEqual(["B3-07 at segment 2 6"])
    expect(faultsIn(["B3******20261120*1250****ABCD"])).toEqual(["B3-02 at segment 2 1"])
    expect(faultsIn(["B3**1****20261341*1250****ABCD"])).toEqual(["B3-06 at segment 2 8"])
    expect(faultsIn(["B3**1****20261120*1250****ABCD"], { carrier: {} })).toEqual(["B3-11 at segment 2 1"])
    expect(faultsIn(["B3**1****20261120*1250****ABCD"], { requiredReferences: ["BOL"] })).toEqual(["N9 at segment 3 3"])
  })

  it("refuses a bill that cancels or corrects an earlier one, and reads one for the balance due", () => {
    const corrected = (code: string) => ["B3**1*S*PP**20261120*26378*" + code + "***ABCD", "LX*1", "L1****26378"]
    for (const code of ["CA", "BO", "CO", "RB", "AD", "XX"]) expect(faultsIn(corrected(code))).toEqual(["B3-08 at segment 2 7"])
    for (const code of ["BD", "MB", "PD"]) {
      const { faults, kept } = invoiceIn(corrected(code))
      expect([faults, kept]).toMatchObject([[], [{ segment: "B3", element: 8, value: code }]])
    }
  })

  it("reads references and remarks of a line as those of its charge, with the freight after them", () => {
    const { faults, value } = invoiceIn(["B3**1*S*PP**20261120*26378****ABCD", "N9*BM*BOL-9", "LX*1", "N9*PO*4500012345", "L5*1*Mirrors", "L0*1***1250.5*G", "L1*1***20090", "K1*Fragile", "LX*2", "N9*PO*4500012346", "L1*2***6288****FUE"])
    expect(faults).toEqual([])
    expect(value).toMatchObject({
      attributes: [{ type: "SID", value: "S" }, { type: "BOL", value: "BOL-9" }],
      invoiceCharges: [
        { itemDescription: "Mirrors", weight: { value: 1250.5 }, cost: { value: "200.90" }, edi: { references: [{ type: "PO", value: "4500012345" }] }, comments: [{ commentText: "Fragile" }] },
        { chargeCode: "FUEL", cost: { value: "62.88" }, edi: { references: [{ type: "PO", value: "4500012346" }] } }
      ]
    })
    expect(value).not.toHaveProperty("comments")
  })

  it("warns of a total that differs", () => {
    expect(invoiceIn([...full.slice(0, -1), "L3*****26379"]).warnings).toMatchObject([{ segment: "L3", element: 5 }])
  })

  it("is found by its account, and is stored once", async () => {
    const waybill = await startTestWaybill()
    const receive = () => receiveFile({
      partner: partnerFor(),
      chunks: [fileOf(full, "210", { functionalId: "IM" })],
      handlers: { invoices: async (invoices) => Promise.all(invoices.map(async (each) => (await waybill.invoices.create(waybill.carrier, each), { result: "accepted" as const }))) },
      controlNumbers: async (count) => Array.from({ length: count }, () => 1)
    })
    expect(await receive()).toMatchObject({ accepted: 1, refused: 0 })
    expect(await receive()).toMatchObject({ accepted: 1, refused: 0 })
    const { data } = await waybill.invoices.list(waybill.shipper)
    expect(data.map(({ uniqueID }) => uniqueID)).toEqual(["ABCD-0123456789"])
  })
})

const segmentsOf = (invoice: Invoice, partner = partnerFor({ scac: "ABCD" }), version?: string) => {
  const result = write210(invoice, partner, version)
  if ("refused" in result) throw new Error(JSON.stringify(result.refused))
  return result
}

describe("writing 210", () => {
  it("writes the sample invoice, and lists what has no element", () => {
    const { lost, set } = segmentsOf(invoiceSample({ accounts: ["A-1"] }))
    expect(set.segments).toEqual([
      ["B3", "", "4711", "", "PP", "", "20261120", "26378", "", "", "", "ABCD"], ["C3", "USD"], ["ITD", "", "", "", "", "", "20261220", "", "", "", "", "", "Net 30"], ["N9", "CN", "SHP-1"],
      ["N1", "SH", "Closets Inc."], ["N3", "12 Dock Road"], ["N4", "Chicago", "IL", "60608", "US"], ["N1", "CN", "Mirrors Ltd.", "93", "C-9"], ["N3", "7 Main Street"], ["N4", "Dallas", "TX", "75201", "US"],
      ["N1", "BT", "Debtor Corp.", "93", "A-1"], ["N3", "12 Dock Road"], ["N4", "Chicago", "IL", "60608", "US"],
      ["LX", "1"], ["L1", "", "", "", "20090", "", "", "", ""], ["LX", "2"], ["L1", "", "", "", "6288", "", "", "", "FUE"], ["L3", "", "", "", "", "26378"]
    ])
    expect(lost.map(({ member }) => member)).toEqual(["attributes.0.id"])
  })

  it("refuses an amount that it cannot carry exactly", () => {
    expect(write210(invoiceSample({ total: "1.005" }), partnerFor({ scac: "ABCD" }))).toMatchObject({ refused: [{ member: "invoiceHeader.invoiceAmount.value" }] })
    expect(segmentsOf(invoiceSample({ total: "1.500" })).set.segments[0]).toContain("150")
  })

  it("refuses an invoice with a charge in another currency, or with more decimals than X12 has", () => {
    const invoice = invoiceSample({ costs: ["1.00", "2.00"] })
    const withCost = (cost: object) => write210({ ...invoice, invoiceCharges: [invoice.invoiceCharges[0]!, { ...invoice.invoiceCharges[1]!, cost }] } as Invoice, partnerFor({ scac: "ABCD" }))
    expect(withCost({ currencyCode: "CAD", value: "2.00" })).toEqual({ refused: [{ member: "invoiceCharges.1.cost.value", reason: "210 has one currency, that of the invoice amount" }] })
    expect(withCost({ currencyCode: "USD", value: "2.005" })).toEqual({ refused: [{ member: "invoiceCharges.1.cost.value", reason: "the element has two decimals and at most 15 digits" }] })
    expect(withCost({ currencyCode: "USD", value: "2.000" })).toHaveProperty("set")
  })

  it("writes a charge whose code the partner has none for, without L1-08, and lists it", () => {
    const invoice = invoiceSample({ costs: ["1.00", "2.00"] })
    const withCode = (chargeCode: string, partner?: PartnerProfile) => segmentsOf({ ...invoice, invoiceCharges: [invoice.invoiceCharges[0]!, { ...invoice.invoiceCharges[1]!, chargeCode }] } as Invoice, partner)
    const lineOf = ({ set }: ReturnType<typeof segmentsOf>) => set.segments.filter(([id]) => id === "L1")[1]
    const { lost, ...written } = withCode("RESIDENTIAL")
    expect(lineOf({ lost, ...written })).toEqual(["L1", "", "", "", "200"])
    expect(lost.filter(isCodeOfCharge)).toEqual([{ member: "invoiceCharges.1.chargeCode", reason: "\"RESIDENTIAL\" has no code; name one in the partner profile, codes.charges" }])
    expect(withCode("").lost.filter(isCodeOfCharge)).toHaveLength(1)
    const agreed = withCode("RESIDENTIAL", partnerFor({ scac: "ABCD", codes: { charges: { RESIDENTIAL: "REP" } } }))
    expect([lineOf(agreed), agreed.lost.filter(isCodeOfCharge)]).toEqual([["L1", "", "", "", "200", "", "", "", "REP"], []])
  })

  it("writes only numbers that their elements can have, with their units, and ten remarks", () => {
    const lineOf = (more: object) => {
      const invoice = invoiceSample()
      const { lost, set } = segmentsOf({ ...invoice, invoiceCharges: [{ ...invoice.invoiceCharges[0]!, chargeType: "ITEM_CHARGE", itemId: 1, ...more }] } as unknown as Invoice)
      return [set.segments.find(([id]) => id === "L0"), lost.map(({ member }) => member).filter((each) => each.startsWith("invoiceCharges"))]
    }
    expect(lineOf({ quantity: { value: 3, unitOfMeasure: "CW" }, itemPackageQuantity: 2, itemPackageType: "PLT", weight: { value: 10.5, unitOfMeasure: "Pounds" } })).toEqual([["L0", "1", "3", "CW", "10.5", "G", "", "", "2", "PLT", "", "L"], []])
    expect(lineOf({ itemId: 1000 })).toEqual([undefined, ["invoiceCharges.0.itemId"]])
    expect(lineOf({ quantity: { value: 3 } })).toEqual([["L0", "1"], ["invoiceCharges.0.quantity.value"]])
    expect(lineOf({ itemPackageQuantity: 2 })).toEqual([["L0", "1"], ["invoiceCharges.0.itemPackageQuantity"]])
    expect(lineOf({ itemPackageQuantity: 2.5, itemPackageType: "PLT" })).toEqual([["L0", "1"], ["invoiceCharges.0.itemPackageQuantity", "invoiceCharges.0.itemPackageType"]])
    expect(lineOf({ weight: { value: 0.1 + 0.2, unitOfMeasure: "Pounds" } })).toEqual([["L0", "1"], ["invoiceCharges.0.weight.value", "invoiceCharges.0.weight.unitOfMeasure"]])
    const { lost, set } = segmentsOf({ ...invoiceSample(), comments: Array.from({ length: 12 }, (_, index) => ({ commentText: `remark ${index}` })) })
    expect([set.segments.filter(([id]) => id === "K1").length, lost.map(({ member }) => member)]).toEqual([10, ["comments.10.commentText", "comments.11.commentText"]])
  })

  it("names the shipment of an invoice that has no reference for it", () => {
    const shipmentIn = (partner: PartnerProfile) => {
      const { text } = writeInvoices([{ ...invoiceSample(), shipmentID: "SHP-1" }], { partner, controlNumber: 5, at: new Date(0) })
      return invoiceOf210(sets(read(text))[0]!.set, partner).value?.shipmentID
    }
    expect(shipmentIn(partnerFor({ scac: "ABCD" }))).toBe("SHP-1")
    expect(shipmentIn(partnerFor({ scac: "ABCD", shipmentId: ["BOL"] }))).toBe("SHP-1")
  })

  it("writes a file that reads the same", () => {
    const { notWritten, text } = writeInvoices([invoiceSample()], { partner: partnerFor({ scac: "ABCD" }), controlNumber: 5, at: new Date(0) })
    expect(notWritten).toEqual([])
    expect(contents(read(text))[0]![0]).toEqual(["B3", "", "4711", "", "PP", "", "20261120", "26378", "", "", "", "ABCD"])
  })
})

describe("laws of 210", () => {
  const word = (random: SeededRandom, most: number) => random.text([..."ABCDEFGHKLMNPRSTUVWXYZ0123456789"], 1, most)
  const name = (random: SeededRandom, most: number) => `${word(random, 8)} ${random.text([..."abc .,-/&'é"], 0, most - 12)}x`
  const amount = (random: SeededRandom) => `${random.share(0.2) ? "-" : ""}${1 + random.below(1_000_000_000)}.${String(random.below(100)).padStart(2, "0")}`
  const address = (random: SeededRandom) => ({ streetAddress: name(random, 55), locality: name(random, 30), adminArea1: "IL", postalCode: word(random, 15), countryCode: random.pick(["USA", "CAN", "MEX", "DEU"]) })
  const maybe = (random: SeededRandom, data: object) => random.share(0.6) ? data : {}

  /** An invoice whose every member has an element. */
  const invoiceFor = (random: SeededRandom): Invoice => {
    const currencyCode = random.pick(["USD", "CAD", "MXN"])
    const cost = () => ({ currencyCode, value: amount(random) })
    const number = word(random, 22)
    const line = (index: number) => {
      const rate = random.pick([{ edi: { rate: "16.075", rateQualifier: "PH" }, chargeUnitCode: "UNIT_RATE" }, { edi: { rate: "100", rateQualifier: "FR" }, chargeUnitCode: "FLAT" }, { chargeUnitCode: "FLAT" }])
      const shared = { chargeCode: random.pick(["LINEHAUL", "FUEL", "ABC", "RESIDENTIAL"]), ...rate, cost: cost(), ...maybe(random, { quantity: { value: random.below(1000) / 4, unitOfMeasure: "CW" } }), ...maybe(random, { chargeDescription: name(random, 25) }) }
      return random.share(0.5)
        ? { chargeType: "BASE_CHARGE", ...shared }
        : {
          chargeType: "ITEM_CHARGE", itemId: index + 1, ...shared, itemDescription: name(random, 50), ...maybe(random, { nmfcNumber: word(random, 12) }),
          ...maybe(random, { weight: { value: random.below(100_000) / 8, unitOfMeasure: random.pick(["Pounds", "Kilograms"]) } }),
          ...maybe(random, { itemPackageQuantity: random.below(100), itemPackageType: "PLT" }), ...maybe(random, { freightClassCode: random.pick(["50", "77.5", "92.5", "500"]) })
        }
    }
    return {
      uniqueID: `ABCD-${number}`, shipmentID: "PRO-1", DOT: carrier.dot, MC: carrier.mc, edi: { scac: "ABCD" },
      invoiceHeader: {
        consignor: { consignorName: name(random, 60), address: address(random) },
        consignee: { consigneeName: name(random, 60), ...maybe(random, { consigneeID: word(random, 20) }), address: address(random) },
        billingParty: { billingPartyName: name(random, 60), address: address(random) },
        terms: { ...maybe(random, { billingTerms: random.pick(["Prepaid", "Collect", "Third Party"]) }), ...maybe(random, { paymentTerms: name(random, 60) }), ...maybe(random, { paymentDueDate: "2026-12-20" }) },
        invoiceNumber: number, invoiceDate: "2026-11-20", invoiceAmount: cost()
      },
      invoiceCharges: Array.from({ length: random.below(6) }, (_, index) => line(index)),
      attributes: [{ type: "SID", value: word(random, 30) }, { type: "PRO", value: "PRO-1" }, ...random.share(0.5) ? [{ type: "BOL", value: word(random, 30) }] : [], ...random.share(0.3) ? [{ type: "SEAL", value: word(random, 15) }] : [], { type: "accountNumber", value: word(random, 12) }, ...random.share(0.3) ? [{ type: "TRAILER", value: word(random, 10) }] : []],
      ...maybe(random, { comments: [{ commentText: name(random, 30) }, { commentText: `${name(random, 30)}\n${name(random, 30)}` }] })
    } as unknown as Invoice
  }

  const again = (segments: ReadonlyArray<WrittenSegment>, partner: PartnerProfile, version: string) => {
    const [first] = sets(read(written([{ functionalId: "IM", controlNumber: 1, sets: [{ id: "210", segments }] }], { version })))
    return invoiceOf210(first!.set, partner)
  }

  it("keeps every mapped member from invoice to 210 to invoice, in every version", () =>
    forRandom(600, (random) => {
      const version = random.pick(["004010", "005010", "008010"])
      const partner = partnerFor({ scac: "ABCD", codes: { charges: { RESIDENTIAL: "REP" } } })
      const invoice = invoiceFor(random)
      const { lost, set } = segmentsOf(invoice, partner, version)
      expect(lost).toEqual([])
      const { faults, value: back, warnings } = again(set.segments, partner, version)
      expect([faults, warnings]).toEqual([[], []])
      expect(back).toEqual(invoice)
    }))

  it("never changes an amount: it is written exactly, listed or refused", () =>
    forRandom(1_000, (random) => {
      const value = `${random.share(0.3) ? "-" : ""}${random.text([..."0123456789"], 0, 16)}${random.share(0.7) ? `.${random.text([..."0123456789"], 1, 6)}` : "0"}`
      const result = write210(invoiceSample({ total: value }), partnerFor({ scac: "ABCD" }))
      if ("refused" in result) return
      const back = again(result.set.segments, partnerFor(), "004010").value!.invoiceHeader.invoiceAmount.value
      const exact = (text: string) => BigInt(text.replace(/^(-?)(\d*)\.?(\d*)$/u, (_, sign: string, whole: string, fraction: string) => `${sign}${whole}${fraction.padEnd(10, "0")}`.replace(/^-?$/u, "0")))
      expect(exact(back)).toBe(exact(value))
    }))
})
