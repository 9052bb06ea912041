import type { PostedShipment } from "@waybill/core/shipment-status"
import { afterEach, describe, expect, it, vi } from "vitest"
import { charge } from "../freight-charges/FreightChargeSamples.ts"
import { movingShipment, reportedShipment } from "../shipment-status/ShipmentSamples.ts"
import { reportedEvent } from "../TestService.ts"
import { HostTransaction, carrier, customer, rejection, start, startReceiver, startWithTenant } from "./Host.ts"

const stranger = { ...customer, client: "stranger", accounts: ["A9"] }

describe("shipment status", () => {
  it("is registered, reported, looked up and subscribed to with promises", async () => {
    const receiver = await startReceiver()
    const waybill = await startWithTenant({ egressAllow: ["127.0.0.0/8"] })
    const { transactionId } = await waybill.statusSubscriptions.subscribe(customer, { referenceNumbers: ["PRO-S1"], webhookUrl: receiver.url })
    const registered = await waybill.shipments.register(carrier, [movingShipment("S1", { accounts: ["A1"] }), movingShipment("S2", { accounts: ["A2"] })])
    expect(registered).toEqual([{ index: 0, result: "accepted", shipmentId: "S1" }, { index: 1, result: "accepted", shipmentId: "S2" }])
    const occurredAt = new Date("2026-11-20T09:00:00Z")
    const reported = await waybill.shipments.report(carrier, [{ shipmentId: "S1", shipmentMilestoneStatus: "Out for Delivery", occurredAt: occurredAt as never }])
    expect(reported).toMatchObject([{ index: 0, result: "accepted", shipmentId: "S1" }])

    const by = { kind: "pro", proNumber: "PRO-S1" } as const
    expect(await waybill.shipments.verified(customer, by)).toMatchObject({ own: true, shipment: { ProNumber: "PRO-S1", ShipmentMilestoneStatus: "Out for Delivery" } })
    const found = await waybill.shipments.verified(stranger, by)
    expect(found).toEqual({
      own: false,
      shipment: { ProNumber: "PRO-S1", ShipmentMilestoneStatus: "Out for Delivery", UpdatedETA: "2026-11-21", EstimatedStandardDay: 3 }
    })
    expect(await waybill.shipments.public({ tenantId: "acme" }, by)).toEqual(found.shipment)
    const range = { accountNumber: "A1", startDate: new Date("2026-11-01"), endDate: "2026-11-30" }
    expect((await waybill.shipments.pickedUp(customer, range)).map(({ ProNumber }) => ProNumber)).toEqual(["PRO-S1"])
    expect(await waybill.shipments.record(carrier, "S1")).toMatchObject({ shipmentId: "S1", accounts: ["A1"], covered: true, shipment: { ProNumber: "PRO-S1" } })

    expect(await waybill.runOnce()).toBe(2)
    expect(receiver.received.map(({ body }) => JSON.parse(body).shipmentMilestoneStatus)).toEqual(["In Transit", "Out for Delivery"])
    expect((await waybill.statusSubscriptions.unsubscribe(customer, transactionId)).transactionId).toBe(transactionId)
  })

  it("is updated by published transit events", async () => {
    const waybill = await startWithTenant()
    await waybill.shipments.register(carrier, [reportedShipment("S1", { accounts: ["A1"] })])
    await waybill.events.publish(carrier, [reportedEvent("S1", { type: "PICKED_UP" })])
    expect(await waybill.shipments.verified(customer, { kind: "pro", proNumber: "PRO-S1" })).toMatchObject({ shipment: { ShipmentMilestoneStatus: "Picked-up" } })
  })

  it("rejects with the error and its HTTP status", async () => {
    const waybill = await startWithTenant({ othersLookupsPerMinute: 1 })
    const by = { kind: "po", poNumber: "P", destinationPostalCode: "1" } as const
    expect(await rejection(waybill.shipments.verified(customer, by))).toMatchObject({ code: "shipment_not_found", status: 404 })
    expect(await rejection(waybill.shipments.verified(customer, by))).toMatchObject({ code: "too_many_lookups", status: 429 })
    expect(await rejection(waybill.shipments.public({ tenantId: "nobody" }, by))).toMatchObject({ code: "tenant_not_found", status: 404 })
    expect(await rejection(waybill.shipments.public({ tenantId: "../x" }, by))).toMatchObject({ code: "tenant_not_found", status: 404 })
    const bad = await rejection(waybill.shipments.register(carrier, [{ shipmentId: "S1" } as PostedShipment]))
    expect([bad.code, bad.faults[0]]).toEqual(["invalid_input", { pointer: "/shipments/0/ProNumber", detail: expect.any(String), code: "required" }])
    for (const by of ["1234567890", undefined, { kind: "PRO", proNumber: "1" }, { kind: "constructor" }, { kind: "pro", proNumber: 1234567890 }, { kind: "bol", bolNumber: "B-1" }]) {
      const expected = { code: "invalid_input", message: expect.stringMatching(/^Invalid input: \/by: A lookup is \{ kind: "pro", proNumber \}/) }
      expect(await rejection(waybill.shipments.verified(customer, by as never))).toMatchObject(expected)
      expect(await rejection(waybill.shipments.public({ tenantId: "acme" }, by as never))).toMatchObject(expected)
    }
    expect(await rejection(waybill.shipments.record(customer, "S1"))).toMatchObject({ code: "not_permitted", status: 403 })
    expect(await rejection(waybill.statusSubscriptions.unsubscribe(customer, "none"))).toMatchObject({ code: "subscription_not_found", status: 404 })
  })

  it("counts public lookups through `handler` by the host's key for the caller", async () => {
    const waybill = start({ apiKeys: true, othersLookupsPerMinute: 1, publicTenant: "acme", clientAddress: (request) => request.headers.get("x-session") ?? undefined })
    for (const tenantId of ["acme", "bolt"]) await waybill.tenants.put(tenantId, { name: tenantId })
    await waybill.shipments.register(carrier, [movingShipment("S1")])
    const look = async (session: string | undefined, remoteAddress?: string) =>
      (await waybill.handler(
        new Request("http://x/in-transit/v1/shipment/pro/PRO-S1/public", { headers: session === undefined ? {} : { "x-session": session } }),
        { remoteAddress }
      )).status
    expect([await look("a"), await look("a"), await look("b")]).toEqual([200, 429, 200])
    expect([await look(undefined, "198.51.100.7"), await look(undefined, "198.51.100.7"), await look(undefined, "198.51.100.8")]).toEqual([200, 429, 200])
    expect([await look(undefined), await look(undefined)]).toEqual([200, 429])
  })
})

