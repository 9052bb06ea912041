import { forRandom, type SeededRandom } from "@waybill/conformance/fixtures"
import { describe, expect, it } from "vitest"
import { placeOf, type WrittenGroup } from "@waybill/edi"
import { contents, faults, read, sets, status, written } from "./Samples.ts"

const text = written([status])

const wrapped = (of: string, column: number, lineBreak: string) => of.match(new RegExp(`.{1,${column}}`, "gsu"))!.join(lineBreak)

describe("reading an interchange", () => {
  it("returns its envelope and its sets in order", () => {
    const events = read(text)
    expect(events.map(({ kind }) => kind)).toEqual(["interchange", "group", "set", "set", "group-end", "interchange-end"])
    expect(events[0]).toMatchObject({ interchange: { sender: { qualifier: "02", id: "ABCD" }, receiver: { qualifier: "ZZ", id: "SHIPPER" }, controlNumber: "000000007", version: "00401" } })
    expect(events[1]).toMatchObject({ group: { functionalId: "QM", controlNumber: "3", version: "004010" } })
    expect(contents(events)).toEqual([...status.sets].map(({ segments }) => segments.map((segment) => [...segment])))
    expect(faults(events)).toEqual([])
  })

  it.each([1, 2, 3, 7, 80, 106, 107, 1000])("returns the same from pieces of %i characters", (pieces) => {
    expect(read(text, { pieces })).toEqual(read(text))
    expect(read(new TextEncoder().encode(text), { pieces })).toEqual(read(text))
  })

  it.each([["80 columns", 80, "\r\n"], ["10 columns", 10, "\n"], ["five columns", 5, "\n"], ["105 columns", 105, "\r\n"]])("reads a file that was wrapped at %s", (_, column, lineBreak) => {
    expect(read(wrapped(text, column, lineBreak))).toEqual(read(text))
  })

  it.each([["a line feed", "\n"], ["a carriage return and a line feed", "\r\n"], ["a carriage return", "\r"]])("reads segments that end with %s", (_, terminator) => {
    const events = read(text.replaceAll("~", terminator))
    expect(contents(events)).toEqual(contents(read(text)))
    expect(faults(events)).toEqual([])
  })

  it("reads segments that end with a tilde and a line break", () => expect(read(text.replaceAll("~", "~\r\n"))).toEqual(read(text)))

  it("takes delimiters from ISA", () => {
    const delimiters = { element: "|", component: ":", repetition: "!", segment: "'" }
    const events = read(written([status], { delimiters, version: "005010" }))
    expect(contents(events)).toEqual(contents(read(text)))
    expect(events[0]).toMatchObject({ interchange: { delimiters } })
  })

  it("reads interchanges with different delimiters in one file, after a byte order mark", () => {
    const other = written([status], { delimiters: { element: "|", component: ":", segment: "\n" } }, 8)
    const events = read(`\ufeff${text}\r\n${other}\r\n\u001a`)
    expect(sets(events).map(({ set }) => set.interchange.controlNumber)).toEqual(["000000007", "000000007", "000000008", "000000008"])
    expect(faults(events)).toEqual([])
  })

  it("reads released characters when ISX declares the release character", () => {
    const group: WrittenGroup = { functionalId: "QM", controlNumber: 1, sets: [{ id: "214", segments: [["K1", "STAR*ALLIANCE~?>^", "50? off?"]] }] }
    const released = written([group], { version: "008010", delimiters: { element: "*", component: ">", repetition: "^", segment: "~", release: "?" } })
    expect(released).toContain("K1*STAR?*ALLIANCE?~???>?^*50?? off??~")
    for (const pieces of [1, 5, 500]) expect(contents(read(released, { pieces }))).toEqual([[["K1", "STAR*ALLIANCE~?>^", "50? off?"]]])
  })
})

