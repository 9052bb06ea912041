import { forRandom } from "@waybill/conformance/fixtures"
import { describe, expect, it } from "vitest"
import { type EdiPickupAnswer, type EdiPickupOrder, type OrderSet, type PartnerProfile, pickupOf, placeOf, receiveFile, type SetResult, writePickupAnswers } from "@waybill/edi"
import { startTestWaybill } from "@waybill/testkit"
import { fileOf, partnerOf, setOf } from "../Partner.ts"
import { contents, read } from "../x12/Samples.ts"

const partnerFor = (more: Partial<PartnerProfile> = {}) => partnerOf({ sets: ["204", "211", "216", "990"], accounts: ["A-1"], ...more })

const full = [
  "B2**ABCD**SHIP-77**PP", "B2A*00", "L11*BOL-9*BM", "L11*4500012345*PO", "NTE**Call ahead", "N1*BT*Debtor Corp.*93*A-1", "N4*Chicago*IL*60608*US",
  "S5*1*LD*1250.5*L*4*PL", "G62*37*20261120*1*0800", "G62*38*20261120*1*1600", "N1*SF*Closets Inc.*93*A-1", "N3*12 Dock Road", "N4*Chicago*IL*60608*US", "G61*IC*Ann Dock*TE*312-555-0100",
  "S5*2*UL*1250.5*L*4*PL", "G62*68*20261123*1*0900", "N1*ST*Mirrors Ltd.", "N3*7 Main Street", "N4*Dallas*TX*75201*US",
  "L3*1250.5*G*******600*E*4*L"
]

const groups = { "204": "SM", "211": "BL", "216": "PU" } as const
const orderIn = (segments: ReadonlyArray<string>, set: OrderSet = "204", version?: string, partner = partnerFor()) => pickupOf(set, setOf(segments, set, { functionalId: groups[set], ...version === undefined ? {} : { version } }), partner)
const faultsIn = (segments: ReadonlyArray<string>, set?: OrderSet) => orderIn(segments, set).faults.map((fault) => `${placeOf(fault)} ${fault.code}`)
const keptIn = (segments: ReadonlyArray<string>, set: OrderSet) => orderIn(segments, set).kept.map(({ element, segment, value }) => `${segment}-${element} ${value}`)

