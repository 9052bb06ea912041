import { describe, expect, it } from "vitest"
import { type Journey, type JourneyName, journeyNames, journeySteps, type ReceivedDelivery, type StartedTestWaybill, type TestReceiver } from "../../src/index.ts"
import { startedWaybill } from "../startedWaybill.ts"

const freight = { shipmentId: "S-1", proNumber: "0418367745", account: "A-1", nextAccount: "B-2", pickedUpAt: Date.parse("2026-11-21T16:00:00Z") }

const start = async (name: JourneyName) => {
  const waybill = await startedWaybill()
  const receivers = {
    status: waybill.receiver("https://shipper.example/status"),
    events: waybill.receiver("https://shipper.example/events"),
    charges: waybill.receiver("https://shipper.example/charges")
  }
  const journey = waybill.journey(name)
  await journey.subscribe({ status: receivers.status.url, events: receivers.events.url, charges: receivers.charges.url })
  return { waybill, journey, receivers }
}

const noticeOf = ({ notice }: ReceivedDelivery): string =>
  notice?.deliveryInformation_messages ?? [notice?.shipmentMilestoneStatus, notice?.terminalStatus].filter((each) => each !== undefined).join(", ")
const noticesAt = ({ received }: TestReceiver) => received.map(noticeOf)
const eventsAt = ({ received }: TestReceiver) => received.flatMap(({ events }) => events.map(({ type }) => type as string))
const billsAt = ({ received }: TestReceiver) =>
  received.flatMap((delivery) =>
    delivery.charges.map(({ charges, pfc }) =>
      `${pfc.header.function} ${charges.preliminaryTotalCharges} ${charges.changeLog?.map(({ eventCode }) => eventCode).join(" ")}`))

const loaded = ["Picked-up", "In Transit, Arrived", "In Transit, Departed"]
const loadedEvents = ["PICKUP_SCHEDULED", "PICKED_UP", "ARRIVED_AT_TERMINAL", "DEPARTED_TERMINAL", "IN_TRANSIT"]
const ended = ["Delivered", "POD available"]
const endedEvents = ["OUT_FOR_DELIVERY", "DELIVERED", "PROOF_OF_DELIVERY"]

/** The notifications that the shipper gets for each journey. */
const told: Readonly<Record<JourneyName, {
  readonly status: ReadonlyArray<string>
  readonly events: ReadonlyArray<string>
  readonly charges: ReadonlyArray<string>
  readonly shipment: Readonly<Record<string, unknown>>
  readonly papers: ReadonlyArray<string>
}>> = {
  "plain LTL": {
    status: [...loaded, "In Transit, Arrived", "Out for Delivery", ...ended],
    events: [...loadedEvents, "ARRIVED_AT_TERMINAL", ...endedEvents],
    charges: ["PFC1 263.78 OTHR", "PFC2 271.02 OTHR RWE", "PFC3 271.02 OTHR RWE FINL"],
    shipment: { Late: false, ShipmentDamage: false, Reconsignment: false, PartnerCarrierSCAC: null },
    papers: ["BOL", "POD"]
  },
  "interline": {
    status: [...loaded, "Interline", "Interline, Arrived", "Out for Delivery", ...ended],
    events: [...loadedEvents, "IN_TRANSIT", "ARRIVED_AT_TERMINAL", ...endedEvents],
    charges: ["PFC1 263.78 OTHR", "PFC2 263.78 OTHR FINL"],
    shipment: { PartnerCarrierName: "Partner Freight", PartnerCarrierSCAC: "PRTN" },
    papers: ["BOL", "POD"]
  },
  "refused": {
    status: [...loaded, "In Transit, Arrived", "Out for Delivery", "Noted late", "Missed delivery", "In Transit, Arrived", "Out for Delivery", ...ended],
    events: [...loadedEvents, "ARRIVED_AT_TERMINAL", "OUT_FOR_DELIVERY", "DELIVERY_ATTEMPTED", "ARRIVED_AT_TERMINAL", ...endedEvents],
    charges: ["PFC1 263.78 OTHR", "PFC2 348.78 OTHR RDL", "PFC3 348.78 OTHR RDL FINL"],
    shipment: { Late: true },
    papers: ["BOL", "POD"]
  },
  "missed delivery": {
    status: [...loaded, "In Transit, Arrived", "Out for Delivery", "Noted late", "Missed delivery", "In Transit, Arrived", "Out for Delivery", ...ended],
    events: [...loadedEvents, "ARRIVED_AT_TERMINAL", "OUT_FOR_DELIVERY", "DELIVERY_ATTEMPTED", "ARRIVED_AT_TERMINAL", ...endedEvents],
    charges: ["PFC1 263.78 OTHR", "PFC2 348.78 OTHR RDL", "PFC3 348.78 OTHR RDL FINL"],
    shipment: { Late: true },
    papers: ["BOL", "POD"]
  },
  "damaged": {
    status: [...loaded, "In Transit, Arrived", "In Transit, Damaged", "Out for Delivery", ...ended],
    events: [...loadedEvents, "ARRIVED_AT_TERMINAL", "EXCEPTION", ...endedEvents],
    charges: ["PFC1 263.78 OTHR", "PFC2 263.78 OTHR FINL"],
    shipment: { ShipmentDamage: true },
    papers: ["BOL", "POD", "INSP", "IMG"]
  },
  "reconsigned": {
    status: [...loaded, "In Transit, Reconsigned", "In Transit, Arrived", "Out for Delivery", ...ended],
    events: [...loadedEvents, "EXCEPTION", "ARRIVED_AT_TERMINAL", ...endedEvents],
    charges: ["PFC1 263.78 OTHR", "PFC2 361.28 OTHR RCC", "PFC3 361.28 OTHR RCC FINL"],
    shipment: { Reconsignment: true, ConsigneeAddress: expect.objectContaining({ city: "Providence" }) },
    papers: ["BOL", "POD"]
  },
  "cross-border": {
    status: [...loaded, "Customs information", "Customs information", "Out for Delivery", ...ended],
    events: [...loadedEvents, "CUSTOMS_HOLD", "CUSTOMS_CLEARED", ...endedEvents],
    charges: ["PFC1 263.78 OTHR", "PFC2 263.78 OTHR FINL"],
    shipment: { CrossBorder: true, CrossBorderStatus: "ClearedCustoms", ConsigneeAddress: expect.objectContaining({ country: "CAN" }) },
    papers: ["BOL", "POD", "COMM"]
  },
  "late with appointment": {
    status: [...loaded, "Noted late", "In Transit, Arrived", "Appointment Update", "Out for Delivery", ...ended],
    events: [...loadedEvents, "DELAY", "ARRIVED_AT_TERMINAL", "OTHER", ...endedEvents],
    charges: ["PFC1 263.78 OTHR", "PFC2 296.28 OTHR APTD", "PFC3 296.28 OTHR APTD FINL"],
    shipment: { Late: true, DelayReasonCode: "390-1", AppointmentStatus: "Secured" },
    papers: ["BOL", "POD"]
  },
  "party change": {
    status: [...loaded, "In Transit, Arrived", "Out for Delivery", ...ended],
    events: [...loadedEvents, "ARRIVED_AT_TERMINAL", ...endedEvents],
    // a former debtor learns that it no longer owes the bill, and nothing else
    charges: ["PFC1 263.78 OTHR", "PFC2 0 ACTCHG"],
    shipment: { BillToAccountNumber: "A-1" },
    papers: ["BOL", "POD"]
  }
}

