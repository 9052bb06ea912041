/** The client against the service over HTTP, with in-memory storage. */
import { describe, expect, it } from "vitest"
import type { PreliminaryFreightCharge } from "../src/freight-charges/index.ts"
import type { ReportedCharge, ReportedShipment } from "../src/intake/index.ts"
import type { PortalDeliveryQuery, PortalSubscriptionQuery } from "../src/portal/index.ts"
import { DeliveryReceiver, type DeliveryReceiverOptions, type NotificationContext, SeenInMemory } from "../src/receiver/index.ts"
import type { StatusNotification } from "../src/shipment-status/index.ts"
import { pickupBody } from "../src/pickups/PickupRequest.ts"
import { leastOrder } from "./pickup-samples.ts"
import { chargeOf, verifiedShipment } from "./samples.ts"
import { listen, startService } from "./ServiceInMemory.ts"

/** A reachable receiver that records the arguments of its handlers. */
const receiverOf = async (options: Partial<DeliveryReceiverOptions> = {}) => {
  const received: Array<{ readonly notification: StatusNotification; readonly context: NotificationContext }> = []
  const charged: Array<{ readonly charges: ReadonlyArray<PreliminaryFreightCharge>; readonly context: NotificationContext }> = []
  const endpoint = { broken: false }
  const receiver = new DeliveryReceiver({
    unsigned: "accept",
    seen: new SeenInMemory(),
    onStatus: (notification, context) => void received.push({ notification, context }),
    onCharges: (charges, context) => void charged.push({ charges, context }),
    ...options
  })
  const address = await listen(async (request, response) => {
    const chunks: Array<Uint8Array> = []
    for await (const chunk of request) chunks.push(chunk as Uint8Array)
    const answer = endpoint.broken ? { status: 410, headers: {}, body: "" } : await receiver.answer({ headers: request.headers, body: Buffer.concat(chunks) })
    response.writeHead(answer.status, answer.headers).end(answer.body)
  })
  return { received, charged, endpoint, webhookUrl: `${address}/hook` }
}

const { ShipmentMilestoneStatus: _milestone, ...described } = verifiedShipment
const shipment: ReportedShipment = {
  ...described, shipmentId: "S/1", accounts: ["4711"], pickupDate: "2026-11-18", ShipmentMilestoneStatus: "Picked-up", OFDStopsAway: null, Late: false,
  DelayReasonCode: null, occurredAt: "2020-01-01T16:00:00-06:00"
}
/** Without a version: the service counts versions. */
const version = (uniqueID: string, total: number): ReportedCharge => {
  const { charges: { changeLog: _log, changeLogMessages: _messages, ...charges }, pfc: { function: _function, header: _header, ...pfc }, ...rest } = chargeOf(uniqueID, 1)
  return { ...rest, pfc, charges: { ...charges, preliminaryTotalCharges: total } }
}