describe("a wrong envelope", () => {
  const places = (of: string) => faults(read(of)).map((fault) => `${placeOf(fault)} ${fault.level} ${fault.code}`)

  it("refuses only the set whose count is wrong", () => {
    const events = read(text.replace("SE*5*0001", "SE*6*0001"))
    expect(sets(events).map(({ faults }) => faults.map(({ code }) => code))).toEqual([["4"], []])
    expect(faults(events)).toMatchObject([{ segment: "SE", element: 1, position: 5, value: "6" }])
  })

  it("refuses only the set whose control number differs", () => {
    expect(places(text.replace("SE*5*0002", "SE*5*0009"))).toEqual(["SE-02 at segment 5 set 3"])
  })

  it("refuses only the set that has no trailer", () => {
    const events = read(text.replace("SE*5*0001~", ""))
    expect(sets(events).map(({ faults, set }) => [set.controlNumber, faults.length])).toEqual([["0001", 1], ["0002", 0]])
    expect(places(text.replace("SE*5*0001~", ""))).toEqual(["SE set 2"])
  })

  it("refuses the second set of a repeated control number", () => {
    const events = read(text.replace("ST*214*0002", "ST*214*0001").replace("SE*5*0002", "SE*5*0001"))
    expect(sets(events).map(({ faults }) => faults.map(({ code }) => code))).toEqual([[], ["23"]])
  })

  it("reports counts and numbers of groups and interchanges, and keeps their sets", () => {
    expect(places(text.replace("GE*2*3", "GE*3*3"))).toEqual(["GE-01 group 5"])
    expect(places(text.replace("GE*2*3", "GE*2*4"))).toEqual(["GE-02 group 4"])
    expect(places(text.replace("IEA*1*000000007", "IEA*2*000000007"))).toEqual(["IEA-01 interchange 021"])
    expect(places(text.replace("IEA*1*000000007", "IEA*1*000000008"))).toEqual(["IEA-02 interchange 001"])
    expect(sets(read(text.replace("GE*2*3", "GE*3*3"))).every(({ faults }) => faults.length === 0)).toBe(true)
  })

  it("reports a file that ends early, and keeps the sets before its end", () => {
    const events = read(text.slice(0, text.indexOf("AT7*D1") + 8))
    expect(sets(events).map(({ faults }) => faults.length > 0)).toEqual([false, true])
    expect(events.at(-1)).toMatchObject({ kind: "interchange-end", faults: [{ code: "023" }, { code: "023" }] })
  })

  it("reads the next interchange after one without a trailer", () => {
    const cut = text.slice(0, text.indexOf("GE*2"))
    const events = read(cut + written([status], {}, 8))
    expect(sets(events).map(({ set }) => set.interchange.controlNumber)).toEqual(["000000007", "000000007", "000000008", "000000008"])
  })

  it("names the element of ISA that has a wrong length", () => {
    expect(faults(read(text.replace("*02*", "*2*")))[0]).toMatchObject({ segment: "ISA", element: 5, code: "022" })
  })

  it("reports text that is no interchange", () => {
    expect(faults(read("HTTP/1.1 200 OK"))).toMatchObject([{ segment: "ISA", detail: expect.stringContaining("HTTP/1.1") }])
    expect(sets(read(`some text ${text}`))).toHaveLength(2)
  })

  it("names the element with bytes that are not UTF-8, and reads them in the encoding of the profile", () => {
    const bytes = new Uint8Array([...text].map((character) => character === "4" ? 0xe9 : character.charCodeAt(0)))
    const latin = new TextEncoder().encode(text.replace("SHIP-1", "SHIP.1")).map((byte) => byte === 0x2e ? 0xe9 : byte)
    expect(bytes).toHaveLength(text.length)
    expect(faults(read(latin))).toMatchObject([{ level: "element", segment: "B10", element: 2, position: 2, code: "6" }])
    expect(contents(read(latin, { encoding: "windows-1252" }))[0]![0]).toEqual(["B10", "0123456789", "SHIPé1", "ABCD"])
  })

  it("refuses a set that is larger than the bound, and reads the next one", () => {
    const events = read(text, { maxSegments: 4 })
    expect(sets(events).map(({ faults, set }) => [set.segments.length, faults.map(({ code }) => code)])).toEqual([[0, ["5"]], [0, ["5"]]])
    const one = read(text.replace("LX*1~", "LX*1~K1*a~K1*b~").replace("SE*5*0001", "SE*7*0001"), { maxSegments: 6 })
    expect(sets(one).map(({ faults }) => faults.length)).toEqual([1, 0])
  })

  it("counts separators as characters of a set, because empty elements take memory", () => {
    const events = read(text.replace("LX*1~", `LX*1${"*".repeat(900)}~`), { maxCharacters: 500 })
    expect(sets(events)[0]).toMatchObject({ set: { segments: [] }, faults: [{ code: "5" }] })
  })

  it("refuses a control number that is longer than nine characters, and repeats no long text in faults", () => {
    const long = "9".repeat(5_000)
    const [refused] = sets(read(text.replaceAll("*0001", `*${long}`)))
    expect(refused!.faults[0]).toMatchObject({ code: "7", detail: "ST-02 has more than 9 characters." })
    for (const each of faults(read(text.replace("SE*5", `SE*${long}`).replace("GE*2", `GE*${long}`)))) expect(`${each.value}${each.detail}`.length).toBeLessThan(300)
  })

  it("gives up an ISA that line breaks stretch without an end, and reads the next", () => {
    const events = read(`ISA*00*${"\n".repeat(5_000)}${text}`, { pieces: 100 })
    expect(events[0]).toMatchObject({ kind: "unreadable", fault: { detail: "ISA is not complete within 1000 characters." } })
    expect(sets(events).map(({ faults }) => faults.length)).toEqual([0, 0])
  })

  it("gives up an interchange whose segment never ends, and holds no more than the bound", () => {
    const endless = text.replace("X4*NS", "x".repeat(5_000))
    const events = read(endless, { maxSegmentLength: 1_000, pieces: 100 })
    expect(events.some(({ kind }) => kind === "interchange-end")).toBe(true)
    expect(faults(events)[0]).toMatchObject({ code: "2" })
    expect(faults(events).some(({ detail }) => detail.includes("1000 characters"))).toBe(true)
  })
})

