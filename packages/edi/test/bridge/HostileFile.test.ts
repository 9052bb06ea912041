import { describe, expect, it } from "vitest"
import { type EdiHandlers, type PartnerProfile, receiveFile, type SetResult, writeInterchange } from "@waybill/edi"
import { type EdiTransport, receiveOne } from "@waybill/edi/transports"
import { fileOf, partnerOf } from "../Partner.ts"
import { contents, read } from "../x12/Samples.ts"

const status = ["B10*PRO-1**ABCD", "LX*1", "AT7*X4*NS***20261120*0815*UT"]

const receive = async (text: string, more: Partial<PartnerProfile> = {}) => {
  const calls: Array<number> = []
  const results: Array<SetResult> = []
  const handlers: EdiHandlers = { transitEvents: async (events) => (calls.push(events.length), events.map(() => ({ result: "accepted" as const }))) }
  const report = await receiveFile({ partner: partnerOf(more), chunks: [text], handlers, controlNumbers: async (count) => Array.from({ length: count }, () => 1), onResult: (result) => void results.push(result) })
  return { calls, report, results, acknowledged: report.acknowledgements.flatMap(({ text }) => contents(read(text)).flat()) }
}

/** Sets of this many segments in one group. */
const fileWithSets = (count: number, segments: ReadonlyArray<string>): string => {
  const [isa, gs] = fileOf([]).split("~\n")
  const sets = Array.from({ length: count }, (_, index) => [`ST*214*${index + 1}`, ...segments, `SE*${segments.length + 2}*${index + 1}`]).flat()
  return [isa, gs, ...sets, `GE*${count}*7`, "IEA*1*000000007", ""].join("~")
}

