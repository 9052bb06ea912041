import { documentsSample, invoiceSample, pickupRequest } from "@waybill/testkit"
import { describe, expect, it } from "vitest"
import { charge } from "../freight-charges/FreightChargeSamples.ts"
import { movingShipment } from "../shipment-status/ShipmentSamples.ts"
import { operatorKey, runningService } from "../TestService.ts"

const service = await runningService()
const acme = await service.tenant("acme")

/** The service throws when a response, an accepted request or a notification is not as the document describes it. */
describe("the calls of every area", () => {
  /** Responses, errors and notifications of the two areas with their own formats. */
  const expectStatusAndCharges = async () => {
    const shop = await acme.customer("shop", ["A1"])
    const stranger = await acme.customer("stranger", ["A9"])
    const status = "/in-transit/v1"
    const { json: { subscriptionId } } = await acme.subscribeToCharges(shop, ["A1"])
    const { json: { transactionId } } = await acme.follow(shop, "nothing")
    await acme.follow(shop, "S9")
    const calls: ReadonlyArray<readonly [number, string, string, string, unknown?]> = [
      [200, "POST", "/intake/v1/shipments?partial=true", acme.carrier, { shipments: [{}, movingShipment("S9", { accounts: ["A1"] })] }],
      [200, "POST", "/intake/v1/status-updates?partial=true", acme.carrier, { updates: [
        {},
        { shipmentId: "S9", shipmentMilestoneStatus: "Out for Delivery", countsToDelivery: 3, occurredAt: "2026-11-20T09:00:00Z" },
        { shipmentId: "S9", deliveryInformation_messages: "Accessorial added", occurredAt: "2026-11-20T09:30:00Z" }
      ] }],
      [200, "GET", "/intake/v1/shipments/S9", acme.carrier],
      [200, "POST", "/intake/v1/freight-charges?partial=true", acme.carrier, { charges: [{}, charge("created", "B9")] }],
      [200, "GET", `${status}/shipment/pro/PRO-S9/verified`, shop],
      [202, "GET", `${status}/shipment/pro/PRO-S9/verified`, stranger],
      [404, "GET", `${status}/shipment/pro/PRO-S0/verified`, shop],
      [401, "GET", `${status}/shipment/pro/PRO-S9/verified`, "wrong"],
      [200, "GET", `${status}/shipment/pro/PRO-S9/public`, shop],
      [200, "GET", `${status}/shipment/po/A1/2026-11-01/2026-11-30/verified`, shop],
      [401, "GET", `${status}/shipment/po/A1/2026-11-01/2026-11-30/verified`, stranger],
      [200, "DELETE", `${status}/notifications/unsubscribe/${transactionId}`, shop],
      [200, "POST", `${status}/notifications/subscribe`, shop, { referenceNumbers: ["S9"], webhookUrl: "https://receiver.example/" }],
      [200, "GET", `/pfc/v1/subscriptions/${subscriptionId}`, shop],
      [404, "GET", `/pfc/v1/subscriptions/${subscriptionId}`, stranger],
      [409, "POST", "/pfc/v1/subscriptions", shop, { webhookUrl: "https://receiver.example/", accounts: ["A1"], dataOptions: {} }],
      [403, "POST", "/pfc/v1/subscriptions", stranger, { webhookUrl: "https://receiver.example/", accounts: ["A1"], dataOptions: {} }],
      [400, "POST", "/pfc/v1/subscriptions", shop, {}],
      [200, "GET", `/pfc/v1/subscriptions/${subscriptionId}/inflight`, shop],
      [200, "POST", "/pfc/webhooks/test", shop, { webhookUrl: "https://receiver.example/" }],
      [200, "POST", `/operator/v1/tenants/acme/subscriptions/${subscriptionId}/resume`, operatorKey]
    ]
    for (const [expected, method, path, key, body] of calls) {
      const answer = await service.send(method, path, { key, ...(body === undefined ? {} : { body }) })
      expect([method, path, answer.status, answer.text]).toEqual([method, path, expected, answer.text])
    }
    await service.deliver()
    expect((await service.received("https://acme.example/status")).length).toBeGreaterThanOrEqual(3)
    expect((await service.received("https://acme.example/charges")).length).toBeGreaterThanOrEqual(1)
  }

  /** The same for invoices, documents and pickups. */
  const expectInvoicesAndPickups = async () => {
    const shop = await acme.customer("buyer", ["A1"])
    const invoice = invoiceSample({ accounts: ["A1"], total: "1" })
    const upload = documentsSample({ accounts: ["A1"], documents: [{ documentType: "POD", files: ["JVBERi0="] }] })
    const asked = pickupRequest({ day: "2099-11-20" })
    const number = (await service.send("POST", "/pickup/v1/pickups/", { key: shop, body: asked })).json[0].carrierPickupNumber
    const look = (value: string) => `/pickup/v1/pickups/?lookupValue=${value}&lookupType=PickupConfirmationID&requestType=Status&isTest=false`
    const calls: ReadonlyArray<readonly [number, string, string, string, unknown?]> = [
      [200, "POST", "/invoicing/invoices", acme.carrier, invoice],
      [400, "POST", "/invoicing/invoices", acme.carrier, {}],
      [401, "POST", "/invoicing/invoices", "wrong", {}],
      [403, "POST", "/invoicing/invoices", shop, invoice],
      [200, "GET", "/invoicing/invoices", shop],
      [200, "GET", "/invoicing/invoices/INV-1", shop],
      [404, "GET", "/invoicing/invoices/INV-0", shop],
      [200, "PUT", "/invoicing/invoices/INV-1", acme.carrier, invoice],
      [201, "POST", "/invoicing/documents", acme.carrier, upload],
      [413, "POST", "/invoicing/documents", acme.carrier, { ...upload, note: "x".repeat(2 ** 20) }],
      [200, "GET", "/invoicing/documents", shop],
      [200, "GET", "/invoicing/documents/4711", shop],
      [200, "DELETE", "/invoicing/documents/4711", acme.carrier],
      [404, "DELETE", "/invoicing/documents/4711", acme.carrier],
      [200, "DELETE", "/invoicing/invoices/INV-1", acme.carrier],
      [200, "POST", "/pickup/v1/pickups/", shop, asked],
      [400, "POST", "/pickup/v1/pickups/", shop, {}],
      [200, "PUT", `/pickup/v1/pickups/${number}`, shop, pickupRequest({ day: "2099-11-21", number })],
      [200, "GET", look(number), shop],
      [401, "GET", look(number), "wrong"],
      [200, "POST", `/intake/v1/pickups/${number}/status`, acme.carrier, { status: "En Route", equipmentInformation: { gpsCoordinates: { latitude: 1, longitude: 2 } } }],
      [200, "GET", look(number), shop],
      [200, "GET", `/intake/v1/pickups/${number}`, acme.carrier]
    ]
    for (const [expected, method, path, key, body] of calls) {
      const answer = await service.send(method, path, { key, ...(body === undefined ? {} : { body }) })
      expect([method, path, answer.status, answer.text]).toEqual([method, path, expected, answer.text])
    }
  }

  it("are as the OpenAPI document describes them", async () => {
    const created = await acme.subscribe(acme.carrier, { filters: { eventTypes: ["DELAY"] } })
    await service.deliver()
    const calls: ReadonlyArray<readonly [string, string, unknown?]> = [
      ["POST", "/intake/v1/transit-events?partial=true", { events: [{ type: "DELAY" }, { type: "DELAY", occurredAt: "2026-11-20T08:15:00Z", shipment: { shipmentId: "S1", origin: {}, destination: {} } }] }],
      ["GET", "/visibility/v1/events"],
      ["GET", "/visibility/v1/subscriptions"],
      ["GET", `/visibility/v1/subscriptions/${created.json.id}`],
      ["PUT", "/operator/v1/tenants/acme", { name: "acme" }],
      ["POST", "/operator/v1/tenants/acme/api-keys", { name: "x", roles: ["customer"] }],
      ["PUT", "/operator/v1/tenants/acme/secrets/x", { client: "x" }],
      ["GET", "/operator/v1/tenants/acme/secrets"],
      ["GET", "/operator/v1/tenants/acme/deliveries"],
      ["GET", `/operator/v1/tenants/acme/subscriptions/${created.json.id}`],
      ["POST", `/operator/v1/tenants/acme/subscriptions/${created.json.id}/replay`, { from: "2020-01-01T00:00:00Z" }]
    ]
    for (const [method, path, body] of calls) {
      const answer = await service.send(method, path, { key: path.startsWith("/operator") ? operatorKey : acme.carrier, ...(body === undefined ? {} : { body }) })
      expect([path, answer.status < 300]).toEqual([path, true])
      await service.deliver()
    }
    await expectStatusAndCharges()
    await expectInvoicesAndPickups()
    expect((await service.send("GET", "/visibility/v1/events?page=0", { key: acme.carrier })).status).toBe(400)
  })
})
