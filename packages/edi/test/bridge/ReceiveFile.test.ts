import { describe, expect, it } from "vitest"
import { type Delimiters, type EdiHandlers, encodeText, isRefusal, receiveFile, type SetResult, writeInterchange, writeTransitEvents, type WrittenSegment, type WrittenSet } from "@waybill/edi"
import { postedShipment, startTestWaybill, type StartedTestWaybill } from "@waybill/testkit"
import { partnerOf } from "../Partner.ts"
import { contents, read, sets } from "../x12/Samples.ts"

const them = { qualifier: "02", id: "ABCD" }
const us = { qualifier: "ZZ", id: "WAYBILL" }

const status = (pro: string, code: string, at = "20261120*0815*UT"): WrittenSet => ({
  id: "214",
  segments: [["B10", pro, "", "ABCD"], ["LX", "1"], ["AT7", code, "NS", "", "", ...at.split("*")]]
})

const file = (sets: ReadonlyArray<WrittenSet>, options: { readonly sender?: typeof them; readonly receiver?: typeof us; readonly isTest?: boolean; readonly number?: number; readonly wantsAcknowledgement?: boolean } = {}) =>
  [...writeInterchange({ sender: them, receiver: us, version: "004010", ...options }, options.number ?? 7, new Date("2026-11-20T14:15:00Z"), [{ functionalId: "QM", controlNumber: 3, sets }])].join("")

const handlersOf = (waybill: StartedTestWaybill): EdiHandlers => ({
  transitEvents: (events) => waybill.events.publish(waybill.carrier, events)
})

const receive = async (text: string, handlers: EdiHandlers, partner = partnerOf()) => {
  const results: Array<SetResult> = []
  let controlNumber = 100
  const report = await receiveFile({
    partner,
    chunks: [text],
    handlers,
    controlNumbers: async (count) => Array.from({ length: count }, () => controlNumber += 1),
    onResult: (result) => void results.push(result),
    now: () => new Date("2026-11-20T15:00:00Z")
  })
  return { results, report, outcomes: results.map(({ outcome }) => outcome), acknowledged: report.acknowledgements.flatMap(({ text }) => contents(read(text)).flat()) }
}

describe("a file of many interchanges", () => {
  it("takes as many control numbers as it needs, a hundred at once, and uses them in the order of the file", async () => {
    const counts: Array<number> = []
    let last = 100
    const { acknowledgements } = await receiveFile({
      partner: partnerOf(),
      chunks: [Array.from({ length: 250 }, (_, index) => file([status("0123456789", "AF")], { number: index + 1 })).join("")],
      handlers: { transitEvents: async (events) => events.map(() => ({ result: "accepted" })) },
      controlNumbers: async (count) => {
        counts.push(count)
        return Array.from({ length: count }, () => last += 1)
      }
    })
    expect(counts).toEqual([100, 100, 50])
    expect(acknowledgements.map(({ controlNumber }) => controlNumber)).toEqual(Array.from({ length: 250 }, (_, index) => 101 + index))
    expect(acknowledgements.every(({ controlNumber, text }) => text.includes(`*${String(controlNumber).padStart(9, "0")}*`))).toBe(true)
  })
})

