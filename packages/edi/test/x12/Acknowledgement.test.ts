import { describe, expect, it } from "vitest"
import { type AcknowledgementKind, GroupAcknowledgement, interchangeAcknowledgement, maxNamedSets } from "@waybill/edi"
import { read, status, written } from "./Samples.ts"

const text = written([status])

const acknowledge = (of: string, kind: AcknowledgementKind = "997") => {
  let collected: GroupAcknowledgement | undefined
  for (const event of read(of)) {
    if (event.kind === "group") collected = new GroupAcknowledgement(event.group, kind)
    if (event.kind === "set") collected!.add(event.set, event.faults)
    if (event.kind === "group-end") return collected!.write(event.included, event.faults)
  }
  throw new Error("no group")
}

describe("997", () => {
  it("accepts every set of a correct group", () => {
    expect(acknowledge(text)).toEqual({
      id: "997",
      segments: [["AK1", "QM", "3"], ["AK2", "214", "0001"], ["AK5", "A"], ["AK2", "214", "0002"], ["AK5", "A"], ["AK9", "A", "2", "2", "2"]]
    })
  })

  it("accepts a part, and names the segment and element of what it refuses", () => {
    expect(acknowledge(text.replace("SHIP-1", "SHIP\u0001")).segments.slice(1)).toEqual([
      ["AK2", "214", "0001"],
      ["AK3", "B10", "2", "", "8"],
      ["AK4", "2", "", "6", ""],
      ["AK5", "R", "5"],
      ["AK2", "214", "0002"],
      ["AK5", "A"],
      ["AK9", "P", "2", "2", "1"]
    ])
  })

  it("says which check of the envelope refused a set", () => {
    expect(acknowledge(text.replaceAll(/SE\*5/gu, "SE*9")).segments).toContainEqual(["AK5", "R", "4"])
    expect(acknowledge(text.replaceAll(/SE\*5/gu, "SE*9")).segments.at(-1)).toEqual(["AK9", "R", "2", "2", "0"])
  })

  it("notes faults of the group beside accepted sets", () => {
    expect(acknowledge(text.replace("GE*2*3", "GE*9*3")).segments.at(-1)).toEqual(["AK9", "E", "9", "2", "2", "5"])
  })
})

it("names refused sets also after as many accepted ones as it names, and no more than ten thousand in all", () => {
  const events = [...read(text)]
  const group = events.flatMap((event) => event.kind === "group" ? [event.group] : [])[0]!
  const set = events.flatMap((event) => event.kind === "set" ? [event.set] : [])[0]!
  const collected = new GroupAcknowledgement(group, "997")
  const named = () => collected.write("1", []).segments.filter(([name]) => name === "AK2").length
  const add = (faults: Parameters<GroupAcknowledgement["add"]>[1]) => {
    for (let n = 0; n < maxNamedSets; n++) collected.add(set, faults)
  }
  add([])
  const accepted = named()
  add([{ level: "set", segment: "SE", code: "4", detail: "" }])
  expect([accepted, named()]).toEqual([maxNamedSets / 2, maxNamedSets])
  expect(collected.write("20000", []).segments.at(-1)).toEqual(["AK9", "P", "20000", "20000", "10000"])
})

it("writes 999 with the version of the group", () => {
  expect(acknowledge(text.replace("SHIP-1", "SHIP\u0001"), "999").segments.slice(0, 5)).toEqual([
    ["AK1", "QM", "3", "004010"],
    ["AK2", "214", "0001"],
    ["IK3", "B10", "2", "", "8"],
    ["IK4", "2", "", "6", ""],
    ["IK5", "R", "5"]
  ])
})

it("writes TA1 with the number, date and time of the interchange", () => {
  const ended = read(text.replace("IEA*1*000000007", "IEA*1*000000008")).at(-1)!
  if (ended.kind !== "interchange-end") throw new Error("no interchange")
  expect(interchangeAcknowledgement(ended.interchange, ended.faults)).toEqual(["TA1", "000000007", "261120", "1415", "E", "001"])
  expect(interchangeAcknowledgement(ended.interchange, [])).toEqual(["TA1", "000000007", "261120", "1415", "A", "000"])
})