describe("laws of reading and writing", () => {
  const characters = [..."ABCXYZ abcxyz0189.,-/&'()#", ..."*>^~?:|", "é", "東"]
  const value = (random: SeededRandom) => random.text(characters, 0, 11)
  const groupOf = (random: SeededRandom): WrittenGroup => ({
    functionalId: "QM",
    controlNumber: 1 + random.below(1000),
    sets: Array.from({ length: 1 + random.below(4) }, () => ({
      id: "214",
      segments: Array.from({ length: random.below(6) }, () => {
        const elements = Array.from({ length: 1 + random.below(6) }, () => value(random))
        return ["K1", ...elements, "end"] as const
      })
    }))
  })

  it("returns what was written, with any delimiters, a release character and any pieces", () =>
    forRandom(300, (random) => {
      const delimiters = random.pick([
        { element: "*", component: ">", repetition: "^", segment: "~", release: "?" },
        { element: "|", component: ":", repetition: "~", segment: "\n", release: "!" },
        { element: "^", component: "?", repetition: "*", segment: "'", release: "\\" }
      ])
      const groups = Array.from({ length: 1 + random.below(3) }, () => groupOf(random))
      const interchange = written(groups, { delimiters, version: "008010", lines: random.share(0.5) })
      const events = read(interchange, { pieces: 1 + random.below(200) })
      expect(faults(events)).toEqual([])
      expect(contents(events)).toEqual(groups.flatMap(({ sets }) => [...sets].map(({ segments }) => segments.map((segment) => [...segment]))))
    }))

  it("never throws on damaged text, and ends every envelope that it opens", () =>
    forRandom(1_500, (random) => {
      let damaged = text.repeat(1 + random.below(2))
      for (let count = 1 + random.below(8); count > 0; count--) {
        const from = random.below(damaged.length)
        const inserted = random.pick(["", "~", "*", "ISA", "ST*214*", "SE*1*1~", "\r\n", "IEA*1*1~", "GE*1*1~", "\u0000", damaged.slice(from, from + 30)])
        damaged = damaged.slice(0, from) + inserted + damaged.slice(from + random.below(20))
      }
      const pieces = 1 + random.below(300)
      const events = read(damaged, { pieces })
      const count = (kind: string) => events.filter((event) => event.kind === kind).length
      expect(count("group-end")).toBe(count("group"))
      expect(count("interchange-end")).toBe(count("interchange"))
      expect(read(damaged)).toEqual(events)
    }))
})