describe("reading 204", () => {
  const { faults, kept, value, warnings } = orderIn(full)

  it("makes an order with its stops, times and references", () => {
    expect(faults).toEqual([])
    expect(value).toEqual({
      key: "edi:02-ABCD:261120:000000007:7:0001",
      interchangeDate: "261120",
      set: "204",
      scac: "ABCD",
      shipmentNumber: "SHIP-77",
      request: {
        isTest: "False",
        requestFunction: "NewPickup",
        pickupAddress: [{ orgAddressName: "Closets Inc.", orgAccountNumber: "A-1", orgAddressLine1: "12 Dock Road", orgCity: "Chicago", orgState: "IL", orgZip: "60608", orgCountry: "USA", orgContactName: "Ann Dock", orgPhoneNumber: "312-555-0100" }],
        grossPickupWeight: 1251,
        weightUofM: "LB",
        handlingUnitCount: 4,
        cubicFeet: 600,
        readyDate: "2026-11-20",
        readyTime: "2026-11-20T08:00:00",
        closeTime: "2026-11-20T16:00:00",
        shipmentDetails: [{
          shipperRef: "SHIP-77",
          hazmatCheck: false,
          referenceNumbers: [{ referenceNumber: "BOL-9", referenceType: "BOL" }, { referenceNumber: "4500012345", referenceType: "PO" }],
          specialInstructionsPickup: "Call ahead",
          deliveryDateType: "Required Delivery Date",
          deliveryBeginDate: "2026-11-23T09:00:00"
        }],
        destinationAddress: [{ cneeAddressName: "Mirrors Ltd.", cneeAddressLine1: "7 Main Street", cneeCity: "Dallas", cneeState: "TX", cneeZip: "75201", cneeCountry: "USA" }],
        billToAddress: [{ btAddressName: "Debtor Corp.", btAccountNumber: "A-1", btCity: "Chicago", btState: "IL", btZip: "60608", btCountry: "USA" }]
      }
    })
  })

  it("warns of a weight that it rounds, and lists every element without a place", () => {
    expect(new Set(warnings.map(({ detail }) => detail))).toEqual(new Set(["1250.5 is rounded up to 1251."]))
    expect(kept.map(({ element, segment, value }) => `${segment}-${element} ${value}`)).toEqual([
      "B2-6 PP", "S5-1 1", "S5-6 PL", "G61-1 IC", "G61-3 TE", "S5-1 2", "S5-6 PL", "L3-2 G"
    ])
  })

  it("adds the stops to load at when there is no total", () => {
    const two = [...full.slice(0, 14), "S5*2*LD*100*L*2", "N1*SF*Other", "N3*1 Road", "N4*Gary*IN*46402*US", ...full.slice(14, -1)]
    expect(orderIn(two, "204", undefined, partnerFor({ linearFeet: 53 })).value?.request.linearFeet).toBe(53)
    expect(orderIn(two).value?.request).toMatchObject({ grossPickupWeight: 1351, handlingUnitCount: 6, pickupAddress: [{ orgCity: "Chicago" }, { orgCity: "Gary" }] })
  })

  it("reads references, remarks and freight of a stop as those of the order", () => {
    const stops = [
      "B2**ABCD**SHIP-77", "B2A*00", "AT5**LFTP", "N7*ABCD*53017", "M7*SEAL-1",
      "S5*1*CL", "L11*PO-1*PO", "G62*10*20261120*9*0800", "AT8*G*L*900*3**E*120", "NTE**Dock 4", "N1*SF*Closets Inc.", "N3*12 Dock Road", "N4*Chicago*IL*60608",
      "OID*1*PO-2", "L5*1*Shelves*123450-02*N", "AT8*G*L*900*3", "G61*HM*Ann Hazard*TE*312-555-0101", "L11*ERG-1*ZZ", "LH1*PC*3*UN1993",
      "S5*2*CU", "L11*DEL-7*DO", "G62*53*20261123", "G62*54*20261124*9*1700", "NTE**Ring twice", "N1*ST*Mirrors Ltd.", "N4*Dallas*TX*75201"
    ]
    const { faults, value } = orderIn(stops)
    expect(faults).toEqual([])
    expect(value?.request).toMatchObject({
      grossPickupWeight: 900,
      handlingUnitCount: 3,
      cubicFeet: 120,
      trailerNumber: "ABCD53017",
      sealNumber: "SEAL-1",
      readyTime: "2026-11-20T08:00:00",
      pickupAddress: [{ orgCity: "Chicago" }],
      destinationAddress: [{ cneeCity: "Dallas" }]
    })
    expect(value?.request.shipmentDetails).toEqual([{
      shipperRef: "SHIP-77",
      hazmatCheck: true,
      hazmatContactName: "Ann Hazard",
      hazmatContactPhoneNumber: "312-555-0101",
      description: "Shelves",
      nmfc: "123450",
      nmfcSub: "02",
      weight: 900,
      handlingUnitCount: 3,
      referenceNumbers: [{ referenceNumber: "ERG-1", referenceType: "ZZ" }, { referenceNumber: "PO-1", referenceType: "PO" }, { referenceNumber: "DEL-7", referenceType: "DO" }, { referenceNumber: "PO-2", referenceType: "PO" }],
      shipmentServices: [{ serviceCode: "LFTP" }],
      specialInstructionsPickup: "Dock 4",
      specialInstructionsDelivery: "Ring twice",
      deliveryDateType: "Delivery Window",
      deliveryBeginDate: "2026-11-23",
      deliveryEndDate: "2026-11-24T17:00:00"
    }])
    expect(keptIn(stops, "204")).toEqual(["S5-1 1", "OID-1 1", "L5-1 1", "G61-1 HM", "G61-3 TE", "LH1-1 PC", "LH1-2 3", "LH1-3 UN1993", "S5-1 2"])
  })

  it("reads services of a stop as those of the order, and the stop to its end", () => {
    const { faults, value } = orderIn([...full.slice(0, 10), "AT5**LFTP", ...full.slice(10)])
    expect(faults).toEqual([])
    expect(value?.request).toMatchObject({ pickupAddress: [{ orgAddressName: "Closets Inc.", orgCity: "Chicago" }], shipmentDetails: [{ shipmentServices: [{ serviceCode: "LFTP" }] }] })
  })

  it("keeps what a stop of another kind says, which is none of the order", () => {
    const drop = ["S5*3*DT", "L11*DROP-1*ZZ", "NTE**Drop the trailer", "AT5**NU", "N1*SF*Yard", "N4*Gary*IN*46402*US"]
    const segments = [...full.slice(0, -1), ...drop, full.at(-1)!]
    expect(orderIn(segments).value?.request).toEqual(value?.request)
    expect(keptIn(segments, "204")).toEqual(expect.arrayContaining(["S5-2 DT", "L11-1 DROP-1", "NTE-2 Drop the trailer", "AT5-2 NU", "N1-2 Yard", "N4-1 Gary"]))
  })

  it("lists the times of stops that the order has no member for", () => {
    const loading = ["S5*3*LD", "G62*37*20261121*I*1300", "G62*38*20261121*K*1500", "N1*SF*Other", "N4*Gary*IN*46402*US"]
    const unloading = ["S5*4*UL", "G62*53*20261125*G*0800", "N1*ST*Other", "N4*Gary*IN*46402*US"]
    const segments = [...full.slice(0, -1), ...loading, ...unloading, full.at(-1)!]
    expect(orderIn(segments).value?.request).toMatchObject({ readyTime: "2026-11-20T08:00:00", shipmentDetails: [{ deliveryBeginDate: "2026-11-23T09:00:00" }] })
    expect(keptIn(segments, "204").filter((each) => each.startsWith("G62"))).toEqual([
      "G62-1 37", "G62-2 20261121", "G62-3 I", "G62-4 1300", "G62-1 38", "G62-2 20261121", "G62-3 K", "G62-4 1500", "G62-1 53", "G62-2 20261125", "G62-3 G", "G62-4 0800"
    ])
    const both = [...full.slice(0, 16), "G62*54*20261124*L*1700", ...full.slice(16)]
    expect(keptIn(both, "204").filter((each) => each.startsWith("G62"))).toEqual(["G62-1 68", "G62-2 20261123", "G62-3 1", "G62-4 0900"])
  })

  it("takes an order with hazardous freight anywhere for hazardous", () => {
    for (const at of [3, 8, full.length]) {
      const { value } = orderIn([...full.slice(0, at), "LH1*PC*3*UN1993", ...full.slice(at)])
      expect(value?.request.shipmentDetails).toMatchObject([{ hazmatCheck: true }])
    }
    expect(orderIn([...bill.slice(0, 8), "LH3*Paint", ...bill.slice(8, -2)], "211").value?.request.shipmentDetails).toMatchObject([{ hazmatCheck: true }, { hazmatCheck: false }])
  })

  it("refuses what is no original order, has no stop to load at, or no weight", () => {
    expect(faultsIn(full.map((segment) => segment === "B2A*00" ? "B2A*01" : segment))).toEqual(["B2A-01 at segment 3 7"])
    expect(faultsIn(["B2**ABCD**SHIP-77", "B2A*00", "L3*10"])).toEqual(["S5 at segment 3 3"])
    expect(faultsIn(["B2**ABCD**SHIP-77", "B2A*00", "S5*1*LD", "N1*SF*Closets Inc."])).toEqual(["L3-01 at segment 3 1"])
    expect(faultsIn(["B2**ABCD", "B2A*00", "S5*1*LD*5*L"])).toEqual(["B2-04 at segment 2 1"])
    expect(faultsIn(["B2**ABCD**SHIP-77", "B2A*00", "S5*1*LD*5*L", "S5*2*LD*5*K"])).toEqual(["S5-04 at segment 3 7"])
    const freight = (unit: string) => [...full.slice(0, 14), "L5*1*Shelves", `AT8*G*${unit}*900*3`, ...full.slice(14)]
    expect([faultsIn(freight("L")), faultsIn(freight("K"))]).toEqual([[], ["S5-04 at segment 3 7"]])
  })

  it("names the element of a date or a time that is none, and keeps a latest date of the pickup without a time", () => {
    const other = (from: string, to: string) => full.map((segment) => segment === from ? to : segment)
    expect(faultsIn(other("G62*68*20261123*1*0900", "G62*68*20261399*1*0900"))).toEqual(["G62-02 at segment 17 8"])
    expect(faultsIn(other("G62*37*20261120*1*0800", "G62*37*20261120*1*0800 to 1600"))).toEqual(["G62-04 at segment 10 9"])
    const open = other("G62*38*20261120*1*1600", "G62*38*20261121")
    expect(orderIn(open).value?.request.closeTime).toBeNull()
    expect(keptIn(open, "204").filter((element) => element.startsWith("G62"))).toEqual(["G62-1 38", "G62-2 20261121"])
  })

  it("takes the carrier's customer code and the partner's accounts for accounts, and no other code of a place", () => {
    const named = (id: string) => {
      const { kept, value } = orderIn(full.map((segment) => segment.replace(/^(N1\*SF\*Closets Inc\.).*$/u, `$1*${id}`)))
      return { account: value?.request.pickupAddress[0]?.orgAccountNumber, kept: kept.filter(({ segment }) => segment === "N1").map(({ value }) => value) }
    }
    expect(named("93*A-1")).toEqual({ account: "A-1", kept: [] })
    expect(named("94*A-1")).toEqual({ account: "A-1", kept: [] })
    expect(named("25*B-1")).toEqual({ account: "B-1", kept: [] })
    expect(named("93*DOCK4")).toEqual({ account: undefined, kept: ["93", "DOCK4"] })
  })

  it("refuses an order without the references that the profile requires", () => {
    const missing = (segments: ReadonlyArray<string>, set: OrderSet, requiredReferences: ReadonlyArray<string>) =>
      orderIn(segments, set, set === "216" ? "005010" : undefined, partnerFor({ requiredReferences })).faults.map(({ detail, segment }) => `${segment}: ${detail}`)
    expect(missing(full, "204", ["BOL", "PO", "SID"])).toEqual([])
    expect(missing(full, "204", ["LOAD"])).toEqual(["L11: The partner profile requires a reference of type LOAD."])
    expect(missing(bill, "211", ["PRO", "PO"])).toEqual([])
    expect(missing(notification, "216", ["PO"])).toEqual([])
    expect(missing(notification, "216", ["PRO"])).toEqual(["L11: The partner profile requires a reference of type PRO."])
  })

  it("orders one truck from a file that is repeated, and answers it with 990", async () => {
    const waybill = await startTestWaybill()
    const answers: Array<EdiPickupAnswer> = []
    const pickups = async (orders: ReadonlyArray<EdiPickupOrder>) => {
      for (const { key, request, scac, shipmentNumber } of orders) {
        const [answer] = await waybill.pickups.create(waybill.shipper, request, { idempotencyKey: key })
        answers.push({ scac, shipmentNumber: shipmentNumber!, decision: answer!.pickupStatus === "Accept" ? "accept" : "reject", date: "2026-11-20", references: [{ type: "PRO", value: answer!.carrierPickupNumber! }] })
      }
      return orders.map(() => ({ result: "accepted" as const }))
    }
    for (let count = 0; count < 2; count++) {
      const refusals: Array<unknown> = []
      const report = await receiveFile({ partner: partnerFor(), chunks: [fileOf(full, "204", { functionalId: "SM" })], handlers: { pickups }, controlNumbers: async (count) => Array.from({ length: count }, () => 1), onResult: ({ faults }) => void refusals.push(...faults) })
      expect(refusals).toEqual([])
      expect(report).toMatchObject({ accepted: 1, refused: 0 })
    }
    expect(answers[0]).toEqual(answers[1])
    const { data } = await waybill.pickups.changes(waybill.carrier)
    expect(new Set(data.map(({ pickupId }) => pickupId)).size).toBe(1)
    const { notWritten, text } = writePickupAnswers(answers.slice(0, 1), { partner: partnerFor(), controlNumber: 9, at: new Date(0) })
    expect(notWritten).toEqual([])
    expect(contents(read(text))[0]).toEqual([["B1", "ABCD", "SHIP-77", "20261120", "A"], ["N9", "CN", answers[0]!.references![0]!.value]])
  })
})

