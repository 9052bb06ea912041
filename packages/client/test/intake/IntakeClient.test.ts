import { describe, expect, it } from "vitest"
import {
  type FreightBillChange,
  IntakeClient,
  type IntakeReport,
  type PickupChanges,
  type PickupRecord,
  type PickupReported,
  type ReportedEvent,
  type ReportedShipment,
  type ReportedStatus,
  type ShipmentRecord
} from "../../src/intake/index.ts"
import { pickupBody } from "../../src/pickups/PickupRequest.ts"
import type { PickupRequest } from "../../src/pickups/index.ts"
import { fullOrder, fullReport, pickupVisibility } from "../pickup-samples.ts"
import { chargeOf, verifiedShipment } from "../samples.ts"
import { clientsOf, json, problem } from "../scripted-server.ts"

const clientOf = clientsOf(IntakeClient)
const reported: ReportedEvent = {
  type: "PICKED_UP",
  occurredAt: "2026-11-20T08:15:00-06:00",
  shipment: { shipmentId: "S1", origin: {}, destination: {} },
  parties: { accounts: ["4711"] }
}
const { ProNumber, UniqueID, PayType, ShipType, PickupAddress, BillToAddress, BillToAccountNumber, ConsigneeAddress, GrossWeight, EstimatedStandardDay, EstimatedDeliveryDate } = verifiedShipment
const shipment: ReportedShipment = {
  shipmentId: "S1", ProNumber, UniqueID, PayType, ShipType, PickupAddress, BillToAddress, BillToAccountNumber, ConsigneeAddress, GrossWeight, EstimatedStandardDay, EstimatedDeliveryDate
}
const moved: ReportedStatus = { proNumber: "1", shipmentMilestoneStatus: "In Transit", terminalStatus: "Arrived" }
const late: ReportedStatus = { shipmentId: "S1", updateId: "u-1", deliveryInformation_messages: "Noted late", delayReasonCode: "310-2" }
const unnumbered: FreightBillChange = { change: "created", pfc: { ...chargeOf("B1", 1), pfc: { uniqueID: "B1", date: "2026-11-20", version: "v1.0", isTest: false } } }
const numbered: FreightBillChange = { change: "updated", accounts: ["4711"], pfc: chargeOf("B1", 2) }
const removed: FreightBillChange = { change: "removed", pfc: { pfc: { uniqueID: "B2" } } }
const report: IntakeReport = { results: [{ index: 0, result: "accepted", shipmentId: "S1", eventId: "e-1", sequence: 1 }] }