describe("freight charges", () => {
  it("are published, subscribed to and delivered with promises", async () => {
    const receiver = await startReceiver()
    const waybill = await startWithTenant({ egressAllow: ["127.0.0.0/8"] })
    expect(await waybill.freightCharges.publish(carrier, [charge("created", "B1")])).toEqual([{ index: 0, result: "accepted", uniqueID: "B1", version: 1 }])
    const created = await waybill.chargeSubscriptions.create(customer, { webhookUrl: receiver.url, accounts: ["A1"], dataOptions: {} })
    expect(created).toMatchObject({ status: "active", frequency: "real_time" })
    expect((await waybill.chargeSubscriptions.inFlight(customer, created.subscriptionId)).map(({ pfc }) => pfc.header.function)).toEqual(["PFC1"])
    expect(await waybill.chargeSubscriptions.testWebhook(customer, { webhookUrl: receiver.url })).toEqual({ message: expect.any(String) })
    await waybill.freightCharges.publish(carrier, [charge("updated", "B1", { total: 300 })])
    expect(await waybill.runOnce()).toBe(1)
    expect(receiver.received.map(({ body }) => JSON.parse(body)[0].pfc)).toMatchObject([{ isTest: true }, { uniqueID: "B1", header: { function: "PFC2" } }])
    expect(await waybill.allSubscriptions.resume("acme", created.subscriptionId)).toMatchObject({ area: "freight-charges", state: "active" })
    await waybill.chargeSubscriptions.cancel(customer, created.subscriptionId)
    expect(await waybill.chargeSubscriptions.get(customer, created.subscriptionId)).toMatchObject({ status: "inactive" })
  })

  it("reject with the error and its HTTP status", async () => {
    const waybill = await startWithTenant()
    const wish = { webhookUrl: "https://receiver.example/", accounts: ["A1"], dataOptions: {} }
    expect(await rejection(waybill.chargeSubscriptions.create(stranger, wish))).toMatchObject({ code: "accounts_not_permitted", status: 403 })
    await waybill.chargeSubscriptions.create(customer, wish)
    expect(await rejection(waybill.chargeSubscriptions.create(customer, wish))).toMatchObject({ code: "subscription_conflict", status: 409 })
    expect(await rejection(waybill.chargeSubscriptions.get(customer, "none"))).toMatchObject({ code: "subscription_not_found", status: 404 })
    expect(await rejection(waybill.allSubscriptions.resume("acme", "none"))).toMatchObject({ code: "subscription_not_found", status: 404 })
    const inside = await rejection(waybill.chargeSubscriptions.testWebhook(customer, { webhookUrl: "https://127.0.0.1/" }))
    expect(inside).toMatchObject({ code: "invalid_input", status: 400 })
    const nowhere = await rejection(waybill.chargeSubscriptions.testWebhook(customer, { webhookUrl: "https://receiver.invalid/" }))
    expect({ ...nowhere.problem, instance: "" }).toEqual({ ...inside.problem, instance: "" })
    expect(await rejection(waybill.freightCharges.publish(customer, [charge("created", "B1")]))).toMatchObject({ code: "not_permitted", status: 403 })
  })
})

