import { forRandom, type SeededRandom } from "@waybill/conformance/fixtures"
import { describe, expect, it } from "vitest"
import { eventTypes, ReportedEvent } from "@waybill/core/transit-events"
import { encodeText, type EdiEvent, eventsOf214, ladingExceptions, placeOf, type PartnerProfile, statusCodes, statusesOf, write214, type WrittenSegment } from "@waybill/edi"
import { Schema } from "effect"
import { partnerOf, setOf } from "../Partner.ts"
import { read, sets, written } from "../x12/Samples.ts"

const header = ["B10*0123456789*SHIP-77*ABCD"]

const readStatus = (status: ReadonlyArray<string>, more: Partial<PartnerProfile> = {}, options?: { readonly version?: string }) =>
  eventsOf214(setOf([...header, "LX*1", ...status], "214", options), partnerOf(more))

const eventOf = (status: ReadonlyArray<string>, more?: Partial<PartnerProfile>, options?: { readonly version?: string }): EdiEvent => {
  const { events, faults } = readStatus(status, more, options)
  expect(faults).toEqual([])
  expect(events).toHaveLength(1)
  return events[0]!.event
}

const faultsOf = (segments: ReadonlyArray<string>, more?: Partial<PartnerProfile>) => eventsOf214(setOf(segments), partnerOf(more)).faults.map((fault) => `${placeOf(fault)} ${fault.code}`)