describe("a file of 214", () => {
  it("stores its events, updates the status of their shipments, and is acknowledged", async () => {
    const waybill = await startTestWaybill()
    await waybill.shipments.register(waybill.carrier, [postedShipment("0123456789")])
    const { acknowledged, outcomes, report, results } = await receive(file([status("0123456789", "AF"), status("0123456789", "X4", "20261120*1300*UT")]), handlersOf(waybill))
    expect(outcomes).toEqual(["accepted", "accepted"])
    expect(report).toMatchObject({ interchanges: 1, accepted: 2, duplicates: 0, refused: 0, faults: [] })
    expect(results[1]!.records).toEqual([{ id: "edi:02-ABCD:261120:000000007:3:0002:1", segment: "AT7", position: 4, result: "accepted" }])
    expect(acknowledged).toEqual([["AK1", "QM", "3"], ["AK2", "214", "0001"], ["AK5", "A"], ["AK2", "214", "0002"], ["AK5", "A"], ["AK9", "A", "2", "2", "2"]])
    const { data } = await waybill.events.list(waybill.carrier, { shipmentId: "0123456789" })
    expect(data.map(({ type }) => type)).toEqual(["PICKED_UP", "ARRIVED_AT_TERMINAL"])
    expect((await waybill.shipments.record(waybill.carrier, "0123456789")).shipment.ShipmentMilestoneStatus).toBe("In Transit")
  })

  it("is a duplicate when it is repeated, and changes nothing", async () => {
    const waybill = await startTestWaybill()
    const text = file([status("1", "AF"), status("2", "X4")])
    await receive(text, handlersOf(waybill))
    const again = await receive(text, handlersOf(waybill))
    expect(again.outcomes).toEqual(["duplicate", "duplicate"])
    expect(again.report).toMatchObject({ accepted: 0, duplicates: 2 })
    expect(again.acknowledged).toEqual([["AK1", "QM", "3"], ["AK2", "214", "0001"], ["AK5", "A"], ["AK2", "214", "0002"], ["AK5", "A"], ["AK9", "A", "2", "2", "2"]])
    expect((await waybill.events.list(waybill.carrier)).totalCount).toBe(2)
  })

  it("refuses a set that is wrong, stores the others, and names segment and element", async () => {
    const waybill = await startTestWaybill()
    const { acknowledged, outcomes, results } = await receive(file([status("1", "AF"), status("2", "X4", "20261340*0815*UT"), status("3", "D1")]), handlersOf(waybill))
    expect(outcomes).toEqual(["accepted", "refused", "accepted"])
    expect(results[1]!.faults).toMatchObject([{ segment: "AT7", position: 4, element: 5, code: "8", value: "20261340" }])
    expect(acknowledged.slice(3, 7)).toEqual([["AK2", "214", "0002"], ["AK3", "AT7", "4", "", "8"], ["AK4", "5", "", "8", "20261340"], ["AK5", "R", "5"]])
    expect((await waybill.events.list(waybill.carrier)).totalCount).toBe(2)
  })

  it("refuses a set that intake refuses, whole, and stores the sets around it", async () => {
    const waybill = await startTestWaybill()
    const wrong: WrittenSet = { id: "214", segments: [["B10", "2", "", "ABCD"], ["LX", "1"], ["AT7", "X4", "NS", "", "", "20261120", "0815", "UT"], ["AT7", "P1", "NS", "", "", "20261120", "0915", "UT"], ["MS1", "Chicago", "IL", "USA"]] }
    const refusing: EdiHandlers = {
      transitEvents: (events) => waybill.events.publish(waybill.carrier, events.map((event) => event.location === undefined ? event : { ...event, location: { ...event.location, country: "U.S.A." } }))
    }
    const { acknowledged, outcomes, results } = await receive(file([status("1", "AF"), wrong, status("3", "D1")]), refusing)
    expect(outcomes).toEqual(["accepted", "refused", "accepted"])
    expect(results[1]!.faults).toMatchObject([{ level: "element", segment: "MS1", position: 6, element: 3, detail: expect.stringContaining("ISO 3166-1") }])
    expect(acknowledged).toContainEqual(["AK3", "MS1", "6", "", "8"])
    expect((await waybill.events.list(waybill.carrier)).totalCount).toBe(2)
  })

  it("stops at an error that is no refusal, so that the file can be read again", async () => {
    const waybill = await startTestWaybill()
    const text = file([status("1", "AF")])
    await expect(receive(text, { transitEvents: () => Promise.reject(new Error("connection refused")) })).rejects.toThrow("connection refused")
    expect((await receive(text, handlersOf(waybill))).outcomes).toEqual(["accepted"])
  })

  it("stores many sets in few calls", async () => {
    const sizes: Array<number> = []
    const handlers: EdiHandlers = { transitEvents: async (events) => (sizes.push(events.length), events.map(() => ({ result: "accepted" as const }))) }
    const { report } = await receive(file(Array.from({ length: 450 }, (_, index) => status(String(index), "X4"))), handlers)
    expect(report.accepted).toBe(450)
    expect(sizes).toEqual([200, 200, 50])
  })

  it("refuses sets that have not been agreed", async () => {
    const waybill = await startTestWaybill()
    const { acknowledged, outcomes } = await receive(file([{ id: "322", segments: [["Q5", "x"]] }]), handlersOf(waybill))
    expect(outcomes).toEqual(["refused"])
    expect(acknowledged).toEqual([["AK1", "QM", "3"], ["AK2", "322", "0001"], ["AK5", "R", "1"], ["AK9", "R", "1", "1", "0"]])
  })
})

