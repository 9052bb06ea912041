/** Several carriers in one tenant: after any writes in any order, none reads or receives what another wrote first. */
import { SeededRandom } from "@waybill/conformance/fixtures"
import type { PostedShipment } from "@waybill/core/shipment-status"
import type { ReportedEvent } from "@waybill/core/transit-events"
import { billChange, documentsSample, fileSample, invoiceSample, pickupRequest, postedShipment, reportedEvent, type StartedTestWaybill, startTestWaybill } from "@waybill/testkit"
import { describe, expect, it } from "vitest"

type Caller = StartedTestWaybill["carrier"]

const carriers = [
  { name: "one", word: "WRITTENBYONE", numbers: { dot: "USDOT-0000001" }, carrierFields: { DOT: "1", MC: "" } },
  { name: "two", word: "WRITTENBYTWO", numbers: { dot: "2", mc: "MC-0002" }, carrierFields: { DOT: "", MC: "0002" } },
  { name: "broker", word: "WRITTENBYBROKER", numbers: {}, carrierFields: { DOT: "1", MC: "1" } }
] as const

const settled = async (answer: Promise<unknown>): Promise<string> => {
  try {
    return JSON.stringify(await answer) ?? ""
  } catch (error) {
    return `${String(error)} ${JSON.stringify(error)}`
  }
}

const start = async () => {
  const waybill = await startTestWaybill()
  const callers = carriers.map(({ name, numbers }): Caller => ({ tenantId: waybill.tenantId, client: name, roles: ["carrier"], accounts: ["A-1"], ...numbers }))
  const secret = { hmacSecretId: waybill.hmacSecretId }
  for (const caller of callers) {
    const at = (area: string) => `https://${caller.client}.example/${area}`
    await waybill.subscriptions.create(caller, { endpointUrl: at("events"), ...secret })
    await waybill.subscriptions.create(caller, { endpointUrl: at("events"), ...secret, filters: { shipmentIds: ["S0", "S1", "S2", "S3"] } })
    await waybill.statusSubscriptions.subscribe(caller, { webhookUrl: at("status"), referenceNumbers: ["PRO0", "PRO1"], ...secret })
    await waybill.chargeSubscriptions.create(caller, { webhookUrl: at("charges"), accounts: ["A-1"], dataOptions: { shipmentDataType: "all_monitored_events" }, ...secret })
  }
  const pickups: Array<string> = []
  for (let n = 0; n < 3; n++) {
    const [answer] = await waybill.pickups.create(waybill.shipper, pickupRequest() as never)
    pickups.push((answer as { readonly carrierPickupNumber: string }).carrierPickupNumber)
  }
  return { waybill, callers, pickups }
}

type World = Awaited<ReturnType<typeof start>>

const milestones = ["Picked-up", "In Transit", "Out for Delivery"] as const