describe("reading 214", () => {
  const full = setOf([
    ...header, "L11*4500012345*PO", "L11*BOL-9*BM*master", "N1*SH*Acme Widgets*93*DOCK4", "N3*1 Main St", "N4*Springfield*IL*62701*US", "G62*10*20261119",
    "N1*CN*Joe's", "N4*Nashville*TN*37201", "N1*BT*Payer", "N3*2 Some St", "MS3*ABCD*B**LT",
    "LX*1", "AT7*X4*NS***20261120*0815*LT", "MS1*Springfield*IL*US", "MS2*ABCD*5312", "AT7*SD*AI***20261120*0930*ET", "MS1*Nashville*TN*US", "AT8*G*L*1250.50*4", "Q7*D*PLT*1"
  ])
  const result = eventsOf214(full, partnerOf())

  it("makes one event of each AT7, with what stands around it", () => {
    expect(result.faults).toEqual([])
    expect(result.events.map(({ event, position, segment }) => [event.type, event.occurredAt, segment, position])).toEqual([
      ["ARRIVED_AT_TERMINAL", "2026-11-20T08:15:00-06:00", "AT7", 15],
      ["DELAY", "2026-11-20T09:30:00-05:00", "AT7", 18]
    ])
    expect(result.events[1]!.event).toEqual({
      eventId: "edi:02-ABCD:261120:000000007:7:0001:2",
      type: "DELAY",
      status: "Delayed",
      occurredAt: "2026-11-20T09:30:00-05:00",
      location: { city: "Nashville", state: "TN", country: "USA" },
      attributes: { edi: { statusCode: "SD", reasonCode: "AI", timeCode: "ET", exceptions: [{ code: "D", packaging: "PLT", quantity: "1" }] }, delayReasonCode: "310-2", weight: "1250.50", weightUnit: "Pounds", handlingUnits: "4", exception: "damaged" },
      shipment: {
        shipmentId: "0123456789",
        mode: "LTL",
        scac: "ABCD",
        references: [{ type: "PRO", value: "0123456789" }, { type: "SID", value: "SHIP-77" }, { type: "PO", value: "4500012345" }, { type: "BOL", value: "BOL-9" }],
        origin: { name: "Acme Widgets", locationId: "DOCK4", address1: "1 Main St", city: "Springfield", state: "IL", postalCode: "62701", country: "USA" },
        destination: { name: "Joe's", city: "Nashville", state: "TN", postalCode: "37201" }
      }
    })
  })

  it("reads remarks as notes and seals as references, of the set and of each status", () => {
    const status = ["AT7*X4*NS***20261120*0815*UT", "K1*Gate 2*after ten", "M7*S-1*S-2**S-3", "AT7*X6*NS***20261120*0915*UT", "K1*Call ahead"]
    const { events, kept } = eventsOf214(setOf([...header, "K1*Fragile", "LX*1", ...status]), partnerOf())
    expect(kept).toEqual([])
    expect(events.map(({ event }) => event.notes)).toEqual(["Fragile\nGate 2\nafter ten", "Fragile\nCall ahead"])
    expect(events[0]!.event.shipment.references).toContainEqual({ type: "SEAL", value: "S-3" })
    expect(events[1]!.event.shipment.references).not.toContainEqual({ type: "SEAL", value: "S-3" })
  })

  it("takes an exception of the freight for that of the event, unless its status names one", () => {
    expect(eventOf(["AT7*D1*NS***20261120*0815*UT", "Q7*O", "Q7*S*CTN*2"]).attributes).toMatchObject({ exception: "short", edi: { exceptions: [{ code: "O" }, { code: "S", packaging: "CTN", quantity: "2" }] } })
    expect(eventOf(["AT7*A9*NS***20261120*0815*UT", "Q7*S"]).attributes).toMatchObject({ exception: "damaged" })
  })

  it("reads thousands of references in one go, and refuses thousands of statuses among them", () => {
    const references = (count: number) => Array.from({ length: count }, (_, index) => `L11*${index}*PO`)
    const status = "AT7*X4*NS***20261120*0815*UT"
    const { events } = eventsOf214(setOf([...header, ...references(20_000), "LX*1", status]), partnerOf())
    expect(events[0]!.event.shipment.references).toHaveLength(20_002)
    const many = eventsOf214(setOf([...header, ...references(2_000), "LX*1", ...Array.from({ length: 1_000 }, () => status)]), partnerOf())
    expect(many.faults).toMatchObject([{ level: "set", detail: expect.stringContaining("The set has 1000 records with 3004 segments.") }])
    const tooMany = eventsOf214(setOf([...header, "LX*1", ...Array.from({ length: 1_001 }, () => status)]), partnerOf())
    expect(tooMany).toMatchObject({ events: [], faults: [{ level: "set", detail: "The set has 1001 records, and at most 1000 are stored together. Divide it." }] })
  })

  it("keeps weights in tons, and refuses one that is no number", () => {
    const eventsWith = (measures: string) => eventsOf214(setOf([...header, "LX*1", "AT7*X4*NS***20261120*0815*UT", measures]), partnerOf())
    const inTons = eventsWith("AT8*G*E*1.5*4")
    expect(inTons.events[0]!.event.attributes).toMatchObject({ handlingUnits: "4" })
    expect(inTons.events[0]!.event.attributes).not.toHaveProperty("weight")
    expect(inTons.kept.filter(({ segment }) => segment === "AT8").map(({ element, value }) => `${element} ${value}`)).toEqual(["2 E", "3 1.5"])
    expect(eventsWith("AT8*G*K*1.5").events[0]!.event.attributes).toMatchObject({ weight: "1.5", weightUnit: "Kilograms" })
    expect(eventsWith("AT8*G*L*many").faults).toMatchObject([{ segment: "AT8", element: 3 }])
  })

  it("makes events that intake accepts", () => {
    for (const { event } of result.events) expect(Schema.is(ReportedEvent)(event)).toBe(true)
  })

  it("lists every element without a place, and nothing else", () => {
    expect(result.kept.map(({ element, position, segment, value }) => `${segment}-${element} at ${position}: ${value}`)).toEqual([
      "L11-3 at 4: master", "G62-1 at 8: 10", "G62-2 at 8: 20261119", "N1-1 at 11: BT", "N1-2 at 11: Payer", "N3-1 at 12: 2 Some St"
    ])
  })

  it("names the segment and element of each member", () => {
    expect(result.events[1]!.sources.get("occurredAt")).toEqual({ segment: "AT7", position: 18, element: 5 })
    expect(result.events[1]!.sources.get("location.city")).toEqual({ segment: "MS1", position: 19, element: 1 })
    expect(result.events[1]!.sources.get("shipment.scac")).toEqual({ segment: "B10", position: 2, element: 3 })
  })

  it("gives the same ids to the events of a repeated file", () => {
    expect(eventsOf214(full, partnerOf()).events.map(({ event }) => event.eventId)).toEqual(result.events.map(({ event }) => event.eventId))
  })
})

