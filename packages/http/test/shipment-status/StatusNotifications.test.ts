import { Receiver } from "@waybill/testkit"
import { describe, expect, it } from "vitest"
import { operatorKey, reportedEvent, runningService } from "../TestService.ts"
import { movingShipment, reportedShipment } from "./ShipmentSamples.ts"

const service = await runningService()
const acme = await service.tenant("acme")
const owner = await acme.customer("shop", ["A1"])

const subscribe = (body: unknown, key: string | undefined = owner) => service.send("POST", "/in-transit/v1/notifications/subscribe", { key, body })

const unsubscribe = (id: string, key: string | undefined = owner) =>
  service.send("DELETE", `/in-transit/v1/notifications/unsubscribe/${id}`, { key, headers: { "x-request-id": "same" } })


describe("subscribing to shipments", () => {
  it("answers 200 with a message and the id for unsubscribing", async () => {
    const answer = await subscribe({ referenceNumbers: ["PRO-1", "not known yet"], webhookUrl: "https://receiver.example/status" })
    expect([answer.status, Object.keys(answer.json).sort()]).toEqual([200, ["message", "transactionId"]])
    const ended = await unsubscribe(answer.json.transactionId)
    expect([ended.status, ended.json]).toEqual([200, { message: expect.any(String), transactionId: answer.json.transactionId }])
    expect((await unsubscribe(answer.json.transactionId)).status).toBe(404)
  })

  it.each([
    ["nothing", {}, "referenceNumbers"],
    ["no reference", { referenceNumbers: [], webhookUrl: "https://receiver.example/" }, "referenceNumbers"],
    ["an empty reference", { referenceNumbers: ["A", " "], webhookUrl: "https://receiver.example/" }, "referenceNumbers"],
    ["references that are no text", { referenceNumbers: [1], webhookUrl: "https://receiver.example/" }, "referenceNumbers"],
    ["too many", { referenceNumbers: Array.from({ length: 1001 }, (_, n) => `R${n}`), webhookUrl: "https://receiver.example/" }, "referenceNumbers"],
    ["no address", { referenceNumbers: ["A"] }, "webhookUrl"],
    ["plain http", { referenceNumbers: ["A"], webhookUrl: "http://receiver.example/" }, "webhookUrl"],
    ["no address at all", { referenceNumbers: ["A"], webhookUrl: "receiver" }, "webhookUrl"],
    ["a secret that is not registered", { referenceNumbers: ["A"], webhookUrl: "https://receiver.example/", hmacSecretId: "other" }, "hmacSecretId"]
  ])("refuses %s and names the location", async (_what, body, name) => {
    const answer = await subscribe(body)
    expect([answer.status, answer.json]).toEqual([400, { message: expect.stringContaining(name) }])
  })

  it("requires credentials, and refuses an operator's", async () => {
    const body = { referenceNumbers: ["A"], webhookUrl: "https://receiver.example/" }
    for (const key of ["wrong", operatorKey]) {
      expect([key, (await subscribe(body, key)).status, (await unsubscribe("x", key)).status]).toEqual([key, 401, 401])
    }
    const bare = await service.send("POST", "/in-transit/v1/notifications/subscribe", { body })
    expect([bare.status, Object.keys(bare.json)]).toEqual([401, ["message"]])
    expect((await service.send("DELETE", "/in-transit/v1/notifications/unsubscribe/x")).status).toBe(401)
  })

  it.each(["1", "%00", "%F0%9F%98%80", "a%2Fb", "x".repeat(300)])("answers 404 to the id %s", async (id) => {
    expect((await unsubscribe(id)).status).toBe(404)
  })
})

