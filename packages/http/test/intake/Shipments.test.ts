import { describe, expect, it } from "vitest"
import { movingShipment, reportedShipment } from "../shipment-status/ShipmentSamples.ts"
import { problemCode, runningService } from "../TestService.ts"

const service = await runningService()
const acme = await service.tenant("acme")
const customer = await acme.customer("shop", ["A1"])

const post = (call: string, body: unknown, { key = acme.carrier, query = "" } = {}) => service.send("POST", `/intake/v1/${call}${query}`, { key, body })

const record = (shipmentId: string, key: string | undefined = acme.carrier) =>
  service.send("GET", `/intake/v1/shipments/${shipmentId}`, { key, headers: { "x-request-id": "same" } })

describe("POST /shipments", () => {
  it("answers per item, in order", async () => {
    await acme.register(reportedShipment("I1"))
    const answer = await acme.register(reportedShipment("I2"), reportedShipment("I1"), reportedShipment("I1", { GrossWeight: 7 }))
    expect([answer.status, answer.json.results]).toEqual([200, [
      { index: 0, result: "accepted", shipmentId: "I2" },
      { index: 1, result: "duplicate", shipmentId: "I1" },
      { index: 2, result: "accepted", shipmentId: "I1" }
    ]])
  })
})

describe("GET /shipments/{shipmentId}", () => {
  it("returns the full record to carriers: fields, accounts and the outcome of each report", async () => {
    await acme.register(movingShipment("G/1 ", { shipmentId: "G/1", accounts: ["A1"] }))
    await acme.update({ shipmentId: "G/1", shipmentMilestoneStatus: "Out for Delivery", occurredAt: "2026-11-20T09:00:00Z" })
    const answer = await record("G%2F1")
    expect(answer.status).toBe(200)
    expect(answer.json).toMatchObject({ shipmentId: "G/1", accounts: ["A1"] })
    expect(JSON.stringify(answer.json)).toContain("Out for Delivery")
  })

  it.each(["G0", "%00", "%F0%9F%98%80", "x".repeat(300)])("answers 404 to the id %s", async (id) => {
    const answer = await record(id)
    expect([answer.status, problemCode(answer)]).toEqual([404, "shipment_not_found"])
  })
})

describe("POST /status-updates", () => {
  it("answers per item, and accepts the same update only once", async () => {
    await acme.register(reportedShipment("U1"), reportedShipment("U2"))
    const update = { shipmentId: "U1", shipmentMilestoneStatus: "Picked-up", occurredAt: "2026-11-18T20:00:00Z", updateId: "u1-a" }
    expect((await acme.update(update)).json.results).toMatchObject([{ index: 0, result: "accepted", shipmentId: "U1" }])
    const again = await acme.update({ ...update, shipmentId: undefined, proNumber: "pro u2", updateId: "u2-a" }, update)
    expect([again.status, again.json.results]).toMatchObject([200, [
      { index: 0, result: "accepted", shipmentId: "U2" },
      { index: 1, result: "duplicate", shipmentId: "U1" }
    ]])
  })

  it("refuses a transition that is not permitted, with the reason, and unknown shipments", async () => {
    await acme.register(movingShipment("U3", { ShipmentMilestoneStatus: "Delivered" }))
    const answer = await acme.update({ shipmentId: "U3", shipmentMilestoneStatus: "In Transit", occurredAt: "2099-01-01T00:00:00Z" })
    expect([answer.status, problemCode(answer), answer.json.errors[0].pointer]).toEqual([400, "invalid_input", expect.stringMatching(/^\/updates\/0/)])
    expect(answer.json.errors[0].detail).toContain("Delivered")
    const unknown = await post("status-updates", { updates: [{ shipmentId: "U0", shipmentMilestoneStatus: "In Transit", occurredAt: "2026-11-20T00:00:00Z" }] }, { query: "?partial=true" })
    expect(unknown.json.results).toMatchObject([{ index: 0, result: "error", errors: [{ code: "unknown_reference" }] }])
  })

  it("needs a partner carrier for Interline, which a blank does not name (SPEC-GAP-A17)", async () => {
    const blank = { shipmentMilestoneStatus: "Interline", PartnerCarrierName: "", PartnerCarrierSCAC: " " }
    await acme.register(movingShipment("U5"))
    const update = await acme.update({ shipmentId: "U5", ...blank })
    const posted = await acme.register(movingShipment("U6", { ...blank, ShipmentMilestoneStatus: "Interline" }))
    expect([update.status, update.json.errors[0].detail]).toEqual([400, "Interline needs PartnerCarrierName and PartnerCarrierSCAC: who has the freight now."])
    expect(posted.json.errors).toMatchObject([{ pointer: "/shipments/0/PartnerCarrierName", code: "required" }, { pointer: "/shipments/0/PartnerCarrierSCAC", code: "required" }])
  })

  it("updates the event log too, so that both views agree", async () => {
    await acme.register(reportedShipment("U4", { accounts: ["A1"] }))
    await acme.update({ shipmentId: "U4", shipmentMilestoneStatus: "Picked-up", occurredAt: "2026-11-18T20:00:00Z" })
    const events = await service.send("GET", "/visibility/v1/events?shipmentId=U4", { key: customer })
    expect(events.json.data).toMatchObject([{ type: "PICKED_UP", occurredAt: "2026-11-18T20:00:00Z", sequence: 1, shipment: { shipmentId: "U4" } }])
  })
})