describe("status codes", () => {
  it.each([
    ["X3", "OTHER"], ["AF", "PICKED_UP"], ["X6", "OUT_FOR_DELIVERY"], ["X1", "OTHER"], ["X2", "OTHER"], ["X4", "ARRIVED_AT_TERMINAL"], ["P1", "DEPARTED_TERMINAL"],
    ["CD", "OTHER"], ["D1", "DELIVERED"], ["AG", "OTHER"], ["AM", "OTHER"], ["A9", "EXCEPTION"], ["A7", "DELIVERY_ATTEMPTED"], ["SD", "DELAY"], ["J1", "IN_TRANSIT"], ["OA", "GATE_OUT"], ["I1", "GATE_IN"], ["E1", "OTHER"], ["AP", "DELIVERY_ATTEMPTED"]
  ])("reads %s as %s", (code, type) => {
    const event = eventOf([`AT7*${code}*BG***20261120*0815*UT`])
    expect(event.type).toBe(type)
    expect(event.attributes).toMatchObject({ edi: { statusCode: code } })
  })

  it("does not take a delivery to a partner carrier for a delivery", () => {
    expect(eventOf(["AT7*J1*NS***20261120*0815*UT"])).toMatchObject({ type: "IN_TRANSIT", attributes: { custody: "partner" } })
  })

  it("reads an unknown code as OTHER, with a warning", () => {
    const { events, warnings } = readStatus(["AT7*ZZ*NS***20261120*0815*UT"])
    expect(events[0]!.event).toMatchObject({ type: "OTHER", status: "Status code ZZ", attributes: { edi: { statusCode: "ZZ" } } })
    expect(warnings).toMatchObject([{ segment: "AT7", element: 1, position: 4 }])
  })

  it("reads what the partner profile says of a code", () => {
    expect(eventOf(["AT7*X6*NS***20261120*0815*UT"], { codes: { statusIn: { X6: "IN_TRANSIT" } } })).toMatchObject({ type: "IN_TRANSIT", status: "Status code X6" })
    expect(eventOf(["AT7*D*NS***20261120*0815*UT"], { codes: { statusIn: { D: "DELIVERED" } } }).type).toBe("DELIVERED")
  })

  it.each([
    ["A2", "310-9"], ["A5", "310-9"], ["AD", "310-3"], ["AF", "310-8"], ["AI", "310-2"], ["AN", "330-2"], ["AO", "390-1"], ["AU", "390-2"], ["AV", "310-1"], ["B1", "330-1"], ["B4", "310-10"],
    ["BH", "310-6"], ["ZZ", undefined]
  ])("reads the reason %s of a delay as %s", (reason, code) => {
    const attributes = eventOf([`AT7*SD*${reason}***20261120*0815*UT`]).attributes as Readonly<Record<string, unknown>>
    expect([attributes["delayReasonCode"], attributes["edi"]]).toEqual([code, expect.objectContaining({ reasonCode: reason })])
  })

  it("takes the time of an estimate's code for that of the event, if the partner means something else by it", () => {
    const partner = { codes: { statusIn: { X2: "ARRIVED_AT_TERMINAL" as const } } }
    const event = eventOf(["AT7*X2*NS***20261120*0815*UT"], partner)
    expect(event).toMatchObject({ type: "ARRIVED_AT_TERMINAL", occurredAt: "2026-11-20T08:15:00Z" })
    expect(event.attributes).not.toHaveProperty("updatedEta")
    expect(segmentsOf(event, partnerOf(partner)).set.segments).toContainEqual(["AT7", "X2", "NS", "", "", "20261120", "0815", "UT"])
  })

  it("warns of a delay without a reason", () => {
    expect(readStatus(["AT7*SD*NS***20261120*0815*UT"]).warnings).toMatchObject([{ element: 2, detail: expect.stringContaining("needs a reason") }])
  })

  it("reads appointments from AT7-03, not from AT7-01", () => {
    expect(eventOf(["AT7***AB*NA*20261123*1000*CT"])).toMatchObject({
      type: "OTHER", status: "Delivery appointment", occurredAt: "2026-11-20T14:15:00Z",
      attributes: { appointmentStatus: "appointment scheduled", appointmentDate: "2026-11-23T10:00:00-06:00", edi: { appointmentCode: "AB" } }
    })
    expect(eventOf(["AT7***XA*NA*20261123*1000*CT"]).type).toBe("PICKUP_SCHEDULED")
    expect(faultsOf([...header, "LX*1", "AT7*D1*NS*AB*NA*20261123*1000*CT"])).toEqual(["AT7-03 at segment 4 10"])
  })

  it("takes the time of an estimate for the estimate, and the time of the group for the report", () => {
    for (const code of ["AG", "X2"]) {
      expect(eventOf([`AT7*${code}*NS***20261123*1700*CT`])).toMatchObject({ occurredAt: "2026-11-20T14:15:00Z", attributes: { updatedEta: "2026-11-23T17:00:00-06:00" } })
    }
    expect(eventOf(["AT7*AG*NS***20261123"])).toMatchObject({ attributes: { updatedEta: "2026-11-23" } })
    expect(eventOf(["AT7*B6*NS***20261123*1700*CT"]).attributes).toMatchObject({ edi: { estimatedAt: "2026-11-23T17:00:00-06:00" } })
  })
})