describe("within a transaction of the host", () => {
  it("every method that writes joins it", async () => {
    const waybill = await startWithTenant()
    const tx = new HostTransaction()
    const within = waybill.within(tx)
    await within.shipments.register(carrier, [movingShipment("S1")])
    await within.shipments.report(carrier, [{ shipmentId: "S1", shipmentMilestoneStatus: "Out for Delivery", occurredAt: "2026-11-20T09:00:00Z" }])
    const { transactionId } = await within.statusSubscriptions.subscribe(customer, { referenceNumbers: ["S1"], webhookUrl: "https://receiver.example/" })
    await within.statusSubscriptions.unsubscribe(customer, transactionId)
    await within.freightCharges.publish(carrier, [charge("created", "B1")])
    const { subscriptionId } = await within.chargeSubscriptions.create(customer, { webhookUrl: "https://receiver.example/", accounts: ["A1"], dataOptions: {} })
    await within.chargeSubscriptions.cancel(customer, subscriptionId)
    const { id } = await within.apiKeys.create("acme", { name: "shop", roles: ["customer"], accounts: ["A1"] })
    await within.apiKeys.revoke("acme", id)
    await within.secrets.put("acme", "main", { anyClient: true })
    await within.secrets.delete("acme", "main")
    expect(tx.joined).toBe(11)
    const foreign = await rejection(waybill.within({} as never).freightCharges.publish(carrier, [charge("created", "B2")]))
    expect([foreign.status, foreign.message]).toEqual([500, "This is no transaction of the host."])
  })
})

describe("windows of hourly and daily notifications", () => {
  afterEach(() => void vi.useRealTimers())

  it("close at the wall clock of the host's time zone, with `runOnce`", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-11-20T10:20:00Z") })
    const receiver = await startReceiver()
    const waybill = await startWithTenant({ egressAllow: ["127.0.0.0/8"], timeZone: "America/Chicago" })
    await waybill.chargeSubscriptions.create(customer, { webhookUrl: receiver.url, accounts: ["A1"], dataOptions: {}, frequency: "daily" })
    await waybill.freightCharges.publish(carrier, [charge("created", "B1"), charge("created", "B2")])
    await waybill.freightCharges.publish(carrier, [charge("updated", "B1", { total: 300 })])
    // Midnight in Chicago is 06:00 in UTC.
    vi.setSystemTime(new Date("2026-11-21T05:59:59Z"))
    expect(await waybill.runOnce()).toBe(0)
    vi.setSystemTime(new Date("2026-11-21T06:00:00Z"))
    expect(await waybill.runOnce()).toBe(1)
    expect(JSON.parse(receiver.received[0]!.body).map(({ pfc }: any) => `${pfc.uniqueID} ${pfc.header.function}`)).toEqual(["B1 PFC2", "B2 PFC1"])
  })

  it("close with `start` as well", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-11-20T10:20:00Z") })
    const receiver = await startReceiver()
    const waybill = await startWithTenant({ egressAllow: ["127.0.0.0/8"] })
    await waybill.chargeSubscriptions.create(customer, { webhookUrl: receiver.url, accounts: ["A1"], dataOptions: {}, frequency: "hourly" })
    await waybill.freightCharges.publish(carrier, [charge("created", "B1")])
    vi.setSystemTime(new Date("2026-11-20T11:00:00Z"))
    await waybill.start()
    expect(JSON.parse((await receiver.until(1))[0]!.body).length).toBe(1)
  })
})

describe("retention", () => {
  afterEach(() => void vi.useRealTimers())

  it("removes expired data with `start`", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-11-20T10:20:00Z") })
    const waybill = await startWithTenant({ retention: { keepDeliveredShipmentsMillis: 3_600_000, keepEndedBillsMillis: undefined as never } })
    await waybill.shipments.register(carrier, [movingShipment("OLD", { ShipmentMilestoneStatus: "Delivered" }), movingShipment("NEW")])
    vi.setSystemTime(new Date("2026-11-20T12:20:00Z"))
    await waybill.start()
    await vi.waitFor(async () => expect(await rejection(waybill.shipments.record(carrier, "OLD"))).toMatchObject({ code: "shipment_not_found" }))
    expect(await waybill.shipments.record(carrier, "NEW")).toMatchObject({ covered: true })
  })
})