/** One write of one caller to one of a few shared objects. */
const write = ({ callers, pickups, waybill }: World, random: SeededRandom): Promise<string> => {
  const who = random.below(3)
  const caller = callers[who]!
  const { carrierFields, word } = carriers[random.below(8) === 0 ? random.below(3) : who]!
  const own = carriers[who]!.word
  const shipmentId = `S${random.below(4)}`
  const id = `${random.below(3)}`
  const partial = { partial: random.below(2) === 0 }
  switch (random.below(9)) {
    case 0:
    case 1: {
      const given = random.below(3) === 0 ? { eventId: `E${random.below(4)}` } : {}
      const others = random.below(3) === 0 ? [{ ...reportedEvent(`S${random.below(4)}`), notes: own }] : []
      return settled(waybill.events.publish(caller, [{ ...reportedEvent(shipmentId), ...given, notes: own, parties: { accounts: ["A-1"] } } as ReportedEvent, ...others], partial))
    }
    case 2:
    case 3: {
      const posted = postedShipment(shipmentId, { ProNumber: `PRO${random.below(2)}`, accounts: ["A-1"] })
      const named = who === 2 ? { carrier: random.below(2) === 0 ? { dot: "1" } : { mc: "2" } } : random.below(4) === 0 ? { carrier: { dot: "2" } } : {}
      // naming a carrier transfers a shipment, so only shipments without other writers are used here
      const target = who === 2 ? { ...posted, shipmentId: `H${random.below(2)}-${"dot" in (named.carrier ?? {}) ? 1 : 2}` } : posted
      return settled(waybill.shipments.register(caller, [{ ...target, ...named, ShipmentMilestoneStatusLong: own } as PostedShipment], partial))
    }
    case 4:
      return settled(waybill.shipments.report(caller, [{
        ...(random.below(2) === 0 ? { shipmentId } : { proNumber: `PRO${random.below(2)}` }),
        shipmentMilestoneStatus: milestones[random.below(3)]!,
        notificationMessage: own
      }], partial))
    case 5:
      return settled(waybill.freightCharges.publish(caller, [billChange(random.below(3) === 0 ? "created" : "updated", `BILL${id}`, { accounts: ["A-1"], more: { note: `${own}${random.below(99)}` } }) as never], partial))
    case 6:
      return random.below(3) === 0
        ? settled(waybill.pickups.cancel(caller, pickups[random.below(3)]!))
        : settled(waybill.pickups.report(caller, pickups[random.below(3)]!, { status: "En Route", equipmentInformation: { driverName: own } }))
    case 7:
      return settled(waybill.invoices.create(caller, invoiceSample({ uniqueID: `I${id}`, invoiceNumber: `N${id}`, ...carrierFields, more: { note: `${word === own ? own : "nothing"}` } }) as never))
    default:
      return settled(waybill.documents.upload(caller, documentsSample({
        invoiceNumber: `N${id}`,
        ...carrierFields,
        more: { note: word === own ? own : "nothing" },
        documents: [{ documentType: "POD", files: [fileSample("PDF", 40)] }]
      }) as never))
  }
}

/** Everything that a carrier can read, and everything that it received. */
const seenBy = async ({ callers, pickups, waybill }: World, who: number): Promise<ReadonlyArray<string>> => {
  const caller = callers[who]!
  const answers = [
    settled(waybill.events.list(caller, { pageSize: 500 })),
    settled(waybill.shipments.pickedUp(caller, { accountNumber: "A-1", startDate: "2026-01-01", endDate: "2027-01-01" })),
    settled(waybill.invoices.list(caller)),
    settled(waybill.documents.list(caller)),
    ...["PRO0", "PRO1"].flatMap((proNumber) => [
      settled(waybill.shipments.verified(caller, { kind: "pro", proNumber })),
      settled(waybill.pickups.visibility(caller, { lookupType: "PRO", lookupValue: proNumber, requestType: "Status", isTest: "false" }))
    ]),
    ...["S0", "S1", "S2", "S3", "H0-1", "H1-1", "H0-2", "H1-2"].map((shipmentId) => settled(waybill.shipments.record(caller, shipmentId))),
    ...["0", "1", "2"].flatMap((id) => [
      settled(waybill.invoices.get(caller, `I${id}`)),
      settled(waybill.invoices.history(caller, `I${id}`)),
      settled(waybill.documents.get(caller, `N${id}`)),
      settled(waybill.documents.history(caller, `N${id}`))
    ]),
    ...pickups.map((number) => settled(waybill.pickups.record(caller, number)))
  ]
  const sent = ["events", "status", "charges"].flatMap((area) => waybill.receiver(`https://${caller.client}.example/${area}`).received)
  return [...await Promise.all(answers), JSON.stringify(sent)]
}

describe("several carriers in one tenant", () => {
  it.each(Array.from({ length: 8 }, (_, seed) => seed + 1))("neither read nor receive what another carrier wrote first (seed %i)", async (seed) => {
    const world = await start()
    const random = new SeededRandom(seed)
    for (let n = 0; n < 60; n++) await write(world, random)
    for (const who of [0, 1]) {
      const seen = await seenBy(world, who)
      const other = carriers[1 - who]!.word
      expect(seen.filter((answer) => answer.includes(other)).map((answer) => answer.slice(Math.max(0, answer.indexOf(other) - 300), answer.indexOf(other) + 100))).toEqual([])
      // it sees its own data; otherwise the test would prove nothing
      expect(seen.filter((answer) => answer.includes(carriers[who]!.word)).length).toBeGreaterThan(5)
    }
    await world.waybill.stop()
  })
})