describe("Client and service agree", () => {
  it("on lookups by every identifier: all fields for the owner, four for others and anonymous callers", async () => {
    const { broker, carrier, shipper, anonymous } = await startService()
    expect(await carrier.intake.registerShipments([shipment])).toEqual({ results: [{ index: 0, result: "accepted", shipmentId: "S/1" }] })
    expect(await carrier.intake.registerShipments([shipment])).toEqual({ results: [{ index: 0, result: "duplicate", shipmentId: "S/1" }] })
    const lookups = [
      { proNumber: "0418367745" }, { bolNumber: "B/1", originPostalCode: "68102" }, { poNumber: "p1", destinationPostalCode: "74103" }
    ] as const
    for (const by of lookups) {
      const own = await shipper.shipments.verified(by)
      expect(own).toMatchObject({ view: "verified", shipment: { ProNumber: "041-8367745", ReferenceNumbers: { bolNumber: "B/1" }, ShipmentMilestoneStatus: "Picked-up" } })
      const foreign = await broker.shipments.verified(by)
      expect(foreign.view).toBe("public")
      expect(Object.keys(foreign.shipment).toSorted()).toEqual(["EstimatedStandardDay", "ProNumber", "ShipmentMilestoneStatus", "UpdatedETA"])
      expect(await anonymous.public(by)).toEqual(foreign.shipment)
    }
    await expect(anonymous.verified(lookups[0])).rejects.toMatchObject({ status: 401, detail: expect.any(String) })
    await expect(shipper.shipments.verified({ proNumber: "9" })).rejects.toMatchObject({ status: 404, code: "", detail: expect.stringContaining("9") })
  })

  it("on the carrier's work list of pickups and subscriptions to it", async () => {
    const { carrier, operator, waybill } = await startService()
    await operator.putSecret("acme", "main", { anyClient: true })
    const { intake } = carrier
    const subscription = { topics: ["pickups"], endpointUrl: "https://carrier.example/pickups", hmacSecretId: "main" } as const
    const created = await intake.createSubscription(subscription)
    expect(await intake.getSubscription(created.id)).toEqual(created)
    const paused = await intake.updateSubscription(created.id, { status: "paused", delivery: { maxAttempts: 3 } })
    expect(paused).toMatchObject({ ...subscription, status: "paused", delivery: { maxAttempts: 3 } })
    expect((await intake.listSubscriptions({ limit: 1 })).data).toEqual([paused])
    const shipper = { tenantId: "acme", client: "shipper", roles: ["customer"], accounts: ["4711"] } as const
    const [answer] = await waybill.pickups.create(shipper, { ...pickupBody({ ...leastOrder, readyDate: "2099-11-20" }, null) } as never)
    const { data, nextCursor } = await intake.listPickupChanges({ since: new Date(0), status: "Accepted" })
    expect(data).toMatchObject([{ change: "ordered", confirmationNumber: answer!.carrierPickupNumber, status: "Accepted" }])
    expect(await intake.listPickupChanges({ cursor: nextCursor })).toEqual({ data: [], nextCursor })
    await expect(intake.decidePickup(data[0]!.pickupId, { decision: "accept" })).rejects.toMatchObject({ status: 409, code: "pickup_decided" })
    const { pickupId } = data[0]!
    const listed = (await operator.listPickups("acme")).data
    expect(listed).toMatchObject([{ pickupId, confirmationNumber: answer!.carrierPickupNumber, status: "Accepted", client: "key:shipper", waitingFor: null, readyWindow: { readyDate: expect.any(String) } }])
    expect(await operator.listPickups("acme", { state: "waiting" })).toEqual({ data: [], nextCursor: null })
    await expect(operator.decidePickup("acme", pickupId, { decision: "accept" })).rejects.toMatchObject({ status: 409, code: "pickup_decided" })
    await intake.deleteSubscription(created.id)
    await expect(intake.getSubscription(created.id)).rejects.toMatchObject({ status: 404 })
  })

  it("on shipments picked up for an account", async () => {
    const { carrier, shipper } = await startService()
    await carrier.intake.registerShipments([shipment])
    const ids = (range: { readonly startDate: string | Date; readonly endDate: string | Date }) =>
      shipper.shipments.pickedUp("4711", range).then((found) => found.map(({ UniqueID }) => UniqueID))
    expect(await ids({ startDate: "2026-11-18", endDate: "2026-11-18" })).toEqual([verifiedShipment.UniqueID])
    expect(await ids({ startDate: new Date("2026-11-01T00:00:00Z"), endDate: "2026-11-30T00:00:00+02:00" })).toEqual([verifiedShipment.UniqueID])
    expect(await ids({ startDate: "2026-11-19", endDate: "2026-11-20" })).toEqual([])
    await expect(shipper.shipments.pickedUp("9", { startDate: "2026-11-18", endDate: "2026-11-18" })).rejects.toMatchObject({ status: 404 })
    await expect(ids({ startDate: "2026-11-20", endDate: "2026-11-18" })).rejects.toMatchObject({ status: 400, detail: expect.stringContaining("startDate") })
  })

  it("on reports, their refusals, and the shipment record", async () => {
    const { carrier, shipper } = await startService()
    await carrier.intake.registerShipments([shipment])
    const moved = { shipmentId: "S/1", occurredAt: "2020-01-02T08:00:00-06:00", updateId: "u-1", shipmentMilestoneStatus: "In Transit" } as const
    const wrong = { proNumber: "041-8367745", occurredAt: "2020-01-02T09:00:00-06:00", shipmentMilestoneStatus: "Picked-up" } as const
    expect(await carrier.intake.reportStatus([moved, wrong], { partial: true })).toEqual({
      results: [
        { index: 0, result: "accepted", shipmentId: "S/1", eventId: expect.any(String), outcome: "applied", notified: ["In Transit"] },
        { index: 1, result: "error", errors: [expect.objectContaining({ pointer: "/updates/1/shipmentMilestoneStatus", detail: expect.stringContaining("back to Picked-up") })] }
      ]
    })
    expect((await carrier.intake.reportStatus([moved])).results).toMatchObject([{ result: "duplicate" }])
    await expect(carrier.intake.reportStatus([wrong])).rejects.toMatchObject({ status: 400, errors: [expect.objectContaining({ pointer: "/updates/0/shipmentMilestoneStatus" })] })
    const record = await carrier.intake.getShipmentRecord("S/1")
    expect(record).toMatchObject({ shipmentId: "S/1", accounts: ["4711"], covered: true, shipment: { ShipmentMilestoneStatus: "In Transit" } })
    expect(record.history.at(-1)).toMatchObject({ position: expect.any(Number), occurredAt: moved.occurredAt, outcome: "applied", report: expect.any(Object) })
    await expect(shipper.intake.getShipmentRecord("S/1")).rejects.toMatchObject({ status: 403 })
  })

  it("on notifications: unsigned at first, signed once a secret exists, none after unsubscribing", async () => {
    const { carrier, operator, shipper, waybill } = await startService()
    const current: Array<string> = []
    const receiver = await receiverOf()
    await carrier.intake.registerShipments([shipment])
    const { message, transactionId } = await shipper.shipments.subscribe({ referenceNumbers: ["041-8367745"], webhookUrl: receiver.webhookUrl })
    expect([message, transactionId]).toEqual([expect.any(String), expect.any(String)])
    const move = async (shipmentMilestoneStatus: "In Transit" | "Out for Delivery" | "Delivered") => {
      await carrier.intake.reportStatus([{ shipmentId: "S/1", shipmentMilestoneStatus }])
      await waybill.runOnce()
    }
    await move("In Transit")
    current.push((await operator.putSecret("acme", "client:shipper")).secret)
    await move("Out for Delivery")
    expect(receiver.received.map(({ context, notification }) => ["shipmentMilestoneStatus" in notification && notification.shipmentMilestoneStatus, context.signed]))
      .toEqual([["In Transit", false], ["Out for Delivery", false]])
    const strict = await receiverOf({ unsigned: "refuse", secrets: () => current })
    await shipper.shipments.subscribe({ referenceNumbers: ["B/1"], webhookUrl: strict.webhookUrl })
    await shipper.shipments.unsubscribe(transactionId)
    await expect(shipper.shipments.unsubscribe("0199-unknown")).rejects.toMatchObject({ status: 404 })
    await move("Delivered")
    expect(receiver.received).toHaveLength(2)
    expect(strict.received).toEqual([{ notification: expect.objectContaining({ shipmentMilestoneStatus: "Delivered" }), context: { deliveryId: expect.any(String), signed: true } }])
  })

  it("on freight charges: subscribing, bills in flight, versions, cancelling", async () => {
    const { broker, carrier, shipper, waybill } = await startService()
    const receiver = await receiverOf()
    expect(await carrier.intake.publishFreightCharges([{ change: "created", pfc: version("B1", 100) }])).toEqual({ results: [{ index: 0, result: "accepted", uniqueID: "B1", version: 1 }] })
    const wanted = { webhookUrl: receiver.webhookUrl, accounts: ["4711"], dataOptions: {} }
    const created = await shipper.charges.create(wanted)
    expect(created).toMatchObject({ ...wanted, dataOptions: { shipmentDataType: "revenue_impacts_only" }, frequency: "real_time", includeEventLog: true, status: "active" })
    expect(await shipper.charges.get(created.subscriptionId)).toEqual(created)
    await expect(shipper.charges.create(wanted)).rejects.toMatchObject({ status: 409, code: "SUBSCRIPTION_CONFLICT", details: { accountId: "4711", subscriptionId: created.subscriptionId } })
    await expect(broker.charges.create(wanted)).rejects.toMatchObject({ status: 403, code: "FORBIDDEN" })
    await expect(broker.charges.get(created.subscriptionId)).rejects.toMatchObject({ status: 404, code: "NOT_FOUND", details: { value: created.subscriptionId } })
    await expect(shipper.charges.create({ ...wanted, accounts: [] })).rejects.toMatchObject({
      status: 400, code: "INVALID_REQUEST", errors: [{ field: "accounts", detail: expect.any(String) }], details: { field: "accounts" }
    })
    expect((await shipper.charges.inFlight(created.subscriptionId)).map(({ pfc }) => [pfc.uniqueID, pfc.header.function])).toEqual([["B1", "PFC1"]])
    const changes = [{ change: "updated", pfc: version("B1", 120) }, { change: "removed", pfc: { pfc: { uniqueID: "B1" } } }] as const
    expect((await carrier.intake.publishFreightCharges(changes)).results).toMatchObject([{ result: "accepted", version: 2 }, { result: "accepted", version: 3 }])
    await waybill.runOnce()
    const received = receiver.charged.flatMap(({ charges }) => charges)
    expect(received.map(({ charges, pfc }) => [pfc.header.function, charges.preliminaryTotalCharges])).toEqual([["PFC2", 120], ["PFC3", 0]])
    await shipper.charges.cancel(created.subscriptionId)
    await shipper.charges.cancel(created.subscriptionId)
    expect((await shipper.charges.get(created.subscriptionId)).status).toBe("inactive")
  })

  it("on webhook tests and how they resume a suspended subscription", async () => {
    const { carrier, operator, shipper, waybill } = await startService()
    const receiver = await receiverOf()
    const { webhookUrl, endpoint } = receiver
    const { subscriptionId } = await shipper.charges.create({ webhookUrl, accounts: ["4711"], dataOptions: {} })
    const suspend = async (uniqueID: string) => {
      endpoint.broken = true
      await carrier.intake.publishFreightCharges([{ change: "created", pfc: version(uniqueID, 100) }])
      await waybill.runOnce()
      expect((await shipper.charges.get(subscriptionId)).status).toBe("suspended")
    }
    await suspend("B1")
    await expect(shipper.charges.testWebhook({ webhookUrl })).rejects.toMatchObject({ status: 400, code: "INVALID_REQUEST", detail: expect.any(String) })
    endpoint.broken = false
    expect(await shipper.charges.testWebhook({ webhookUrl })).toEqual({ message: expect.any(String), resumed: 1 })
    expect(receiver.charged.map(({ charges }) => charges.map(({ pfc }) => pfc.isTest))).toEqual([[true]])
    expect((await shipper.charges.get(subscriptionId)).status).toBe("active")
    await suspend("B2")
    endpoint.broken = false
    expect(await operator.resume("acme", subscriptionId)).toMatchObject({ subscriptionId, state: "active" })
    await expect(operator.resume("acme", "0199-unknown")).rejects.toMatchObject({ status: 404 })
  })

  it("on the webhooks of pickups, and on test events", async () => {
    const { carrier, operator, portalOf, shipper, waybill } = await startService()
    const taken: Array<unknown> = []
    const secrets: Array<string> = []
    const { webhookUrl } = await receiverOf({
      unsigned: "refuse",
      secrets: () => secrets,
      onPickups: (changes, { signed }) => void taken.push(...changes.map(({ change, status }) => [change, status, signed])),
      onTest: ({ type }, { signed }) => void taken.push([type, signed])
    })
    secrets.push((await operator.putSecret("acme", "main", { anyClient: true })).secret)
    await carrier.intake.createSubscription({ topics: ["pickups"], endpointUrl: webhookUrl, hmacSecretId: "main" })
    await shipper.pickups.create(leastOrder)
    await waybill.runOnce()
    const portal = await portalOf("shipper")
    const { subscriptionId } = await shipper.charges.create({ webhookUrl, accounts: ["4711"], dataOptions: {}, hmacSecretId: "main" })
    expect(await portal.sendTest(subscriptionId)).toMatchObject({ accepted: true, status: 200 })
    expect(taken).toEqual([["ordered", "Accepted", true], ["webhook.test", true]])
  })

  it("on the operator's reads: tenants, subscriptions and shipments", async () => {
    const { carrier, operator, shipper, waybill } = await startService()
    await operator.putTenant("beta", { name: "Beta", hosts: ["beta.test"] })
    const tenants: Array<string> = []
    for await (const { tenantId } of operator.allTenants({ limit: 1 })) tenants.push(tenantId)
    expect(tenants).toEqual(["acme", "beta"])

    const { webhookUrl } = await receiverOf()
    const { secret } = await operator.putSecret("acme", "own", { client: "shipper" })
    expect((await operator.putSecret("acme", "own", { accounts: ["4711"], rotate: false })).secret).toBe(secret)
    const { transactionId } = await shipper.shipments.subscribe({ referenceNumbers: ["041-8367745"], webhookUrl, hmacSecretId: "own" })
    const secrets: Array<unknown> = []
    for await (const { accounts, anyClient, client, hmacSecretId, usedBy } of operator.allSecrets("acme", { limit: 1 })) secrets.push([hmacSecretId, client, accounts, anyClient, usedBy])
    expect(secrets).toContainEqual(["own", null, ["4711"], false, 1])
    await expect(operator.deleteSecret("acme", "own")).rejects.toMatchObject({ status: 409, code: "secret_in_use" })
    await carrier.intake.registerShipments([shipment])
    await waybill.runOnce()
    const { data: [destination] } = await operator.listSubscriptions("acme", { state: "active" })
    expect(destination).toMatchObject({ subscriptionId: transactionId, area: "shipment-status", client: "key:shipper", endpointUrl: webhookUrl, waiting: 0, inFlight: 0, dead: 0 })
    expect(destination!.lastAttempt).toMatchObject({ outcome: "accepted", status: expect.any(Number) })

    for (const reference of ["S/1", "0418367745", "B/1"]) {
      expect(await operator.findShipments("acme", reference)).toMatchObject([{ shipmentId: "S/1", proNumber: "041-8367745", bolNumber: "B/1", status: "Picked-up" }])
    }
    expect(await operator.findShipments("beta", "S/1")).toEqual([])
    const journey = await operator.getJourney("acme", "S/1")
    expect(journey).toMatchObject({ shipmentId: "S/1", proNumber: "041-8367745", accounts: ["4711"], truncated: false, deliveriesSince: null })
    expect(journey.entries.map(({ area, kind }) => [area, kind])).toEqual([["shipment-status", "Picked-up"]])
    expect(journey.deliveries).toMatchObject([{ subscriptionId: transactionId, area: "shipment-status", state: "delivered" }])
    await expect(operator.getJourney("beta", "S/1")).rejects.toMatchObject({ status: 404, code: "shipment_not_found" })
    expect((await operator.listDeliveries("acme", { order: "newest" })).data).toHaveLength(1)
  })

  it("on every filter of the portal's lists", async () => {
    const { portalOf } = await startService()
    const portal = await portalOf("shipper")
    const id = "0199-unknown"
    const deliveries: Required<PortalDeliveryQuery> = { state: "dead", subscriptionId: id, since: new Date(0), order: "oldest", cursor: undefined, limit: 1 }
    const subscriptions: Required<PortalSubscriptionQuery> = { subscriptionId: [id], state: "active", cursor: undefined, limit: 1 }
    expect(await portal.listDeliveries(deliveries)).toEqual({ data: [], nextCursor: null })
    expect(await portal.listSubscriptions(subscriptions)).toEqual({ data: [], nextCursor: null })
  })
})
