import { readFileSync } from "node:fs"
import { describe, expect, it, onTestFinished } from "vitest"
import { pickupRequest, startTestWaybill } from "@waybill/testkit"

type Json = any

const examplesIn = (area: string): ReadonlyArray<Json> =>
  Array.from(readFileSync(new URL(`../../../../docs/areas/${area}.md`, import.meta.url), "utf8").matchAll(/```json\n([^]*?)```/gu), ([, json]) => JSON.parse(json!))

const started = async (options: Parameters<typeof startTestWaybill>[0] = {}) => {
  const waybill = await startTestWaybill({ now: "2026-11-27T14:00:00Z", ...options })
  onTestFinished(() => waybill.stop())
  return waybill
}

describe("the JSON of docs/areas", () => {
  it("of shipment status is accepted, and answered as it says", async () => {
    const [posted, reports, answer, subscription, notification] = examplesIn("shipment-status")
    const waybill = await started()
    expect(await waybill.shipments.register(waybill.carrier, posted.shipments)).toMatchObject([{ result: "accepted" }])
    await waybill.statusSubscriptions.subscribe(waybill.customer("acme", ["ACME-1"]), { ...subscription, hmacSecretId: waybill.hmacSecretId })
    const results = await waybill.shipments.report(waybill.carrier, reports.updates)
    expect(results.map((result) => ({ ...result, eventId: "…" }))).toEqual(answer.results)
    const [first] = waybill.receiver(subscription.webhookUrl).received
    expect(first!.body).toEqual(notification)
  })

  it("of freight charges is accepted", async () => {
    const [, , subscription] = examplesIn("freight-charges")
    const waybill = await started()
    const created = await waybill.chargeSubscriptions.create(waybill.customer("acme", ["ACME-1"]), subscription)
    expect(created).toMatchObject(subscription)
  })

  it("of pickups is accepted", async () => {
    const [decision, , subscription] = examplesIn("pickups")
    const waybill = await started({ now: "2026-11-19T14:00:00Z", pickupDesk: { waitSeconds: 20 } })
    const waiting = waybill.pickups.create(waybill.shipper, pickupRequest())
    const [entry] = (await waybill.pickups.changes(waybill.carrier)).data
    expect(await waybill.pickups.decide(waybill.carrier, entry!.pickupId, decision)).toMatchObject({ carrierPickupNumber: decision.confirmationNumber })
    expect(await waiting).toMatchObject([{ pickupStatus: "Accept", carrierPickupNumber: "C-4711", scac: "WAYB", carrierName: "Waybill Freight", pickupMessage: ["Gate 4"] }])
    expect(await waybill.pickupSubscriptions.create(waybill.carrier, { ...subscription, hmacSecretId: waybill.hmacSecretId })).toMatchObject({ topics: ["pickups"], delivery: subscription.delivery })
  })
})