describe("an interchange", () => {
  const ta1 = (text: string) => /TA1\*[^~]*/u.exec(text)?.[0]

  it.each([
    ["of another sender", { sender: { qualifier: "02", id: "XXXX" } }, "006"],
    ["for another receiver", { receiver: { qualifier: "ZZ", id: "OTHER" } }, "008"],
    ["that is a test", { isTest: true }, "020"]
  ])("%s is refused as a whole", async (_, options, code) => {
    const waybill = await startTestWaybill()
    const { outcomes, report } = await receive(file([status("1", "AF")], options), handlersOf(waybill))
    expect(outcomes).toEqual(["refused"])
    expect(ta1(report.acknowledgements[0]!.text)).toBe(`TA1*000000007*261120*1415*R*${code}`)
    expect((await waybill.events.list(waybill.carrier)).totalCount).toBe(0)
  })

  it.each(["I", "t", " "])("whose ISA-15 is %j is no production data, and is refused", async (indicator) => {
    const { outcomes, report } = await receive(file([status("1", "AF")]).replace("*0*P*>", `*0*${indicator}*>`), { transitEvents: () => Promise.reject(new Error("stored")) })
    expect([outcomes, ta1(report.acknowledgements[0]!.text)]).toEqual([["refused"], "TA1*000000007*261120*1415*R*020"])
  })

  it("gets a TA1 when it asks for one", async () => {
    const waybill = await startTestWaybill()
    const { report } = await receive(file([status("1", "AF")], { wantsAcknowledgement: true }), handlersOf(waybill))
    expect(ta1(report.acknowledgements[0]!.text)).toBe("TA1*000000007*261120*1415*A*000")
  })

  it("is acknowledged with 999 where that was agreed, and not at all where that was", async () => {
    const waybill = await startTestWaybill()
    const acknowledged = (acknowledge: "999" | "none") => receive(file([status("1", "AF")]), handlersOf(waybill), partnerOf({ acknowledge }))
    const [{ text } = { text: "" }] = (await acknowledged("999")).report.acknowledgements
    expect(sets(read(text)).map(({ set }) => [set.id, set.group.version])).toEqual([["999", "005010"]])
    expect((await acknowledged("none")).report.acknowledgements).toEqual([])
  })

  it("with acknowledgements of the partner is reported, and not acknowledged", async () => {
    const waybill = await startTestWaybill()
    const text = [...writeInterchange({ sender: them, receiver: us, version: "004010" }, 8, new Date(0), [{ functionalId: "FA", controlNumber: 1, sets: [
      { id: "997", segments: [["AK1", "QM", "101"], ["AK2", "214", "0001"], ["AK5", "A"], ["AK2", "214", "0002"], ["AK5", "R", "5"], ["AK9", "P", "2", "2", "1"]] }
    ] }])].join("")
    const { report } = await receive(text, handlersOf(waybill))
    expect(report).toMatchObject({ acknowledged: [{ functionalId: "QM", group: "101", verdict: "P", refused: ["0002"] }], acknowledgements: [] })
  })
})

