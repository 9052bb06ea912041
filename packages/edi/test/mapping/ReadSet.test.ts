import { describe, expect, it } from "vitest"
import { eventsOf214, pickupOf } from "@waybill/edi"
import { partnerOf, setOf } from "../Partner.ts"

const eventIn = (segments: ReadonlyArray<string>) => eventsOf214(setOf(["B10*0123456789**ABCD", ...segments, "LX*1", "AT7*AF*NS***20261120*0815*UT"]), partnerOf())
const keptIn = ({ kept }: ReturnType<typeof eventIn>) => kept.map(({ element, position, segment, value }) => `${segment}-${element} at ${position}: ${value}`)

describe("a segment that is repeated where a member has one value", () => {
  it("is kept, and the first is read", () => {
    const read = eventIn(["N1*SH*Closets Inc.", "N4*Chicago*IL*60608*US", "N4*Gary*IN*46402*US"])
    expect(read.events[0]!.event.shipment.origin).toEqual({ name: "Closets Inc.", city: "Chicago", state: "IL", postalCode: "60608", country: "USA" })
    expect(keptIn(read)).toEqual(["N4-1 at 5: Gary", "N4-2 at 5: IN", "N4-3 at 5: 46402"])
  })

  it("is the second line of an address, where that is free", () => {
    const read = eventIn(["N1*SH*Closets Inc.", "N3*12 Dock Road", "N3*Hall 4", "N1*CN*Mirrors Ltd.", "N3*7 Main Street*Suite 5", "N3*Gate 2"])
    expect(read.events[0]!.event.shipment).toMatchObject({ origin: { address1: "12 Dock Road", address2: "Hall 4" }, destination: { address1: "7 Main Street", address2: "Suite 5" } })
    expect(keptIn(read)).toEqual(["N3-1 at 8: Gate 2"])
  })

  it("leaves nothing of its value in the value of the first", () => {
    const event = eventIn([]).events[0]!.event
    const weighed = eventsOf214(setOf(["B10*0123456789**ABCD", "LX*1", "AT7*AF*NS***20261120*0815*UT", "AT8*G*L*2000*4", "AT8*G*K*900*4"]), partnerOf())
    expect(weighed.events[0]!.event.attributes).toEqual({ ...event.attributes, weightUnit: "Pounds", weight: "2000", handlingUnits: "4" })
    expect(weighed.kept.map(({ value }) => value)).toEqual(["K", "900"])
  })

  it("is not kept if it says the same", () => expect(keptIn(eventIn(["N1*SH*Closets Inc.", "N4*Chicago*IL", "N4*Chicago*IL"]))).toEqual([]))
})

describe("a party that two codes name", () => {
  const shipper = ["N1*SF*Warehouse", "N3*9 Dock Street", "N4*Dallas*TX*75201"]
  const office = ["N1*SH*Closets Inc.*93*HQ1", "N3*1 Main Street*Suite 5", "N4*Boston*MA*02101*US"]

  it("is one of the two as a whole, and the other is kept", () => {
    const read = eventIn([...shipper, ...office])
    expect(read.events[0]!.event.shipment.origin).toEqual({ name: "Closets Inc.", locationId: "HQ1", address1: "1 Main Street", address2: "Suite 5", city: "Boston", state: "MA", postalCode: "02101", country: "USA" })
    expect(keptIn(read)).toEqual(["N1-1 at 3: SF", "N1-2 at 3: Warehouse", "N3-1 at 4: 9 Dock Street", "N4-1 at 5: Dallas", "N4-2 at 5: TX", "N4-3 at 5: 75201"])
    expect(eventIn([...office, ...shipper]).events[0]!.event.shipment.origin).toEqual(read.events[0]!.event.shipment.origin)
  })

  it("is one place of an order to load at", () => {
    const bill = setOf(["BOL*ABCD*PP*BOL-9*20261120*0800", "B2A*00", ...office, ...shipper, "N1*ST*Mirrors Ltd.", "N4*Dallas*TX*75201", "AT1*1", "AT2*2*PLT*G*L*1250"], "211", { functionalId: "BL" })
    expect(pickupOf("211", bill, partnerOf({ sets: ["211"] })).value?.request.pickupAddress).toEqual([{ orgCountry: "USA", orgAddressName: "Warehouse", orgAddressLine1: "9 Dock Street", orgCity: "Dallas", orgState: "TX", orgZip: "75201" }])
  })
})