describe("times", () => {
  it.each([
    ["UT", "Z"], ["GM", "Z"], ["ES", "-05:00"], ["ED", "-04:00"], ["CS", "-06:00"], ["PD", "-07:00"], ["ND", "-02:30"], ["01", "+01:00"], ["12", "+12:00"], ["13", "-12:00"], ["19", "-06:00"], ["24", "-01:00"]
  ])("reads the code %s as %s on every day", (code, offset) => {
    for (const date of ["20260115", "20260715"]) expect(eventOf([`AT7*D1*NS***${date}*0815*${code}`]).occurredAt).toMatch(new RegExp(`T08:15:00${offset.replace("+", "\\+")}$`, "u"))
  })

  it.each([["ET", "-05:00", "-04:00"], ["CT", "-06:00", "-05:00"], ["MT", "-07:00", "-06:00"], ["PT", "-08:00", "-07:00"], ["AT", "-09:00", "-08:00"], ["HT", "-10:00", "-10:00"], ["NT", "-03:30", "-02:30"]])(
    "reads the code %s by the date",
    (code, winter, summer) => {
      expect(eventOf([`AT7*D1*NS***20260115*0815*${code}`]).occurredAt).toBe(`2026-01-15T08:15:00${winter}`)
      expect(eventOf([`AT7*D1*NS***20260715*0815*${code}`]).occurredAt).toBe(`2026-07-15T08:15:00${summer}`)
    }
  )

  it("reads a local time in the zone of its state, with LT and without a code", () => {
    expect(eventOf(["AT7*D1*NS***20260115*0815*LT", "MS1*Springfield*IL"]).occurredAt).toBe("2026-01-15T08:15:00-06:00")
    expect(eventOf(["AT7*D1*NS***20260115*0815", "MS1*Springfield*IL"]).occurredAt).toBe("2026-01-15T08:15:00-06:00")
  })

  it("refuses a local time whose zone nobody knows, and takes it from the profile", () => {
    const segments = [...header, "LX*1", "AT7*D1*NS***20260115*0815*LT", "MS1*Nashville*TN"]
    expect(faultsOf(segments)).toEqual(["AT7-06 at segment 4 7"])
    expect(faultsOf([...header, "LX*1", "AT7*D1*NS***20260715*0815*LT", "MS1*Cuernavaca*MO*MX"])).toEqual(["AT7-06 at segment 4 7"])
    expect(eventOf(["AT7*D1*NS***20260715*0815*LT", "MS1*Cuernavaca*MO*MX"], { times: { states: { MO: "America/Mexico_City" } } }).occurredAt).toBe("2026-07-15T08:15:00-06:00")
    expect(eventOf(["AT7*D1*NS***20260715*0815*LT", "MS1*Saint Louis*MO*USA"]).occurredAt).toBe("2026-07-15T08:15:00-05:00")
    expect(eventOf(segments.slice(2), { times: { zone: "America/New_York" } }).occurredAt).toBe("2026-01-15T08:15:00-05:00")
    expect(eventOf(segments.slice(2), { times: { zone: "America/New_York", states: { TN: "America/Chicago" } } }).occurredAt).toBe("2026-01-15T08:15:00-06:00")
  })

  it("takes the earlier of two equal times when the clock is set back, and warns", () => {
    const { events, warnings } = readStatus(["AT7*D1*NS***20261101*0130*ET"])
    expect(events[0]!.event.occurredAt).toBe("2026-11-01T01:30:00-04:00")
    expect(warnings).toMatchObject([{ element: 6, detail: expect.stringContaining("01:30 twice") }])
    expect(readStatus(["AT7*D1*NS***20261101**ET"], { times: { ofDates: "01:15" } }).warnings).toMatchObject([{ detail: expect.stringContaining("01:15 twice") }])
    expect(eventOf(["AT7*D1*NS***20261101*0230*ET"]).occurredAt).toBe("2026-11-01T02:30:00-05:00")
  })

  it("refuses a status without a time, unless the profile has one", () => {
    expect(faultsOf([...header, "LX*1", "AT7*D1*NS***20260115"])).toEqual(["AT7-06 at segment 4 1"])
    expect(eventOf(["AT7*D1*NS***20260115", "MS1*Springfield*IL"], { times: { ofDates: "12:00" } }).occurredAt).toBe("2026-01-15T12:00:00-06:00")
  })

  it.each([["20261301*0815", "05 at segment 4 8"], ["20261120*2515", "06 at segment 4 9"], ["20261120*08155", "06 at segment 4 9"], ["20261120*081575", "06 at segment 4 9"], ["261120*0815", "05 at segment 4 8"]])("names the element of %s", (time, place) => {
    expect(faultsOf([...header, "LX*1", `AT7*D1*NS***${time}*UT`])).toEqual([`AT7-${place}`])
  })
})