describe("a group of acknowledgements", () => {
  const acknowledgement: WrittenSet = { id: "997", segments: [["AK1", "QM", "101"], ["AK2", "214", "0002"], ["AK3", "AT7", "4", "", "8"], ["AK4", ["1", "2"], "", "7"], ["AK5", "R", "5"], ["AK9", "R", "1", "1", "0"]] }
  const group = (sets: ReadonlyArray<WrittenSet>, delimiters?: Delimiters) =>
    [...writeInterchange({ sender: them, receiver: us, version: "004010", delimiters }, 8, new Date(0), [{ functionalId: "FA", controlNumber: 1, sets }])].join("")

  it("is acknowledged for the other sets that are in it, which are stored", async () => {
    const { acknowledged, report } = await receive(group([acknowledgement, status("1", "D1")]), handlersOf(await startTestWaybill()))
    expect(report).toMatchObject({ accepted: 1, acknowledged: [{ verdict: "R" }] })
    expect(acknowledged).toEqual([["AK1", "FA", "1"], ["AK2", "214", "0002"], ["AK5", "A"], ["AK9", "A", "2", "1", "1"]])
  })

  it("is read where a control character divides components", async () => {
    const { report } = await receive(group([acknowledgement], { element: "*", component: "\u001f", segment: "~" }), {})
    expect(report).toMatchObject({ faults: [], acknowledged: [{ verdict: "R", refused: ["0002"] }] })
  })

  it("is not believed where its count is wrong, and has the fault", async () => {
    const { report } = await receive(group([acknowledgement]).replace("SE*8", "SE*9"), {})
    expect(report).toMatchObject({ faults: [{ segment: "SE" }], acknowledged: [], acknowledgements: [] })
  })
})

describe("a TA1 of the partner", () => {
  const verdicts = (...controls: ReadonlyArray<WrittenSegment>) => [...writeInterchange({ sender: them, receiver: us, version: "004010", controls }, 8, new Date(0), [])].join("")
  const none: EdiHandlers = {}

  it("is reported, with its code", async () => {
    const { report } = await receive(verdicts(["TA1", "000000101", "261120", "1415", "R", "006"], ["TA1", "000000102", "261120", "1415", "A", "000"]), none)
    expect(report).toMatchObject({ acknowledged: [{ interchange: "000000101", verdict: "R", code: "006" }, { interchange: "000000102", verdict: "A", code: "000" }], acknowledgements: [], faults: [] })
    expect(report.acknowledged.map(isRefusal)).toEqual([true, false])
  })

  it("is not believed from somebody else", async () => {
    const { report } = await receive(verdicts(["TA1", "000000101", "261120", "1415", "R", "006"]).replace("*02*ABCD ", "*02*EVIL "), none)
    expect(report.acknowledged).toEqual([])
  })

  it("is one of a thousand at most in a report", async () => {
    const { report } = await receive(verdicts(...Array.from({ length: 1_200 }, (): WrittenSegment => ["TA1", "000000101", "261120", "1415", "A", "000"])).repeat(2), none)
    expect(report.acknowledged).toHaveLength(1_000)
  })
})

