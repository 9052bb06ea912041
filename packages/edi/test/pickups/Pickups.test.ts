import { describe, expect, it } from "vitest"
import { answerOf990, type EdiPickupAnswer, type EdiPickupOrder, type PartnerProfile, pickupOf204, placeOf, receiveFile, write990, writePickupAnswers } from "@waybill/edi"
import { startTestWaybill } from "@waybill/testkit"
import { fileOf, partnerOf, setOf } from "../Partner.ts"
import { forRandom, type Random } from "../Random.ts"
import { contents, read, sets, written } from "../x12/Samples.ts"

const partnerFor = (more: Partial<PartnerProfile> = {}) => partnerOf({ sets: ["204", "990"], ...more })

const full = [
  "B2**ABCD**SHIP-77**PP", "B2A*00", "L11*BOL-9*BM", "L11*4500012345*PO", "NTE**Call ahead", "N1*BT*Debtor Corp.*93*A-1", "N4*Chicago*IL*60608*US",
  "S5*1*LD*1250.5*L*4*PL", "G62*37*20261120*1*0800", "G62*38*20261120*1*1600", "N1*SF*Closets Inc.*93*A-1", "N3*12 Dock Road", "N4*Chicago*IL*60608*US", "G61*IC*Ann Dock*TE*312-555-0100",
  "S5*2*UL*1250.5*L*4*PL", "G62*68*20261123*1*0900", "N1*ST*Mirrors Ltd.", "N3*7 Main Street", "N4*Dallas*TX*75201*US",
  "L3*1250.5*G*******600*E*4*L"
]

const orderIn = (segments: ReadonlyArray<string>) => pickupOf204(setOf(segments, "204", { functionalId: "SM" }), partnerFor())
const faultsIn = (segments: ReadonlyArray<string>) => orderIn(segments).faults.map((fault) => `${placeOf(fault)} ${fault.code}`)