describe("a status notification", () => {
  it("has one of the two shapes, in the published spelling, one per call and in order", async () => {
    const url = "https://receiver.example/both"
    await subscribe({ referenceNumbers: ["po-n1"], webhookUrl: url })
    await acme.register(reportedShipment("N1", { accounts: ["A1"] }))
    await acme.update(
      { shipmentId: "N1", shipmentMilestoneStatus: "Picked-up", occurredAt: "2026-11-18T20:00:00Z" },
      {
        shipmentId: "N1",
        shipmentMilestoneStatus: "In Transit",
        terminalStatus: "Arrived",
        terminaltype: "origin",
        terminalAddress: { TerminalID: "BOS" },
        occurredAt: "2026-11-18T22:00:00Z"
      },
      { proNumber: "pro n1", deliveryInformation_messages: "Appointment Update", appointmentStatus: "appointment scheduled", appointmentDate: "2026-11-21T10:00:00-06:00", occurredAt: "2026-11-19T08:00:00Z" }
    )
    await service.deliver()
    const received = await service.received(url)
    expect(received.map(({ json }) => json.shipmentMilestoneStatus ?? json.deliveryInformation_messages)).toEqual(["Picked-up", "In Transit", "Appointment Update"])
    const [pickedUp, arrived, appointment] = received.map(({ json }) => json)
    expect(pickedUp).toMatchObject({
      proNumber: "PRO-N1",
      shipmentReferenceNumbers: { bolNumber: "BOL-N1", poNumber: "PO-N1" },
      TimeZoneOfShipment: null,
      UpdatedETA: "2026-11-21",
      notificationMessage: expect.stringMatching(/\S/)
    })
    expect(arrived).toMatchObject({ terminalStatus: "Arrived", terminaltype: "origin", terminalAddress: { TerminalID: "BOS" } })
    expect(appointment).toMatchObject({
      proNumber: "PRO-N1",
      shipmentReferenceNumbers: { bolNumber: "BOL-N1" },
      appointmentStatus: "appointment scheduled",
      appointmentDate: "2026-11-21T10:00:00-06:00"
    })
    for (const field of ["shipmentMilestoneStatus", "countsToDelivery", "PartnerCarrierName"]) expect(Object.keys(appointment)).not.toContain(field)
    for (const field of ["deliveryInformation_messages", "countsToDelivery"]) expect(Object.keys(pickedUp)).not.toContain(field)
    expect(new Set(received.map(({ headers }) => headers["webhook-id"])).size).toBe(3)
  })

  it("counts down the last three stops, and names the partner of an interline shipment", async () => {
    const url = "https://receiver.example/counts"
    await subscribe({ referenceNumbers: ["N2"], webhookUrl: url })
    await acme.register(movingShipment("N2", { accounts: ["A1"] }))
    await acme.update({
      shipmentId: "N2",
      shipmentMilestoneStatus: "Interline",
      PartnerCarrierName: "Partner Freight",
      PartnerCarrierSCAC: "PRTN",
      UpdatedPro: "P-77",
      occurredAt: "2026-11-20T08:00:00Z"
    })
    await acme.update({ shipmentId: "N2", shipmentMilestoneStatus: "Out for Delivery", occurredAt: "2026-11-20T09:00:00Z" })
    for (const countsToDelivery of [3, 2, 1]) {
      await acme.update({ shipmentId: "N2", shipmentMilestoneStatus: "Out for Delivery", countsToDelivery, occurredAt: `2026-11-20T1${3 - countsToDelivery}:00:00Z` })
    }
    await service.deliver()
    const bodies = (await service.received(url)).map(({ json }) => json)
    expect(bodies.find((body) => body.shipmentMilestoneStatus === "Interline")).toMatchObject({
      PartnerCarrierName: "Partner Freight",
      PartnerCarrierSCAC: "PRTN",
      UpdatedPro: "P-77"
    })
    expect(bodies.flatMap((body) => "countsToDelivery" in body ? [body.countsToDelivery] : [])).toEqual([3, 2, 1])
    const verified = await service.send("GET", "/in-transit/v1/shipment/pro/P-77/verified", { key: owner })
    expect(verified.json).toMatchObject({ OFDStopsAway: 1, UpdatedPro: "P-77", PartnerCarrierName: "Partner Freight", PartnerCarrierSCAC: "PRTN" })
  })

  it("is unsigned until a secret is registered for the client, and signed from then on", async () => {
    const url = "https://receiver.example/signing"
    const signer = await acme.customer("signer", ["A1"])
    await subscribe({ referenceNumbers: ["N3"], webhookUrl: url }, signer)
    await acme.register(movingShipment("N3", { accounts: ["A1"] }))
    await service.deliver()
    await service.send("PUT", "/operator/v1/tenants/acme/secrets/client:signer", { key: operatorKey, body: {} })
    await acme.update({ shipmentId: "N3", shipmentMilestoneStatus: "Out for Delivery", occurredAt: "2026-11-20T09:00:00Z" })
    await service.deliver()
    const [unsigned, signed] = await service.received(url)
    expect(unsigned!.headers).toMatchObject({ "webhook-id": expect.any(String), "webhook-timestamp": expect.stringMatching(/^\d{10}$/), "content-type": "application/json" })
    expect(Object.keys(unsigned!.headers)).not.toContain("webhook-signature")
    expect(signed!.headers["webhook-signature"]).toMatch(/^v1,[A-Za-z0-9+/]{43}=$/)
  })

  it("is sent only to subscribers with access, in its own tenant", async () => {
    const rival = await service.tenant("rival-of-acme")
    await rival.follow(rival.carrier, "N4")
    const stranger = await acme.customer("stranger", ["A9"])
    await subscribe({ referenceNumbers: ["N4"], webhookUrl: "https://receiver.example/stranger" }, stranger)
    await acme.register(movingShipment("N4", { accounts: ["A1"] }))
    await service.deliver()
    expect(await service.received("https://rival-of-acme.example/status")).toEqual([])
    expect(await service.received("https://receiver.example/stranger")).toEqual([])
    await acme.register(movingShipment("N4", { accounts: ["A1", "A9"] }))
    await acme.update({ shipmentId: "N4", shipmentMilestoneStatus: "Out for Delivery", occurredAt: "2026-11-20T09:00:00Z" })
    await service.deliver()
    expect((await service.received("https://receiver.example/stranger")).map(({ json }) => json.shipmentMilestoneStatus)).toEqual(["Out for Delivery"])
  })

  it("is derived from transit events as well", async () => {
    const url = "https://receiver.example/derived"
    await subscribe({ referenceNumbers: ["N5"], webhookUrl: url })
    await acme.register(reportedShipment("N5", { accounts: ["A1"] }))
    await acme.publish(
      reportedEvent("N5", { type: "PICKED_UP", occurredAt: "2026-11-18T20:00:00Z", accounts: ["A1"] }),
      reportedEvent("N5", { type: "OUT_FOR_DELIVERY", occurredAt: "2026-11-20T20:00:00Z" })
    )
    await service.deliver()
    expect((await service.received(url)).map(({ json }) => json.shipmentMilestoneStatus)).toEqual(["Picked-up", "Out for Delivery"])
    const found = await service.send("GET", "/in-transit/v1/shipment/pro/PRO-N5/verified", { key: owner })
    expect(found.json.ShipmentMilestoneStatus).toBe("Out for Delivery")
  })

  it("is retried with the same id until it is accepted, and not after unsubscribing", async () => {
    const url = "https://receiver.example/again"
    await service.script(url, Receiver.fail(500))
    const { json: { transactionId } } = await subscribe({ referenceNumbers: ["N6"], webhookUrl: url })
    await acme.register(movingShipment("N6", { accounts: ["A1"] }))
    await service.deliver()
    const { json: { data: [delivery] } } = await service.send("GET", `/operator/v1/tenants/acme/deliveries?subscriptionId=${transactionId}`, { key: operatorKey })
    expect(delivery.attempts[0].outcome).toBe("http_5xx")
    const [request] = await service.received(url)
    expect(request!.headers["webhook-id"]).toBe(delivery.deliveryId)
    const shown = await service.send("GET", `/operator/v1/tenants/acme/deliveries/${delivery.deliveryId}`, { key: operatorKey })
    expect([shown.json.body, shown.json.endpointUrl]).toEqual([request!.text, url])
    await unsubscribe(transactionId)
    await acme.update({ shipmentId: "N6", shipmentMilestoneStatus: "Out for Delivery", occurredAt: "2026-11-20T09:00:00Z" })
    await service.deliver()
    expect((await service.received(url)).length).toBe(1)
  })
})