describe("a set that says too little", () => {
  it("names what is missing", () => {
    expect(faultsOf(["B10*1*2", "LX*1", "AT7*D1*NS***20261120*0815*UT"])).toEqual(["B10-03 at segment 2 1"])
    expect(faultsOf(["B10***ABCD", "LX*1", "AT7*D1*NS***20261120*0815*UT"])).toEqual(["B10-01 at segment 2 1"])
    expect(faultsOf(["L11*1*PO", "LX*1", "AT7*D1*NS***20261120*0815*UT"])[0]).toBe("B10 at segment 3 3")
    expect(faultsOf([...header, "LX*1"])).toEqual(["AT7 at segment 4 3"])
    expect(faultsOf([...header, "LX*1", "AT7*D1"])).toEqual(["AT7-05 at segment 4 1"])
  })

  it("refuses a set without the references that the profile requires", () => {
    const segments = [...header, "LX*1", "AT7*D1*NS***20261120*0815*UT"]
    expect(faultsOf(segments, { requiredReferences: ["BOL"] })).toEqual(["L11 at segment 3 3"])
    expect(faultsOf([...header, "L11*9*BM", ...segments.slice(1)], { requiredReferences: ["BOL"] })).toEqual([])
  })

  it("takes the id of the shipment from the reference that the profile names", () => {
    const set = setOf([...header, "L11*BOL-9*BM", "LX*1", "AT7*D1*NS***20261120*0815*UT"])
    expect(eventsOf214(set, partnerOf({ shipmentId: ["BOL", "PRO"] })).events[0]!.event.shipment.shipmentId).toBe("BOL-9")
  })
})

it("refuses a set with a status that lacks a reference which only another one has", () => {
  const set = ["B10***ABCD", "LX*1", "AT7*X4*NS***20261120*0815*UT", "L11*1*LO", "LX*2", "AT7*D1*NS***20261120*0915*UT"]
  expect(faultsOf(set, { shipmentId: ["LOAD"], requiredReferences: ["LOAD"] })).toEqual(["B10-01 at segment 2 1", "L11 at segment 3 3"])
})

it("reads the postal code of MS1 from 005010 on", () => {
  expect(eventOf(["AT7*D1*NS***20261120*0815*UT", "MS1*Springfield*IL*US*****62701"], {}, { version: "005010" }).location).toMatchObject({ postalCode: "62701" })
})

const events = (set: ReadonlyArray<WrittenSegment>, partner: PartnerProfile, version: string) => {
  const text = written([{ functionalId: "QM", controlNumber: 1, sets: [{ id: "214", segments: set }] }], { version })
  const [first] = sets(read(text))
  expect(first!.faults).toEqual([])
  return eventsOf214(first!.set, partner)
}

const segmentsOf = (event: EdiEvent, partner: PartnerProfile, version?: string) => {
  const result = write214(event, partner, version)
  if ("refused" in result) throw new Error(JSON.stringify(result.refused))
  return result
}