const bill = [
  "BOL*ABCD*PP*BOL-9*20261120*0800*0123456789", "B2A*00", "MS2*ABCD*53017*TL", "L11*4500012345*PO", "G62*38*20261120*1*1600", "AT5*HM", "AT5***Keep dry", "K1*Use gate 2*after ten",
  "N1*SF*Closets Inc.*93*A-1", "N3*12 Dock Road", "N4*Chicago*IL*60608", "N1*ST*Mirrors Ltd.", "N3*7 Main Street", "N4*Dallas*TX*75201", "N1*BT*Debtor Corp.*93*A-1",
  "AT1*1", "L11*PART-1*PN", "AT4*Shelves", "AT4*of wood", "AT2*2*PLT*G*L*1250.5*40*CTN**123450-02*77.5", "SPO*PO-2",
  "AT1*2", "AT4*Paint", "AT2*1*PLT*G*L*300", "G61*HM*Ann Hazard*TE*312-555-0101", "LH1*PC*1*UN1263"
]

describe("reading 211", () => {
  it("makes an order with a detail for each line of freight", () => {
    const { faults, value } = orderIn(bill, "211", undefined, partnerFor({ linearFeet: 12 }))
    expect(faults).toEqual([])
    expect(value).toEqual({
      key: "edi:02-ABCD:261120:000000007:7:0001",
      interchangeDate: "261120",
      set: "211",
      scac: "ABCD",
      shipmentNumber: "BOL-9",
      request: {
        isTest: "False",
        requestFunction: "NewPickup",
        pickupAddress: [{ orgAddressName: "Closets Inc.", orgAccountNumber: "A-1", orgAddressLine1: "12 Dock Road", orgCity: "Chicago", orgState: "IL", orgZip: "60608", orgCountry: "USA" }],
        grossPickupWeight: 1551,
        weightUofM: "LB",
        handlingUnitCount: 3,
        linearFeet: 12,
        readyDate: "2026-11-20",
        readyTime: "2026-11-20T08:00:00",
        closeTime: "2026-11-20T16:00:00",
        trailerNumber: "ABCD53017",
        destinationAddress: [{ cneeAddressName: "Mirrors Ltd.", cneeAddressLine1: "7 Main Street", cneeCity: "Dallas", cneeState: "TX", cneeZip: "75201" }],
        billToAddress: [{ btAddressName: "Debtor Corp.", btAccountNumber: "A-1" }],
        shipmentDetails: [
          {
            shipperRef: "BOL-9",
            proNumber: "0123456789",
            hazmatCheck: false,
            description: "Shelves of wood",
            handlingUnitCount: 2,
            handlingUnitType: "PLT",
            individualPieces: 40,
            individualPieceType: "CTN",
            weight: 1251,
            nmfc: "123450",
            nmfcSub: "02",
            freightClass: "77.5",
            referenceNumbers: [{ referenceNumber: "4500012345", referenceType: "PO" }, { referenceNumber: "PART-1", referenceType: "PN" }, { referenceNumber: "PO-2", referenceType: "PO" }],
            shipmentServices: [{ serviceCode: "HM" }, { serviceDescription: "Keep dry" }],
            specialInstructionsPickup: "Use gate 2\nafter ten"
          },
          { shipperRef: "BOL-9", hazmatCheck: true, hazmatContactName: "Ann Hazard", hazmatContactPhoneNumber: "312-555-0101", description: "Paint", handlingUnitCount: 1, handlingUnitType: "PLT", weight: 300 }
        ]
      }
    })
    expect(keptIn(bill, "211")).toEqual(["BOL-2 PP", "MS2-3 TL", "AT1-1 1", "AT2-3 G", "AT1-1 2", "AT2-3 G", "G61-1 HM", "G61-3 TE", "LH1-1 PC", "LH1-2 1", "LH1-3 UN1263"])
  })

  it("takes the requested pickup in G62 before the date of the bill, and the volume of 8010", () => {
    const newer = [...bill.map((segment) => segment.startsWith("AT2*1*") ? "AT2*1*PLT*G*L*300********E*40" : segment.startsWith("AT2*2") ? "AT2*2*PLT*G*L*1250********E*100" : segment), "G62*10*20261121*1*0900"]
    const at = newer.indexOf("G62*38*20261120*1*1600")
    const [last] = newer.splice(-1)
    newer.splice(at, 0, last!)
    expect(orderIn(newer, "211", "008010").value?.request).toMatchObject({ readyDate: "2026-11-21", readyTime: "2026-11-21T09:00:00", cubicFeet: 140 })
  })

  it("refuses what is no original bill, has no place to load at, no weight, or several units", () => {
    const without = (start: string) => bill.filter((segment) => !segment.startsWith(start))
    expect(faultsIn(bill.map((segment) => segment === "B2A*00" ? "B2A*05" : segment), "211")).toEqual(["B2A-01 at segment 3 7"])
    expect(faultsIn(without("N1*SF"), "211")).toEqual(["N1 at segment 3 3"])
    expect(faultsIn(without("AT2"), "211")).toEqual(["AT2-05 at segment 3 1"])
    expect(faultsIn(bill.map((segment) => segment.replace("G*L*300", "G*K*300")), "211")).toEqual(["AT2-04 at segment 3 7"])
    expect(faultsIn(without("BOL"), "211")).toEqual(["BOL at segment 9 3"])
  })

  it("refuses weights in tons, instead of taking them for pounds", () => {
    expect(faultsIn(bill.map((segment) => segment.replace("G*L*300", "G*E*300")), "211")).toEqual([expect.stringMatching(/^AT2-04 at segment \d+ 7$/u)])
    expect(faultsIn(full.map((segment) => segment.replace("S5*1*LD*1250.5*L", "S5*1*LD*1250.5*E")))).toEqual(["S5-04 at segment 9 7"])
  })
})