describe("writing a file of 214", () => {
  it("writes the events that the service lists, and lists what is not in it", async () => {
    const waybill = await startTestWaybill()
    await receive(file([status("1", "AF"), status("1", "X4", "20261120*1300*UT")]), handlersOf(waybill))
    const { data } = await waybill.events.list(waybill.carrier)
    const { notWritten, sets: count, text } = writeTransitEvents(data, { partner: partnerOf({ partner: "shipper" }), controlNumber: 42, at: new Date("2026-11-20T16:00:00Z") })
    expect([count, notWritten]).toEqual([2, []])
    expect(contents(read(text)).map((segments) => segments.find(([id]) => id === "AT7"))).toEqual([["AT7", "AF", "NS", "", "", "20261120", "0815", "UT"], ["AT7", "X4", "NS", "", "", "20261120", "1300", "UT"]])
  })

  it("lists values with characters that the partner's encoding does not have", () => {
    const event = { type: "DELIVERED" as const, occurredAt: "2026-11-20T14:00:00Z", shipment: { shipmentId: "1", scac: "ABCD", references: [{ type: "PRO", value: "1" }], origin: { name: "Café 東京" }, destination: {} }, notes: "à 5 €" }
    const write = (more: object, encoding: "utf-8" | "windows-1252" = "windows-1252") => writeTransitEvents([{ ...event, ...more }], { partner: partnerOf({ encoding }), controlNumber: 1, at: new Date(0) })
    expect(write({}, "utf-8").notWritten).toEqual([])
    const { notWritten, text } = write({})
    expect(notWritten).toMatchObject([{ refused: false, members: [{ member: "shipment.origin.name", reason: expect.stringContaining("encoding") }] }])
    expect(contents(read(encodeText(text, "windows-1252"), { encoding: "windows-1252" }))[0]!.slice(1, 3)).toEqual([["K1", "à 5 €"], ["N1", "SH", "Café ??"]])
    const number = write({ shipment: { ...event.shipment, references: [{ type: "PRO", value: "東" }], origin: {} } })
    expect(number.notWritten).toMatchObject([{ refused: true, members: [{ member: "shipment.shipmentId" }] }])
    const other = write({ shipment: { ...event.shipment, references: [{ type: "PRO", value: "1" }, { type: "BOL", value: "東" }], origin: {} } })
    expect(other.notWritten[0]!.members).toContainEqual({ member: "shipment.references.1.value", reason: expect.stringContaining("encoding") })
    // its codec writes it as it is
    expect(write({ attributes: { trailerNumber: "東" } }).notWritten).toMatchObject([{ refused: true, members: [{ member: "MS2" }] }])
  })

  it("writes a space for a delimiter in free text, also for the repetition separator that the interchange declares, and leaves out a number with one", () => {
    const event = { type: "DELIVERED" as const, occurredAt: "2026-11-20T14:00:00Z", shipment: { shipmentId: "1", scac: "ABCD", origin: {}, destination: {} }, notes: "a^b" }
    const write = (version: "004010" | "005010") => writeTransitEvents([event], { partner: partnerOf({ version, delimiters: { element: "|", component: ":", segment: "~" } }), controlNumber: 1, at: new Date(0) })
    expect(write("005010").text).toContain("~K1|a b~")
    expect(write("005010").notWritten).toMatchObject([{ refused: false, members: [{ member: "notes", reason: "it has a delimiter of the partner profile" }] }])
    expect(write("004010").text).toContain("~K1|a^b~")
    const numbered = { ...event, shipment: { ...event.shipment, references: [{ type: "PRO", value: "1" }, { type: "BOL", value: "B*1" }] } }
    const { notWritten, text } = writeTransitEvents([{ ...numbered, notes: "*left* at door" }], { partner: partnerOf(), controlNumber: 1, at: new Date(0) })
    expect([text.includes("~K1*left  at door~"), text.includes("BM")]).toEqual([true, false])
    expect(notWritten[0]!.members.map(({ member }) => member)).toEqual(expect.arrayContaining(["notes", "shipment.references.1.value"]))
    const released = partnerOf({ version: "008010", delimiters: { element: "*", component: ">", segment: "~", release: "?" } })
    expect(contents(read(writeTransitEvents([{ ...numbered, notes: "*left* at door" }], { partner: released, controlNumber: 1, at: new Date(0) }).text))[0]).toContainEqual(["K1", "*left* at door"])
  })

  it("refuses an event without a code, and a trailer with a delimiter, alone", () => {
    const event = { type: "DELIVERED" as const, occurredAt: "2026-11-20T14:00:00Z", shipment: { shipmentId: "1", scac: "ABCD", origin: {}, destination: {} } }
    const { notWritten, sets: count } = writeTransitEvents(
      [{ ...event, type: "IN_TRANSIT" }, event, { ...event, attributes: { trailerNumber: "A*B" } }],
      { partner: partnerOf(), controlNumber: 1, at: new Date(0) }
    )
    expect(count).toBe(1)
    expect(notWritten).toMatchObject([{ index: 0, refused: true, members: [{ member: "type" }] }, { index: 2, refused: true, members: [{ member: "MS2" }] }])
  })
})