describe("IntakeClient", () => {
  it("publishes events", async () => {
    const { client, received } = clientOf(() => json(report))
    expect(await client.publishTransitEvents([reported])).toEqual(report)
    expect(received[0]).toMatchObject({ method: "POST", path: "/intake/v1/transit-events", body: { events: [reported] } })
  })

  it("registers shipments", async () => {
    const results = { results: [{ index: 0, result: "duplicate", shipmentId: "S1" }] }
    const { client, received } = clientOf(() => json(results))
    expect(await client.registerShipments([shipment])).toEqual(results)
    expect(received[0]).toMatchObject({ method: "POST", path: "/intake/v1/shipments", body: { shipments: [shipment] } })
  })

  it("reports movements and information", async () => {
    const results = {
      results: [
        { index: 0, result: "error", errors: [{ detail: "A shipment cannot go from Delivered back to In Transit.", pointer: "/updates/0/shipmentMilestoneStatus" }] },
        { index: 1, result: "accepted", shipmentId: "S1", eventId: "status-update-1", outcome: "applied" }
      ]
    }
    const { client, received } = clientOf(() => json(results))
    expect(await client.reportStatus([moved, late], { partial: true })).toEqual(results)
    expect(received[0]).toMatchObject({ method: "POST", path: "/intake/v1/status-updates?partial=true", body: { updates: [moved, late] } })
  })

  it("publishes freight charges", async () => {
    const results = { results: [{ index: 0, result: "accepted", uniqueID: "B1", version: 1 }] }
    const { client, received } = clientOf(() => json(results))
    expect(await client.publishFreightCharges([unnumbered, removed])).toEqual(results)
    expect(received[0]).toMatchObject({ method: "POST", path: "/intake/v1/freight-charges", body: { charges: [unnumbered, removed] } })
  })

  it("gets the record of a shipment", async () => {
    const record: ShipmentRecord = {
      shipmentId: "S/1",
      accounts: ["4711"],
      carrier: { dot: "123456", scac: "ABCD" },
      covered: true,
      shipment: verifiedShipment,
      history: [{ position: 1, occurredAt: "2026-11-20T08:15:00-06:00", outcome: "late", report: { milestone: "In Transit" } }]
    }
    const { client, received } = clientOf((_, count) => count === 0 ? problem(503) : json(record))
    expect(await client.getShipmentRecord("S/1")).toEqual(record)
    expect(received.map(({ method, path }) => `${method} ${path}`)).toEqual(["GET /intake/v1/shipments/S%2F1", "GET /intake/v1/shipments/S%2F1"])
  })

  it("reports the progress of a pickup", async () => {
    const taken: PickupReported = { result: "accepted", pickupId: "0199-p", carrierPickupNumber: "C/1", status: "Pickup Rescheduled" }
    const { client, received } = clientOf(() => json(taken))
    expect(await client.reportPickupStatus("C/1", fullReport)).toEqual(taken)
    expect(received).toEqual([expect.objectContaining({ method: "POST", path: "/intake/v1/pickups/C%2F1/status", body: fullReport })])
  })

  it("decides on a pickup that waits", async () => {
    const taken: PickupReported = { result: "accepted", pickupId: "0199-p", carrierPickupNumber: "C/1", status: "Accepted" }
    const decision = { decision: "accept", confirmationNumber: "C/1", scac: "ABCD", carrierName: "Carrier", message: null } as const
    const { client, received } = clientOf((_, count) => count === 0 ? json(taken) : problem(409))
    expect(await client.decidePickup("0199-p", decision)).toEqual(taken)
    expect(received).toEqual([expect.objectContaining({ method: "POST", path: "/intake/v1/pickups/0199-p/decision", body: decision })])
    await expect(client.decidePickup("0199-p", decision)).rejects.toMatchObject({ status: 409 })
  })

  it("lists the changes of pickups from an instant or a cursor", async () => {
    const request = pickupBody(fullOrder, null) as unknown as PickupRequest
    const changes: PickupChanges = {
      data: [{ at: "2026-11-20T08:15:00.000Z", change: "ordered", pickupId: "0199-p", confirmationNumber: null, status: "Call us", request }],
      nextCursor: "1"
    }
    const { client, received } = clientOf(() => json(changes))
    expect(await client.listPickupChanges({ since: new Date("2026-11-20T00:00:00Z"), status: "Call us", limit: 5 })).toEqual(changes)
    await client.listPickupChanges({ cursor: "1" })
    await client.listPickupChanges()
    expect(received.map(({ path }) => path)).toEqual([
      expect.stringMatching(/^\/intake\/v1\/pickups\?(?=.*since=2026-11-20T00%3A00%3A00.000Z)(?=.*status=Call(\+|%20)us)(?=.*limit=5)/),
      "/intake/v1/pickups?cursor=1",
      "/intake/v1/pickups"
    ])
  })

  it("gets the record of a pickup", async () => {
    const request = pickupBody(fullOrder, null) as unknown as PickupRequest
    const record: PickupRecord = {
      pickupId: "0199-p",
      carrierPickupNumber: "C/1",
      isTest: false,
      client: "shipper",
      accounts: ["4711"],
      carrier: null,
      waiting: null,
      createdAt: "2026-11-20T08:15:00.000Z",
      request,
      visibility: pickupVisibility,
      history: [
        { position: 1, at: "2026-11-20T08:15:00.000Z", what: "ordered", by: "shipper", status: "Accepted", messages: [], request },
        { position: 2, at: "2026-11-20T09:15:00.000Z", what: "reported", by: "tms", status: "En Route", report: fullReport }
      ]
    }
    const { client, received } = clientOf((_, count) => count === 0 ? problem(503) : json(record))
    expect(await client.getPickupRecord("C/1")).toEqual(record)
    expect(received.map(({ method, path }) => `${method} ${path}`)).toEqual(["GET /intake/v1/pickups/C%2F1", "GET /intake/v1/pickups/C%2F1"])
  })

  const calls: ReadonlyArray<readonly [string, string, (client: IntakeClient, partial?: boolean) => Promise<unknown>]> = [
    ["transit events", "transit-events", (client, partial) => client.publishTransitEvents([reported], { partial })],
    ["shipments", "shipments", (client, partial) => client.registerShipments([shipment], { partial })],
    ["status updates", "status-updates", (client, partial) => client.reportStatus([moved], { partial })],
    ["freight charges", "freight-charges", (client, partial) => client.publishFreightCharges([unnumbered], { partial })]
  ]

  it.each(calls)("requests partial acceptance of %s only with partial", async (_, path, call) => {
    const { client, received } = clientOf(() => json(report))
    for (const partial of [true, false, undefined]) await call(client, partial)
    expect(received.map((request) => request.path)).toEqual([`/intake/v1/${path}?partial=true`, `/intake/v1/${path}`, `/intake/v1/${path}`])
  })

  it("aborts a call with the caller's signal", async () => {
    const { client, received } = clientOf(() => json(report))
    const signal = AbortSignal.abort(new Error("over"))
    const ended = [
      () => client.publishTransitEvents([reported], { signal }),
      () => client.registerShipments([shipment], { signal }),
      () => client.reportStatus([moved], { signal }),
      () => client.publishFreightCharges([unnumbered], { signal }),
      () => client.getShipmentRecord("S1", { signal }),
      () => client.reportPickupStatus("C1", fullReport, { signal }),
      () => client.getPickupRecord("C1", { signal })
    ]
    for (const call of ended) await expect(call()).rejects.toThrow("over")
    expect(received).toEqual([])
  })

  describe("retries after a lost response", () => {
    const timesSent = async (call: (client: IntakeClient) => Promise<unknown>) => {
      const { client, received } = clientOf((_, count) => count === 0 ? problem(503) : json(report))
      await call(client).catch(() => undefined)
      return received.length
    }

    it("events only when each has an id", async () => {
      expect(await timesSent((client) => client.publishTransitEvents([{ ...reported, eventId: "e-1" }]))).toBe(2)
      expect(await timesSent((client) => client.publishTransitEvents([{ ...reported, eventId: "e-1" }, reported]))).toBe(1)
    })

    it("shipments and status updates, which the service deduplicates by content", async () => {
      expect(await timesSent((client) => client.registerShipments([shipment]))).toBe(2)
      expect(await timesSent((client) => client.reportStatus([moved, late]))).toBe(2)
    })

    it("the report of a pickup, which is a duplicate while it is the last one", async () => {
      expect(await timesSent((client) => client.reportPickupStatus("C1", { status: "Arrived" }))).toBe(2)
    })

    it("freight charges only when each names its version", async () => {
      expect(await timesSent((client) => client.publishFreightCharges([numbered]))).toBe(2)
      expect(await timesSent((client) => client.publishFreightCharges([numbered, unnumbered]))).toBe(1)
      expect(await timesSent((client) => client.publishFreightCharges([numbered, removed]))).toBe(1)
    })
  })
})