const notification = [
  "PUN*ABCD*20261120*0800*PU-77*1600*00", "G61*SH*Ann Dock*TE*312-555-0100", "TEM*10*2*L*1250", "PRF*PO-1", "AT5**LFTP", "K2*Make the pickup at door 3",
  "N1*SF*Closets Inc.", "N3*12 Dock Road", "N4*Chicago*IL*60608", "N1*ST*Mirrors Ltd.", "N4*Dallas*TX*75201"
]

describe("reading 216", () => {
  it("makes an order of totals, in every version", () => {
    for (const version of ["004010", "005010", "008010"]) {
      const { faults, value } = orderIn(notification, "216", version, partnerFor({ linearFeet: 8 }))
      expect(faults).toEqual([])
      expect(value).toMatchObject({
        set: "216",
        scac: "ABCD",
        shipmentNumber: "PU-77",
        request: {
          grossPickupWeight: 1250,
          weightUofM: "LB",
          handlingUnitCount: 12,
          linearFeet: 8,
          readyDate: "2026-11-20",
          readyTime: "2026-11-20T08:00:00",
          closeTime: "2026-11-20T16:00:00",
          dockContactName: "Ann Dock",
          dockContactPhone: "312-555-0100",
          pickupAddress: [{ orgCity: "Chicago" }],
          destinationAddress: [{ cneeCity: "Dallas" }],
          shipmentDetails: [{ shipperRef: "PU-77", hazmatCheck: false, referenceNumbers: [{ referenceNumber: "PO-1", referenceType: "PO" }], shipmentServices: [{ serviceCode: "LFTP" }], specialInstructionsPickup: "Make the pickup at door 3" }]
        }
      })
    }
    expect(keptIn(notification, "216")).toEqual(["G61-1 SH", "G61-3 TE"])
  })

  it("needs no number, and refuses a cancellation and a time that is none", () => {
    const first = (segment: string) => [segment, ...notification.slice(1)]
    expect(orderIn(first("PUN*ABCD*20261120"), "216").value).not.toHaveProperty("shipmentNumber")
    expect(faultsIn(first("PUN*ABCD*20261120*0800*PU-77**01"), "216")).toEqual(["PUN-06 at segment 2 7"])
    expect(faultsIn(first("PUN*ABCD*20261120*0800*PU-77*2561*00"), "216")).toEqual(["PUN-05 at segment 2 9"])
    expect(faultsIn(notification.map((segment) => segment.startsWith("TEM") ? "TEM*400*200*L*5" : segment), "216")).toEqual(["TEM-01 at segment 4 6"])
  })
})