/** Checks that apply to every finished journey. */
const checkPapers = async (waybill: StartedTestWaybill, journey: Journey) => {
  const payer = journey.name === "party change" ? waybill.customer("next", ["B-2"]) : waybill.shipper
  const { data: [invoice] } = await waybill.invoices.list(payer, { shipmentID: "S-1" })
  expect(invoice).toMatchObject({ uniqueID: "INV-0418367745" })
  expect((await waybill.invoices.get(payer, "INV-0418367745")).warnings).toEqual([])
  const { data: [documents] } = await waybill.documents.list(payer)
  expect(documents!.documents.map(({ documentType }) => documentType)).toEqual(told[journey.name].papers)
  const lookup = { lookupValue: "0418367745", lookupType: "PRO", requestType: "PickupStatus", isTest: "false" }
  expect(await waybill.pickups.visibility(waybill.shipper, lookup)).toMatchObject({ status: "Departed with Exact Match" })
}

describe.each(journeyNames)("the journey %s", (name) => {
  it("is sent in every area, signed, once and in order", async () => {
    const { journey, receivers, waybill } = await start(name)
    await journey.advanceTo("delivered")
    expect(journey.done.at(-1)).toBe("delivered")
    expect(noticesAt(receivers.status).at(-1)).toBe("Delivered")
    await journey.finish()
    expect(noticesAt(receivers.status)).toEqual(told[name].status)
    expect(eventsAt(receivers.events)).toEqual(told[name].events)
    expect(billsAt(receivers.charges)).toEqual(told[name].charges)
    for (const receiver of Object.values(receivers)) {
      receiver.assertSigned()
      receiver.assertNoDuplicates()
      for (const delivery of receiver.received) expect(globalThis.waybillOpenApi!.faultOfNotification(delivery)).toBeUndefined()
    }
    receivers.events.assertInOrder()
    const { shipment } = await waybill.shipments.verified(waybill.shipper, { kind: "pro", proNumber: "0418367745" })
    expect(shipment).toMatchObject({ ShipmentMilestoneStatus: "Delivered", PODAvailable: true, ...told[name].shipment })
    await checkPapers(waybill, journey)
  })

  it("is data with every area and unique step names, in order of time", () => {
    const steps = journeySteps(name, freight)
    expect([...new Set(steps.map(({ area }) => area))].toSorted()).toEqual(["A", "B", "C", "D", "E"])
    expect(new Set(steps.map((step) => step.name)).size).toBe(steps.length)
    const hours = steps.map(({ afterHours }) => afterHours)
    expect(hours).toEqual(hours.toSorted((one, other) => one - other))
    expect(JSON.stringify(journeySteps(name, freight))).toBe(JSON.stringify(steps))
  })
})