describe("writing 214", () => {
  const delivered: EdiEvent = {
    type: "DELIVERED",
    occurredAt: "2026-11-20T14:05:30.250-06:00",
    location: { city: "Nashville", state: "TN", country: "USA", postalCode: "37201", name: "Joe's" },
    shipment: { shipmentId: "s1", scac: "ABCD", references: [{ type: "PRO", value: "0123456789" }, { type: "weird type", value: "1" }], origin: {}, destination: { city: "Nashville" } }
  }

  it("writes the code of the event's type, and lists what has no element", () => {
    const { lost, set } = segmentsOf(delivered, partnerOf())
    expect(set.segments).toEqual([
      ["B10", "0123456789", "", "ABCD"], ["N1", "CN"], ["N4", "Nashville"], ["LX", "1"], ["AT7", "D1", "NS", "", "", "20261120", "20053025", "UT"], ["MS1", "Nashville", "TN", "US"]
    ])
    expect(lost.map(({ member }) => member).sort()).toEqual(["location.name", "location.postalCode", "shipment.references.1.type", "shipment.references.1.value"])
  })

  it("writes no element without those that the standard wants beside it, and lists it", () => {
    const written = (more: Partial<EdiEvent>) => {
      const { lost, set } = segmentsOf({ ...delivered, location: { city: "Nashville", state: "TN" }, ...more }, partnerOf())
      return [set.segments.filter(([id]) => id === "MS1" || id === "AT8"), lost.map(({ member }) => member).filter((each) => !each.startsWith("shipment"))]
    }
    const place = ["MS1", "Nashville", "TN"]
    expect(written({ location: { state: "TN", country: "USA" } })).toEqual([[], ["location.state", "location.country"]])
    expect(written({ location: { city: "Nashville" } })).toEqual([[], ["location.city"]])
    expect(written({ attributes: { handlingUnits: "5" } })).toEqual([[place], ["attributes.handlingUnits"]])
    expect(written({ attributes: { handlingUnits: "5", weight: "10" } })).toEqual([[place], ["attributes.handlingUnits", "attributes.weight"]])
    expect(written({ attributes: { handlingUnits: "5", weight: "10", weightUnit: "Pounds" } })).toEqual([[place, ["AT8", "G", "L", "10", "5"]], []])
  })

  it("cuts no character in two, which a partner would refuse", () => {
    const { lost, set } = segmentsOf({ ...delivered, location: { city: `${"N".repeat(29)}🚚`, state: "TN" } }, partnerOf())
    const file = encodeText(written([{ functionalId: "QM", controlNumber: 3, sets: [set] }]))
    expect(sets(read(file)).map(({ faults }) => faults)).toEqual([[]])
    expect(set.segments).toContainEqual(["MS1", "N".repeat(29), "TN"])
    expect(lost.map(({ member }) => member)).toContain("location.city")
  })

  it("writes what newer versions have", () => {
    const { set } = segmentsOf(delivered, partnerOf(), "005010")
    expect(set.segments.at(-1)).toEqual(["MS1", "Nashville", "TN", "US", "", "", "", "", "37201"])
    expect(set.segments.find(([id]) => id === "AT7")).toEqual(["AT7", "D1", "", "", "", "20261120", "20053025", "UT"])
  })

  it("writes times as the partner wants them", () => {
    const timeOf = (times: PartnerProfile["times"]) => segmentsOf({ ...delivered, occurredAt: "2026-11-20T14:05:00-06:00" }, partnerOf(times === undefined ? {} : { times })).set.segments.find(([id]) => id === "AT7")!.slice(6)
    expect(timeOf(undefined)).toEqual(["2005", "UT"])
    expect(timeOf({ write: "offset" })).toEqual(["1405", "19"])
    expect(timeOf({ write: "local", zone: "America/New_York" })).toEqual(["1505", "LT"])
  })

  it("names the shipment of an event that has no reference for it, and refuses one that it cannot name", () => {
    const named = (shipmentId: string, partner = partnerOf(), references: ReadonlyArray<{ type: string; value: string }> = []) => write214({ ...delivered, shipment: { ...delivered.shipment, shipmentId, references } }, partner)
    const idIn = (result: ReturnType<typeof named>, partner = partnerOf()) => eventsOf214(setOf("set" in result ? result.set.segments.map((segment) => segment.join("*")) : []), partner).events[0]?.event.shipment.shipmentId
    expect(named("SHP-1")).toMatchObject({ set: { segments: expect.arrayContaining([["B10", "SHP-1", "", "ABCD"]]) } })
    expect(named("SHP-1", partnerOf(), [{ type: "SID", value: "S-1" }])).toMatchObject({ set: { segments: expect.arrayContaining([["B10", "", "S-1", "ABCD"]]) } })
    const byLoad = partnerOf({ shipmentId: ["LOAD"] })
    expect([idIn(named("SHP-1")), idIn(named("SHP-1", byLoad), byLoad)]).toEqual(["SHP-1", "SHP-1"])
    expect(named("S".repeat(31))).toEqual({ refused: [{ member: "shipment.shipmentId", reason: "no reference of type PRO or SID can carry it" }] })
    expect(named("SHP-1", partnerOf({ shipmentId: ["weird type"] }))).toHaveProperty("refused")
  })

  it("refuses an event that has no code, and writes the one of the profile", () => {
    const scanned: EdiEvent = { ...delivered, type: "IN_TRANSIT" }
    expect(write214(scanned, partnerOf())).toEqual({ refused: [{ member: "type", reason: "AT7-01 (status or appointment) needs it" }] })
    expect(segmentsOf(scanned, partnerOf({ codes: { statusOut: { IN_TRANSIT: "X6" } } })).set.segments).toContainEqual(["AT7", "X6", "NS", "", "", "20261120", "20053025", "UT"])
  })

  it("writes an estimate and an appointment beside what happened", () => {
    const delayed: EdiEvent = { ...delivered, type: "DELAY", attributes: { delayReasonCode: "310-2", updatedEta: "2026-11-22", appointmentDate: "2026-11-23T10:00:00-06:00", appointmentStatus: "appointment scheduled" } }
    const statuses = statusesOf(delayed).map((event) => segmentsOf(event, partnerOf()).set.segments.find(([id]) => id === "AT7"))
    expect(statuses).toEqual([
      ["AT7", "SD", "AI", "", "", "20261120", "20053025", "UT"],
      ["AT7", "AG", "NS", "", "", "20261122", "", ""],
      ["AT7", "", "", "AB", "NA", "20261123", "1600", "UT"]
    ])
  })
})