describe("an order", () => {
  it.each(["204", "211", "216"] as const)("of a repeated %s is one pickup, and its refusal by intake names the element", async (set) => {
    const waybill = await startTestWaybill()
    const segments = { "204": full, "211": bill, "216": notification }[set].map((segment) => segment.replaceAll("*93*A-1", ""))
    const results: Array<SetResult> = []
    const pickups = async (orders: ReadonlyArray<EdiPickupOrder>) => {
      for (const { key, request } of orders) await waybill.pickups.create(waybill.shipper, request, { idempotencyKey: key })
      return orders.map(() => ({ result: "accepted" as const }))
    }
    const receive = (each: ReadonlyArray<string>) =>
      receiveFile({ partner: partnerFor({ linearFeet: 8 }), chunks: [fileOf(each, set, { functionalId: groups[set] })], handlers: { pickups }, controlNumbers: async (count) => Array.from({ length: count }, () => 1), onResult: (result) => void results.push(result) })
    for (let count = 0; count < 2; count++) expect(await receive(segments)).toMatchObject({ accepted: 1, refused: 0 })
    const { data } = await waybill.pickups.changes(waybill.carrier)
    expect(new Set(data.map(({ pickupId }) => pickupId)).size).toBe(1)
    const long = segments.findIndex((segment) => segment.startsWith("N4*Dallas"))
    await receive(segments.map((segment, index) => index === long ? "N4*Dallas*TX*75201-0000-0000" : segment))
    expect(results.at(-1)).toMatchObject({ outcome: "refused", faults: [{ level: "element", segment: "N4", position: long + 2, element: 3 }] })
  })

  it("with more than a thousand lines of freight, or stops, is refused", () => {
    const stops = [...full.slice(0, -1), ...Array.from({ length: 999 }, () => ["S5*9*UL", "N1*ST*Mirrors Ltd."]).flat(), ...full.slice(-1)]
    const lines = (count: number) => [...bill, ...Array.from({ length: count }, () => ["AT1*9", "AT2*1*PLT*G*L*1"]).flat()]
    const detailsIn = (segments: ReadonlyArray<string>, set: OrderSet) => orderIn(segments, set).faults.map(({ detail }) => detail)
    expect(detailsIn(stops, "204")).toEqual(["The order has 0 lines of freight and 1001 stops, and at most 1000 of each are ordered together. Divide it."])
    expect(detailsIn(lines(1000), "211")).toEqual([expect.stringContaining("lines of freight and 2 stops, and at most 1000")])
    expect(detailsIn(lines(900), "211")).toEqual([])
  })

  it.each(["204", "211", "216"] as const)("never throws on a %s of any segments", (set) =>
    forRandom(600, (random) => {
      const ids = ["B2", "BOL", "PUN", "B2A", "L11", "N1", "N3", "N4", "S5", "G62", "G61", "L3", "AT8", "AT1", "AT2", "AT4", "AT5", "SPO", "OID", "L5", "LH1", "TEM", "PRF", "K1", "K2", "NTE", "MS2", "N7", "M7", "ZZZ"]
      const values = ["", "", "00", "LD", "UL", "SF", "ST", "BT", "G", "E", "20261120", "0815", "ABCD", "12.5", "1e9", "L", "38", "x y", "999999999999"]
      const first = { "204": ["B2**ABCD**1", "B2A*00"], "211": ["BOL*ABCD*PP*1*20261120", "B2A*00"], "216": ["PUN*ABCD*20261120"] }[set]
      const segments = [...random.share(0.7) ? first : [], ...Array.from({ length: 1 + random.below(25) }, () => [random.pick(ids), ...Array.from({ length: random.below(14) }, () => random.pick(values)), random.pick(values.slice(2))].join("*"))]
      const { faults, value } = orderIn(segments, set)
      expect(value === undefined).toBe(faults.length > 0)
    }))
})