describe("a journey", () => {
  it("runs step by step, and advances the clock to each", async () => {
    const { journey, receivers, waybill } = await start("plain LTL")
    expect(await journey.step()).toMatchObject({ name: "pickup ordered", area: "C", afterHours: -24 })
    expect(waybill.now()).toEqual(new Date(freight.pickedUpAt - 24 * 3_600_000))
    await journey.advanceTo("picked up")
    expect(waybill.now()).toEqual(new Date(freight.pickedUpAt))
    expect(noticesAt(receivers.status)).toEqual(["Picked-up"])
    await journey.advanceTo("booked")
    expect(journey.done.at(-1)).toBe("picked up")
    await journey.finish()
    expect(await journey.step()).toBeUndefined()
    expect(journey.done).toEqual(journey.steps.map(({ name }) => name))
  })

  it("runs concurrently with other journeys in one service", async () => {
    const { journey, receivers, waybill } = await start("plain LTL")
    const other = waybill.journey("damaged", { shipmentId: "S-2", proNumber: "0418367746", pickedUpAt: "2026-11-21T18:00:00Z" })
    const receiver = waybill.receiver("https://other.example/events")
    await other.subscribe({ events: receiver.url })
    // pickups cannot be ordered for a past day
    await journey.advanceTo("booked")
    await other.advanceTo("noted damaged")
    await journey.finish()
    await other.finish()
    expect(eventsAt(receiver)).toEqual(told["damaged"].events)
    expect(eventsAt(receivers.events)).toEqual(told["plain LTL"].events)
  })

  it("gets ids of its own, also when its name is repeated", async () => {
    const { journey, waybill } = await start("plain LTL")
    const given = waybill.journey("plain LTL", { shipmentId: "S-2", proNumber: "0418367746" })
    const third = waybill.journey("plain LTL")
    expect([given, third].map(({ freight: { proNumber, shipmentId } }) => [shipmentId, proNumber])).toEqual([["S-2", "0418367746"], ["S-3", "0418367747"]])
    for (const each of [journey, given, third]) await each.advanceTo("booked")
    for (const each of [journey, given, third]) await each.finish()
    expect((await waybill.invoices.list(waybill.shipper)).data).toHaveLength(3)
    expect(() => waybill.journey("refused", { shipmentId: "S-3" })).toThrow("Another journey of this service has the shipmentId S-3. Give another one, or none.")
  })

  it("starts after another one of the same name has ended", async () => {
    const { journey, receivers, waybill } = await start("plain LTL")
    await journey.finish()
    const again = waybill.journey("plain LTL")
    await again.subscribe({ events: receivers.events.url })
    await again.finish()
    receivers.events.assertInOrder()
    expect(eventsAt(receivers.events)).toEqual([...told["plain LTL"].events, ...told["plain LTL"].events])
  })

  it("sends a new debtor the bill from its version on", async () => {
    const { journey, waybill } = await start("party change")
    const receiver = waybill.receiver("https://next.example/charges")
    await journey.subscribe({ charges: receiver.url }, waybill.customer("next", ["B-2"]))
    await journey.finish()
    expect(billsAt(receiver)).toEqual(["PFC2 263.78 ACTCHG CBL", "PFC3 263.78 ACTCHG CBL FINL"])
  })

  it("arrives completely despite many faults", async () => {
    const { journey, receivers } = await start("refused")
    receivers.events.faults.drop({ times: 3 }).slow("5 minutes").duplicate().delay("2 seconds").wrongSignature()
    receivers.status.answers(503, "refuse", 200)
    await journey.finish()
    const seen = new Set(receivers.events.received.filter(({ signature }) => signature === "good").map(({ deliveryId }) => deliveryId))
    expect(new Set(receivers.events.received.map(({ deliveryId }) => deliveryId)).size - seen.size).toBe(1)
    expect([...new Set(eventsAt(receivers.events))].toSorted()).toEqual([...new Set(told["refused"].events)].toSorted())
    expect(noticesAt(receivers.status).slice(2)).toEqual(told["refused"].status)
  })

  it("lists the known journeys and steps when the name is unknown", async () => {
    const { journey, waybill } = await start("interline")
    expect(() => waybill.journey("express" as JourneyName)).toThrow('There is no journey "express". Take one of: plain LTL, interline')
    await expect(journey.advanceTo("lost at sea")).rejects.toThrow('The journey interline has no step "lost at sea". Take one of: pickup ordered')
    expect(() => waybill.journey("interline", { pickedUpAt: "soon" })).toThrow("RFC 3339")
  })
})
