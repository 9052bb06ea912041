import { describe, expect, it } from "vitest"
import { readdirSync, readFileSync } from "node:fs"
import { InvalidProfile, partnerProfile } from "@waybill/edi"

const folder = new URL("../../profiles/", import.meta.url)

describe("sample profiles", () => {
  it.each(readdirSync(folder))("%s is a valid profile, named like its file", (file) => {
    expect(`${partnerProfile(JSON.parse(readFileSync(new URL(file, folder), "utf8"))).partner}.json`).toBe(file)
  })
})

it("names every fault of a profile", () => {
  const faults = (json: unknown) => {
    try {
      partnerProfile(json)
      return []
    } catch (error) {
      expect(error).toBeInstanceOf(InvalidProfile)
      return (error as InvalidProfile).faults.map(({ code, pointer }) => `${pointer} ${code}`)
    }
  }
  const good = { partner: "acme", them: { qualifier: "02", id: "ABCD" }, us: { qualifier: "ZZ", id: "WAYBILL" }, version: "004010", sets: ["214"] }
  expect(faults(good)).toEqual([])
  expect(faults({})).toEqual(["/partner required", "/them required", "/us required", "/version required", "/sets required"])
  expect(faults({ ...good, them: { qualifier: "2", id: "A".repeat(16) } })).toEqual(["/them/qualifier invalid", "/them/id invalid"])
  expect(faults({ ...good, times: { zone: "Chicago" } })).toEqual(["/times/zone invalid"])
  expect(faults({ ...good, times: { zone: "America/Nowhere" } })).toEqual(["/times/zone invalid"])
  expect(faults({ ...good, delimiters: { element: "A", component: ">", segment: "~" } })).toEqual(["/delimiters/element invalid"])
  expect(faults({ ...good, codes: { statusIn: { X6: "MOVING" } } })).toEqual(["/codes/statusIn/X6 invalid"])
  expect(faults({ ...good, zone: "America/Chicago" })).toEqual(["/zone unknown_field"])
})
