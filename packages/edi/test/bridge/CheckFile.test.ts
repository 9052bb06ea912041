import { describe, expect, it } from "vitest"
import { checkFile, type PartnerProfile, placeOf, type SetResult } from "@waybill/edi"
import { fileOf, partnerOf } from "../Partner.ts"

const partner = (more: Partial<PartnerProfile> = {}) => partnerOf({ sets: ["214", "210", "204", "211", "216", "990"], carrier: { dot: "1234567" }, accounts: ["A-1"], linearFeet: 12, ...more })

const check = async (files: ReadonlyArray<string>, profile = partner()) => {
  const results: Array<SetResult & { readonly items: ReadonlyArray<unknown> }> = []
  const report = await checkFile(profile, files, { onResult: (result, items) => void results.push({ ...result, items }) })
  return { report, results, outcomes: results.map(({ outcome }) => outcome), faults: results.flatMap(({ faults }) => faults.map((fault) => `${placeOf(fault)}: ${fault.detail}`)) }
}

const numbered = (text: string, number: number) => text.replaceAll("000000007", String(number).padStart(9, "0"))

const place = ["N1*SF*Closets Inc.*25*A-1", "N3*12 Dock Road", "N4*Chicago*IL*60608"]
const orders = {
  "204": fileOf(["B2**ABCD**SHIP-1", "B2A*00", "S5*1*LD*1250*L*4", ...place], "204", { functionalId: "SM" }),
  "211": fileOf(["BOL*ABCD*PP*BOL-9*20261120", "B2A*00", ...place, "AT1*1", "AT2*2*PLT*G*L*1250"], "211", { functionalId: "BL" }),
  "216": fileOf(["PUN*ABCD*20261120*0800*PU-7*1600*00", "TEM*2**L*1250", ...place], "216", { functionalId: "PU" })
} as const
const invoice = (amount: string) => fileOf([`B3**4711****20261120*${amount}****ABCD`], "210", { functionalId: "IM" })
const answer = (scac: string) => fileOf([`B1*${scac}*SHIP-1*20261120*A`], "990", { functionalId: "GF" })

describe("checking a file", () => {
  it.each(["204", "211", "216"] as const)("reads an order of a %s as intake would, and returns it", async (set) => {
    const { results } = await check([orders[set]])
    expect(results).toMatchObject([{ outcome: "accepted", items: [{ set, request: { grossPickupWeight: 1250, linearFeet: 12 } }] }])
  })

  it.each(["204", "211", "216"] as const)("refuses an order of a %s that intake would refuse, at its element", async (set) => {
    const { linearFeet: _feet, ...withoutSpace } = partner()
    const noSpace = await check([orders[set]], withoutSpace)
    expect(noSpace.faults).toEqual([expect.stringContaining("Give the space, as cubicFeet or linearFeet")])
    const foreign = await check([orders[set]], partner({ accounts: ["A-2"] }))
    expect(foreign.faults).toEqual([expect.stringMatching(/^N1-03 at segment \d: The account A-1 is not one of the partner profile, accounts\.$/u)])
    const noUnits = await check([orders[set].replace("*1250*L*4", "*1250*L").replace("AT2*2*PLT*G", "AT2***G").replace("TEM*2**L", "TEM*0**L")])
    expect(noUnits.faults).toEqual([expect.stringContaining("Give the handling units, 1 to 500")])
    expect((await check([orders[set].replace(place[2]!, "N4*Chicago*IL")])).outcomes).toEqual(["refused"])
  })

  it("reports a repeated invoice and order as duplicates, and refuses the same invoice with other content", async () => {
    const { faults, outcomes, report } = await check([invoice("26378"), numbered(invoice("26378"), 8), numbered(invoice("26379"), 9), orders["204"], orders["204"], answer("ABCD"), answer("ABCD")])
    expect(outcomes).toEqual(["accepted", "duplicate", "refused", "accepted", "duplicate", "accepted", "duplicate"])
    expect(faults).toEqual(["B3 at segment 2: Invoice ABCD-4711 exists already with other content. Replace it, or use another uniqueID."])
    expect(report).toMatchObject({ accepted: 3, duplicates: 3, refused: 1 })
  })

  it("refuses an order with the control numbers of another one", async () => {
    const { outcomes } = await check([orders["204"], orders["204"].replace("SHIP-1", "SHIP-2")])
    expect(outcomes).toEqual(["accepted", "refused"])
  })

  it("refuses an answer whose SCAC intake would refuse", async () => {
    const { faults } = await check([answer("AB1")])
    expect(faults).toEqual([expect.stringMatching(/^B1-01 at segment 2: scac is the Standard Carrier Alpha Code/u)])
  })
})