describe("reading 204", () => {
  const { faults, kept, value, warnings } = orderIn(full)

  it("makes an order with its stops, times and references", () => {
    expect(faults).toEqual([])
    expect(value).toEqual({
      key: "edi:02-ABCD:261120:000000007:7:0001",
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
        shipmentDetails: [{ shipperRef: "SHIP-77", hazmatCheck: false, referenceNumbers: [{ referenceNumber: "BOL-9", referenceType: "BOL" }, { referenceNumber: "4500012345", referenceType: "PO" }] }],
        destinationAddress: [{ cneeAddressName: "Mirrors Ltd.", cneeAddressLine1: "7 Main Street", cneeCity: "Dallas", cneeState: "TX", cneeZip: "75201", cneeCountry: "USA" }],
        billToAddress: [{ btAddressName: "Debtor Corp.", btAccountNumber: "A-1", btCity: "Chicago", btState: "IL", btZip: "60608", btCountry: "USA" }]
      }
    })
  })

  it("warns of a weight that it rounds, and lists every element without a place", () => {
    expect(new Set(warnings.map(({ detail }) => detail))).toEqual(new Set(["1250.5 is rounded up to 1251."]))
    expect(kept.map(({ element, segment, value }) => `${segment}-${element} ${value}`)).toEqual([
      "B2-6 PP", "NTE-2 Call ahead", "S5-1 1", "S5-6 PL", "G61-1 IC", "G61-3 TE", "S5-1 2", "S5-6 PL", "G62-1 68", "G62-2 20261123", "G62-3 1", "G62-4 0900", "L3-2 G"
    ])
  })

  it("adds the stops to load at when there is no total", () => {
    const two = [...full.slice(0, 14), "S5*2*LD*100*L*2", "N1*SF*Other", "N3*1 Road", "N4*Gary*IN*46402*US", ...full.slice(14, -1)]
    expect(pickupOf204(setOf(two, "204", { functionalId: "SM" }), partnerFor({ linearFeet: 53 })).value?.request.linearFeet).toBe(53)
    expect(orderIn(two).value?.request).toMatchObject({ grossPickupWeight: 1351, handlingUnitCount: 6, pickupAddress: [{ orgCity: "Chicago" }, { orgCity: "Gary" }] })
  })

  it("refuses what is no original order, has no stop to load at, or no weight", () => {
    expect(faultsIn(full.map((segment) => segment === "B2A*00" ? "B2A*01" : segment))).toEqual(["B2A-01 at segment 3 7"])
    expect(faultsIn(["B2**ABCD**SHIP-77", "B2A*00", "L3*10"])).toEqual(["S5 at segment 3 3"])
    expect(faultsIn(["B2**ABCD**SHIP-77", "B2A*00", "S5*1*LD", "N1*SF*Closets Inc."])).toEqual(["L3-01 at segment 3 1"])
    expect(faultsIn(["B2**ABCD", "B2A*00", "S5*1*LD*5*L"])).toEqual(["B2-04 at segment 2 1"])
    expect(faultsIn(["B2**ABCD**SHIP-77", "B2A*00", "S5*1*LD*5*L", "S5*2*LD*5*K"])).toEqual(["S5-04 at segment 3 7"])
  })

  it("orders one truck from a file that is repeated, and answers it with 990", async () => {
    const waybill = await startTestWaybill()
    const answers: Array<EdiPickupAnswer> = []
    const pickups = async (orders: ReadonlyArray<EdiPickupOrder>) => {
      for (const { key, request, scac, shipmentNumber } of orders) {
        const [answer] = await waybill.pickups.create(waybill.shipper, request, { idempotencyKey: key })
        answers.push({ scac, shipmentNumber, decision: answer!.pickupStatus === "Accept" ? "accept" : "reject", date: "2026-11-20", references: [{ type: "PRO", value: answer!.carrierPickupNumber! }] })
      }
      return orders.map(() => ({ result: "accepted" as const }))
    }
    for (let count = 0; count < 2; count++) {
      const refusals: Array<unknown> = []
      const report = await receiveFile({ partner: partnerFor(), chunks: [fileOf(full, "204", { functionalId: "SM" })], handlers: { pickups }, nextControlNumber: async () => 1, onResult: ({ faults }) => void refusals.push(...faults) })
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

  it("never throws on a set of any segments", () =>
    forRandom(800, (random) => {
      const ids = ["B2", "B2A", "L11", "N1", "N3", "N4", "S5", "G62", "G61", "L3", "AT8", "ZZZ"]
      const values = ["", "", "00", "LD", "UL", "SF", "BT", "20261120", "0815", "ABCD", "12.5", "1e9", "L", "38", "x y"]
      const segments = Array.from({ length: 1 + random.below(20) }, () => [random.pick(ids), ...Array.from({ length: random.below(9) }, () => random.pick(values)), random.pick(values.slice(2))].join("*"))
      const { faults, value } = orderIn(segments)
      expect(value === undefined).toBe(faults.length > 0)
    }))
})

describe("990", () => {
  const word = (random: Random, most: number) => random.text([..."ABCDEFGHKLMNPRSTUVWXYZ0123456789"], 1, most)

  it("keeps every member from answer to 990 to answer, in every version", () =>
    forRandom(300, (random) => {
      const version = random.pick(["004010", "005010", "008010"])
      const answer: EdiPickupAnswer = {
        scac: "ABCD",
        shipmentNumber: word(random, 30),
        decision: random.pick(["accept", "reject"] as const),
        ...random.chance(0.5) ? { date: "2026-11-20" } : {},
        ...random.chance(0.5) ? { references: [{ type: random.pick(["PRO", "BOL", "Q9"]), value: word(random, 30) }] } : {},
        ...random.chance(0.5) ? { message: `no truck ${word(random, 10)}` } : {}
      }
      const result = write990(answer, partnerFor(), version)
      if ("refused" in result) throw new Error(JSON.stringify(result.refused))
      expect(result.lost).toEqual([])
      const [first] = sets(read(written([{ functionalId: "GF", controlNumber: 1, sets: [result.set] }], { version })))
      const back = answerOf990(first!.set, partnerFor())
      expect([back.faults, back.kept]).toEqual([[], []])
      expect(back.value).toEqual(answer)
    }))

  it("refuses an answer that is neither accepted nor declined", () => {
    const { faults } = answerOf990(setOf(["B1*ABCD*SHIP-77*20261120*Z"], "990", { functionalId: "GF" }), partnerFor())
    expect(faults.map((fault) => placeOf(fault))).toEqual(["B1-04 at segment 2"])
  })
})