describe("a hostile file", () => {
  it("is acknowledged although its control numbers have the delimiters of the partner profile", async () => {
    const text = fileOf(status).replace("*7*X*", "*1,2*X*").replace("GE*1*7", "GE*1*1,2").replaceAll("*0001", "*00'1")
    const { acknowledged, report } = await receive(text, { delimiters: { element: ",", component: ":", segment: "'" } })
    expect(report).toMatchObject({ accepted: 1, refused: 0 })
    expect(acknowledged).toEqual([["AK1", "QM", "1 2"], ["AK2", "214", "00 1"], ["AK5", "A"], ["AK9", "A", "1", "1", "1"]])
    // 999 declares a repetition separator, which the profile does not name
    const newer = await receive(text.replaceAll("1,2", "1^2"), { acknowledge: "999", delimiters: { element: "|", component: ":", segment: "~" } })
    expect(newer.acknowledged[0]).toEqual(["AK1", "QM", "1 2", "004010"])
  })

  it("with control characters in its envelopes is refused, because no database stores them", async () => {
    const group = await receive(fileOf(status).replace("*7*X*", "*1\u00002*X*"))
    expect(group.results[0]).toMatchObject({ outcome: "refused", faults: [{ segment: "GS" }] })
    const interchange = await receive(fileOf(status).replaceAll("000000007", "00000\u00007\u0000\u0000"))
    expect(interchange.results[0]).toMatchObject({ outcome: "refused", faults: [{ segment: "ISA", element: 13 }] })
    expect([group.calls, interchange.calls]).toEqual([[], []])
    // R, because E would accept what was not read
    expect(interchange.acknowledged).toEqual([])
    expect(interchange.report.acknowledgements).toMatchObject([{ text: expect.stringContaining("*R*018~") }])
  })

  it("that only acknowledges is not answered, so that two wrong profiles do not answer each other without end", async () => {
    // the first interchange comes from somebody else, and so does every answer
    const answers = [(await receive(fileOf(status).replace("*02*ABCD ", "*02*EVIL "))).report.acknowledgements]
    expect(answers[0]).toMatchObject([{ text: expect.stringContaining("~TA1*") }])
    expect((await receive(answers[0]![0]!.text)).report.acknowledgements).toEqual([])
    // asks for a TA1 of its TA1
    const asking = [...writeInterchange({ sender: { qualifier: "02", id: "ABCD" }, receiver: { qualifier: "ZZ", id: "WAYBILL" }, version: "004010", wantsAcknowledgement: true, controls: [["TA1", "000000007", "261120", "1415", "A", "000"]] }, 8, new Date(), [])].join("")
    expect((await receive(asking)).report.acknowledgements).toEqual([])
  })

  it("with acknowledgements in a group of another kind is not acknowledged", async () => {
    const text = fileOf(["AK1*QM*7", "AK9*A*1*1*1"], "997")
    expect((await receive(text)).report).toMatchObject({ acknowledged: [{ group: "7" }], acknowledgements: [] })
  })

  it.each([
    ["a set of tens of thousands of segments", fileWithSets(1, [...status.slice(0, 1), ...Array.from({ length: 40_000 }, (_, index) => `L11*R${index}*ZZ`), ...status.slice(1)])],
    ["a set without an end, in one piece", fileWithSets(1, []).replace(/SE\*.*/u, "L11*1*ZZ~".repeat(1_000_000))]
  ])("with %s leaves the event loop to others while it is read", async (_, text) => {
    let turns = 0
    let isRunning = true
    const count = () => {
      turns += 1
      if (isRunning) setImmediate(count)
    }
    setImmediate(count)
    await receive(text)
    isRunning = false
    expect(turns).toBeGreaterThan(3)
  })

  it("with a segment of more than a thousand elements refuses the set", async () => {
    const { results } = await receive(fileWithSets(1, [...status, `L11${"*A".repeat(1_000)}`, `L11${"*A".repeat(60_000)}`]))
    expect(results[0]!.faults).toEqual([{ level: "element", code: "3", segment: "L11", position: 6, element: 1001, detail: "The segment has more than 1000 elements." }])
  })

  it("with many large sets is stored a few sets at a time, because segments fill the memory", async () => {
    const { calls } = await receive(fileWithSets(6, [...status, ...Array.from({ length: 17_000 }, () => "K3*A")]))
    expect(calls).toEqual([3, 3])
  })

  it("has at most 10,000 interchanges, and says so", async () => {
    const [isa] = fileOf([]).replace("*0*P*>", "*1*P*>").split("~\n")
    const { report } = await receive(`${isa}~IEA*0*000000007~`.repeat(10_003))
    expect(report.acknowledgements).toHaveLength(10_000)
    expect(report.faults).toMatchObject(Array.from({ length: 3 }, () => ({ detail: expect.stringContaining("at most 10000 interchanges") })))
  })

  it("has at most 10,000 groups, and says so", async () => {
    const [isa] = fileOf([]).split("~\n")
    const { acknowledged, report, results } = await receive(`${isa}~${"GS*QM~".repeat(12_000)}ST*214*0001~${status.join("~")}~SE*5*0001~GE*1~IEA*12000*000000007~`)
    expect(results).toMatchObject([{ outcome: "refused", faults: [{ segment: "GS", detail: expect.stringContaining("at most 10000 groups") }] }])
    expect(report.acknowledgements).toHaveLength(1)
    expect(acknowledged.filter(([id]) => id === "AK1")).toHaveLength(10_000)
    expect(report.acknowledgements[0]!.text).toContain("~TA1*000000007*261120*1415*E*022~")
  })

  it("with refused sets in many groups is acknowledged by names of 10,000 of them, whatever their groups", async () => {
    const [isa, gs] = fileOf([]).split("~\n")
    const { acknowledged, report } = await receive(`${isa}~${`${gs}~${"ST*888*0~".repeat(4)}GE*4*7~`.repeat(5_000)}IEA*5000*000000007~`)
    expect(report).toMatchObject({ refused: 20_000 })
    expect([acknowledged.filter(([id]) => id === "AK2").length, acknowledged.filter(([id]) => id === "AK9").length]).toEqual([10_000, 5_000])
  })

  it("has a report of at most 16 Mi characters, which counts the results that it leaves out", async () => {
    const text = fileWithSets(900, [...status, `ZZ${"*a".repeat(500)}`])
    let kept = ""
    const transport: EdiTransport = {
      waiting: async () => [],
      read: async function*() {
        yield new TextEncoder().encode(text)
      },
      keep: async (_name, _outcome, report) => void (kept = report),
      send: async () => {},
      controlNumbers: async (count) => Array.from({ length: count }, () => 1)
    }
    const handlers: EdiHandlers = { transitEvents: async (events) => events.map(() => ({ result: "accepted" as const })) }
    await receiveOne({ partner: partnerOf(), handlers, transport }, "file.edi")
    const [summary, ...results] = kept.trimEnd().split("\n")
    expect(kept.length).toBeLessThan(17 * 1024 * 1024)
    expect(JSON.parse(summary!)).toMatchObject({ accepted: 900, resultsLeftOut: 900 - results.length })
    expect(results.length).toBeLessThan(900)
  })
})