describe("laws of 214", () => {
  const word = (random: SeededRandom, most: number) => random.text([..."ABCDEFGHKLMNPRSTUVWXYZ0123456789"], 1, most)
  const maybe = <A>(random: SeededRandom, value: A): A | undefined => random.share(0.6) ? value : undefined
  const defined = <A extends object>(data: A): { [K in keyof A]?: Exclude<A[K], undefined> } =>
    Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined && !(typeof value === "object" && !Array.isArray(value) && Object.keys(value as object).length === 0))) as { [K in keyof A]?: Exclude<A[K], undefined> }
  const name = (random: SeededRandom, most: number) => `${word(random, 8)} ${random.text([..."abc .,-/&'é"], 0, most - 12)}x`
  const place = (random: SeededRandom) => defined({
    name: maybe(random, name(random, 60)), locationId: maybe(random, word(random, 20)), address1: maybe(random, name(random, 55)), address2: maybe(random, name(random, 55)),
    city: maybe(random, name(random, 30)), state: maybe(random, random.pick(["IL", "TN", "ON"])), postalCode: maybe(random, word(random, 15)), country: maybe(random, random.pick(["USA", "CAN", "MEX", "DEU"]))
  })

  /** An event whose every member has an element. */
  const eventFor = (random: SeededRandom, version: string): EdiEvent => {
    const codes = Object.keys(statusCodes).filter((code) => statusCodes[code]!.time === undefined)
    const code = random.pick(codes)
    const { custody, exception, status, type } = statusCodes[code]!
    const offset = random.pick(["Z", "-06:00", "+05:00", "-11:00"])
    const two = (most: number, least = 0) => String(least + random.below(most - least + 1)).padStart(2, "0")
    const city = random.share(0.7)
    // without a reason, a delay is read with a warning
    const reason = code === "SD" || random.share(0.5)
    const exceptions = Array.from({ length: random.share(0.3) ? 1 + random.below(2) : 0 }, () => defined({ code: random.pick(["D", "S", "O"]), packaging: maybe(random, "PLT"), quantity: maybe(random, "3") }) as { readonly code: string })
    return {
      type,
      status,
      occurredAt: `20${two(99, 10)}-${two(12, 1)}-${two(28, 1)}T${two(23)}:${two(59)}:${two(59)}${random.share(0.3) ? `.${two(99, 1)}` : ""}${offset}`,
      ...random.share(0.7)
        ? { location: city
          ? defined({ city: name(random, 30), state: maybe(random, "TN"), country: "USA", postalCode: version >= "005010" ? maybe(random, word(random, 15)) : undefined })
          : { longitude: random.pick([-87.5, 12.25, -0.0125]), latitude: random.pick([41.25, -33.5, 0.0125]) } }
        : {},
      ...random.share(0.4) ? { notes: Array.from({ length: 1 + random.below(10) }, () => name(random, 30)).join("\n") } : {},
      attributes: defined({
        delayReasonCode: reason ? "310-2" : undefined,
        custody,
        edi: defined({ statusCode: code, reasonCode: reason ? "AI" : undefined, exceptions: exceptions.length === 0 ? undefined : exceptions }),
        exception: exception ?? exceptions.map(({ code }) => ladingExceptions[code]).find((each) => each !== undefined),
        trailerNumber: maybe(random, word(random, 10)),
        partnerCarrierScac: maybe(random, "EFGH"),
        ...maybe(random, { weight: `${random.below(100_000)}.${two(99, 1)}`, weightUnit: random.pick(["Pounds", "Kilograms"]), ...maybe(random, { handlingUnits: String(random.below(1000)) }) })
      }),
      shipment: {
        shipmentId: "0123456789",
        ...defined({ mode: random.pick(["LTL", "FTL", "AIR", "RAIL", "OCEAN", "INTERMODAL", "PARCEL"] as const) }),
        scac: "ABCD",
        references: [{ type: "PRO", value: "0123456789" }, ...random.share(0.5) ? [{ type: "SID", value: word(random, 30) }] : [], ...Array.from({ length: random.below(5) }, () => ({ type: random.pick(["BOL", "PO", "SEAL", "Q9", "MASTER_BOL"]), value: word(random, 30) }))],
        origin: place(random),
        destination: place(random)
      }
    } as EdiEvent
  }

  /** Reading drops repeated references. */
  const withoutRepeated = ({ shipment, ...event }: EdiEvent): EdiEvent => ({
    ...event,
    shipment: { ...shipment, references: [...new Map((shipment.references ?? []).map((each) => [JSON.stringify(each), each])).values()] }
  })

  it("keeps every mapped member from event to 214 to event, in every version", () =>
    forRandom(600, (random) => {
      const version = random.pick(["004010", "005010", "008010"])
      const partner = partnerOf({ times: { write: "offset" } })
      const event = eventFor(random, version)
      const { lost, set } = segmentsOf(event, partner, version)
      expect(lost).toEqual([])
      const again = events(set.segments, partner, version)
      expect([again.faults, again.warnings, again.kept]).toEqual([[], [], []])
      const { eventId: _id, ...back } = again.events[0]!.event
      const { timeCode } = back.attributes!["edi"] as { readonly timeCode: string }
      expect(sorted(back)).toEqual(sorted({ ...withoutRepeated(event), attributes: { ...event.attributes, edi: { ...event.attributes!["edi"] as object, timeCode } } }))
    }))

  it("writes the same 214 again after reading it", () =>
    forRandom(300, (random) => {
      const partner = partnerOf({ times: { write: "offset" } })
      const first = segmentsOf(withoutRepeated(eventFor(random, "005010")), partner, "005010").set.segments
      expect(segmentsOf(events(first, partner, "005010").events[0]!.event, partner, "005010").set.segments).toEqual(first)
    }))

  it("writes or lists every member of any event", () =>
    forRandom(600, (random) => {
      const long = name(random, 60).padEnd(61, "x").repeat(3)
      const event = {
        ...eventFor(random, "004010"),
        type: random.pick(eventTypes),
        notes: long.padEnd(40, "x"),
        location: { city: long, state: "Illinois", longitude: -87.123456, latitude: 41.1, name: long, postalCode: "62701" },
        attributes: { updatedEta: "2026-11-22", custody: "consignee", weight: "12 lbs", trailerNumber: long, exception: "short", other: { deep: [1, 2] }, ...random.share(0.5) ? { edi: { statusCode: "D1", timeCode: "ET" } } : {} }
      } as EdiEvent
      const partner = partnerOf({ codes: { statusOut: Object.fromEntries(eventTypes.map((type) => [type, "X1"])) } })
      const result = write214(event, partner)
      if ("refused" in result) return expect(result.refused).toMatchObject([{ member: "type" }])
      const lost = new Set(result.lost.map(({ member }) => member))
      for (const member of ["notes", "location.state", "location.name", "location.postalCode", "location.longitude", "location.latitude", "attributes.weight", "attributes.trailerNumber", "attributes.other.deep.0", "attributes.other.deep.1", "attributes.updatedEta"]) {
        expect([member, lost.has(member)]).toEqual([member, true])
      }
    }))

  it("never throws on a set of any segments, and places, lists or refuses each element", () =>
    forRandom(1_000, (random) => {
      const ids = ["B10", "L11", "N1", "N3", "N4", "LX", "AT7", "MS1", "MS2", "MS3", "AT8", "K1", "Q7", "G62", "ZZZ"]
      const values = ["", "", "X4", "AB", "SH", "G", "20261120", "0815", "LT", "ABCD", "IL", "0874512", "12.5", "PO", "x y"]
      const segments = Array.from({ length: 1 + random.below(20) }, () => [random.pick(ids), ...Array.from({ length: random.below(9) }, () => random.pick(values)), random.pick(values.slice(2))].join("*"))
      const { events, faults } = eventsOf214(setOf(segments), partnerOf())
      for (const { event } of events) if (faults.length === 0) expect(Schema.is(ReportedEvent)(event)).toBe(true)
      expect(faults.length > 0 || events.length > 0).toBe(true)
    }))

  /** Members in one order, so that differences are easy to read. */
  const sorted = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(sorted).toSorted((a, b) => JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)
      : typeof value === "object" && value !== null
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => a < b ? -1 : 1).map(([key, inner]) => [key, sorted(inner)]))
      : value
})
