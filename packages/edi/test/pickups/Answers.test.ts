import { forRandom, type SeededRandom } from "@waybill/conformance/fixtures"
import { describe, expect, it } from "vitest"
import { answerOf990, type EdiPickupAnswer, type PartnerProfile, placeOf, write990 } from "@waybill/edi"
import { partnerOf, setOf } from "../Partner.ts"
import { read, sets, written } from "../x12/Samples.ts"

const partnerFor = (more: Partial<PartnerProfile> = {}) => partnerOf({ sets: ["990"], ...more })

describe("990", () => {
  const word = (random: SeededRandom, most: number) => random.text([..."ABCDEFGHKLMNPRSTUVWXYZ0123456789"], 1, most)

  it("keeps every member from answer to 990 to answer, in every version", () =>
    forRandom(300, (random) => {
      const version = random.pick(["004010", "005010", "008010"])
      const answer: EdiPickupAnswer = {
        scac: "ABCD",
        shipmentNumber: word(random, 30),
        decision: random.pick(["accept", "reject"] as const),
        ...random.share(0.5) ? { date: "2026-11-20" } : {},
        ...random.share(0.5) ? { references: [{ type: random.pick(["PRO", "BOL", "Q9"]), value: word(random, 30) }] } : {},
        ...random.share(0.5) ? { message: `no truck ${word(random, 10)}` } : {}
      }
      const result = write990(answer, partnerFor(), version)
      if ("refused" in result) throw new Error(JSON.stringify(result.refused))
      expect(result.lost).toEqual([])
      const [first] = sets(read(written([{ functionalId: "GF", controlNumber: 1, sets: [result.set] }], { version })))
      const back = answerOf990(first!.set, partnerFor())
      expect([back.faults, back.kept]).toEqual([[], []])
      expect(back.value).toEqual({ key: expect.stringContaining("edi:02-ABCD:"), interchangeDate: expect.stringMatching(/^\d{6}$/), ...answer })
    }))

  it("refuses an answer that is neither accepted nor declined", () => {
    const { faults } = answerOf990(setOf(["B1*ABCD*SHIP-77*20261120*Z"], "990", { functionalId: "GF" }), partnerFor())
    expect(faults.map((fault) => placeOf(fault))).toEqual(["B1-04 at segment 2"])
  })
})
