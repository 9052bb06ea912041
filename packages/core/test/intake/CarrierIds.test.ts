/** Several carriers in one tenant: none has another one's data refused by using its ids first. */
import type { PostedShipment } from "@waybill/core/shipment-status"
import { documentsSample, fileSample, invoiceSample, postedShipment, reportedEvent, type StartedTestWaybill, startTestWaybill } from "@waybill/testkit"
import { describe, expect, it } from "vitest"

interface Writer {
  readonly waybill: StartedTestWaybill
  readonly caller: StartedTestWaybill["carrier"]
  /** The carrier's number, and the id of its shipment. */
  readonly number: string
}

const shipmentOf = async ({ caller, number, waybill }: Writer) => {
  await waybill.shipments.register(caller, [postedShipment(number, { ProNumber: number, accounts: ["A-1"] }) as PostedShipment])
}

/** Each writes something of its own under an id that the other one uses, too, and returns whether it is new, and what is known of it. */
const writes: Readonly<Record<string, (writer: Writer) => Promise<unknown>>> = {
  "events, as EDI makes them,": async ({ caller, number, waybill }) => {
    const event = { ...reportedEvent(number, { eventId: "edi:02-PART:261120:000000001:1:0001:1" }), notes: number }
    const results = await waybill.events.publish(caller, [event])
    expect((await waybill.events.publish(caller, [event])).map(({ result }) => result)).toEqual(["duplicate"])
    const { data } = await waybill.events.list(caller, {})
    return [results.map(({ result }) => result), data.map(({ notes }) => notes === number)]
  },
  "status updates": async (writer) => {
    const { caller, number, waybill } = writer
    await shipmentOf(writer)
    const results = await waybill.shipments.report(caller, [{ updateId: "U", shipmentId: number, shipmentMilestoneStatus: "Picked-up", notificationMessage: number }])
    return [results.map(({ result }) => result), [true]]
  },
  invoices: async ({ caller, number, waybill }) => {
    await waybill.invoices.create(caller, invoiceSample({ uniqueID: "I", invoiceNumber: "N", DOT: number, MC: "" }) as never)
    const { data } = await waybill.invoices.list(caller)
    return [["accepted"], data.map(({ DOT }) => DOT === number)]
  },
  documents: async ({ caller, number, waybill }) => {
    await waybill.documents.upload(caller, documentsSample({ invoiceNumber: "N", DOT: number, MC: "", documents: [{ documentType: "POD", files: [fileSample("PDF", 40)] }] }) as never)
    const { data } = await waybill.documents.list(caller)
    return [["accepted"], data.map(({ record }) => record["DOT"] === number)]
  }
}

describe("ids", () => {
  it.each(Object.keys(writes))("of %s can be used by two carriers", async (what) => {
    const waybill = await startTestWaybill()
    const write = (number: string) =>
      writes[what]!({ waybill, number, caller: { tenantId: waybill.tenantId, client: `carrier-${number}`, roles: ["carrier"], accounts: ["A-1"], dot: number } })
    expect(await write("1")).toEqual([["accepted"], [true]])
    expect(await write("2")).toEqual([["accepted"], [true]])
  })
})
