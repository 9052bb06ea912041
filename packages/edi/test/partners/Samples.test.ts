import { describe, expect, it } from "vitest"
import { readdirSync, readFileSync } from "node:fs"
import { checkFile, partnerProfile, type SetResult } from "@waybill/edi"

const profiles = new URL("../../profiles/", import.meta.url)
const samples = new URL("../samples/", import.meta.url)

/** Elements that have no place in each sample, besides running numbers. */
const withoutPlace: Readonly<Record<string, ReadonlyArray<string>>> = {
  "tendering-shipper": [
    "B2-06", "B2A-02", "G62-01", "G62-02", "G62-03", "G62-04", "MS3-01", "MS3-02", "MS3-04", "PLD-01", "G61-01", "G61-03", "N7-11", "N7-15", "S5-06", "N1-03", "N1-04", "G61-01", "G61-03",
    "OID-01", "OID-04", "OID-05", "OID-06", "OID-07", "S5-06", "N1-03", "N1-04", "L3-02"
  ],
  "billing-shipper": ["BOL-02", "BOL-07", "G61-01", "G61-03", "N1-03", "N1-04", "N2-01", "AT2-03", "AT2-08", "SPO-03", "SPO-04", "SPO-05", "SPO-06", "AT2-03", "AT2-08", "G61-01", "G61-03", "LH1-01", "LH1-02", "LH1-03", "LH1-09", "LH1-10", "LH2-01", "LH3-01"],
  "notifying-shipper": ["G61-01", "G61-03"]
}

const running = new Set(["S5-01", "L5-01", "AT1-01"])

describe("sample files, written after public guides of carriers and shippers", () => {
  it.each(readdirSync(samples).filter((file) => file.endsWith(".edi")))("%s is read with the profile of its name", async (file) => {
    const name = file.replace(".edi", "")
    const partner = partnerProfile(JSON.parse(readFileSync(new URL(`${name}.json`, profiles), "utf8")))
    const results: Array<SetResult> = []
    const items: Array<unknown> = []
    await checkFile(partner, [readFileSync(new URL(file, samples))], { onResult: (result, read) => void (results.push(result), items.push(...read)) })
    expect(results.map(({ faults, outcome }) => [outcome, faults])).toEqual([["accepted", []]])
    const kept = results[0]!.kept.map(({ element, segment }) => `${segment}-${String(element).padStart(2, "0")}`)
    expect(kept.filter((each) => !running.has(each))).toEqual(withoutPlace[name])
    await expect(`${JSON.stringify(items[0], null, 2)}\n`).toMatchFileSnapshot(new URL(`../samples/${name}.json`, import.meta.url).pathname)
  })
})
