import { freightCharge, Receiver } from "@waybill/testkit"
import { describe, expect, it } from "vitest"
import { operatorKey, runningService } from "../TestService.ts"
import { charge } from "./FreightChargeSamples.ts"

let tenants = 0

const service = await runningService()

/** A tenant with a subscribed debtor. */
const subscribed = async (more: object = {}) => {
  const tenant = await service.tenant(`charges-${tenants++}`)
  const debtor = await tenant.customer("debtor", ["A1"])
  const { json: { subscriptionId } } = await tenant.subscribeToCharges(debtor, ["A1"], more)
  const url = `https://${tenant.tenantId}.example/charges`
  const status = async () => (await service.send("GET", `/pfc/v1/subscriptions/${subscriptionId}`, { key: debtor })).json.status
  const operate = (call: string) => service.send("POST", `/operator/v1/tenants/${tenant.tenantId}/subscriptions/${subscriptionId}/${call}`, { key: operatorKey })
  return { tenant, debtor, subscriptionId, url, status, operate }
}

const { origin: shipper } = freightCharge("x")

const versionsIn = (received: ReadonlyArray<{ readonly json: any }>) =>
  received.flatMap(({ json }) => json.map(({ pfc }: any) => `${pfc.uniqueID} ${pfc.header.function}`))

describe("a debtor's notification", () => {
  it("is an array of PFC objects, each with its version and log, as the carrier wrote them", async () => {
    const { tenant, url } = await subscribed()
    await tenant.charge(charge("created", "BILL-1", { more: { billTo: { ...shipper, account: "A1", locationID: "L1" }, carrierNote: { kept: 1.5 } } }))
    await service.deliver()
    await tenant.charge(charge("updated", "BILL-1", { total: 300 }))
    await service.deliver()
    const received = await service.received(url)
    expect(versionsIn(received)).toEqual(["BILL1 PFC1", "BILL1 PFC2"])
    expect(received[0]!.json).toEqual([expect.objectContaining({
      pfc: expect.objectContaining({ uniqueID: "BILL1", date: "2026-11-20T08:15:00.000", version: "v1.0", isTest: false }),
      billTo: expect.objectContaining({ account: "A1", locationID: "L1" }),
      charges: expect.objectContaining({
        preliminaryTotalCharges: 263.78,
        changeLog: [{ eventCategoryName: "Bill Entry", eventCode: "OTHR", carrierCode: "BILL" }]
      }),
      carrierNote: { kept: 1.5 }
    })])
    expect(received[0]!.headers).toMatchObject({ "content-type": "application/json", "webhook-id": expect.any(String) })
    expect(Object.keys(received[0]!.headers)).not.toContain("webhook-signature")
  })

  it("is signed when a secret is named, or registered for the client", async () => {
    const { tenant, url } = await subscribed({ hmacSecretId: "main" })
    await tenant.charge(charge("created", "SIGNED"))
    await service.deliver()
    expect((await service.received(url))[0]!.headers["webhook-signature"]).toMatch(/^v1,/)
  })

  it("is one removal without details of the new debtor, when another debtor takes over the bill", async () => {
    const { tenant, url } = await subscribed()
    const other = await tenant.customer("other", ["A2"])
    await tenant.subscribeToCharges(other, ["A2"], { webhookUrl: "https://other.example/charges" })
    await tenant.charge(charge("created", "MOVES", { account: "A1" }))
    await tenant.charge(charge("updated", "MOVES", { account: "A2", total: 999.99, more: { origin: { ...shipper, name: "New shipper" } } }))
    await service.deliver()
    const received = await service.received(url)
    expect(versionsIn(received)).toEqual(["MOVES PFC1", "MOVES PFC2"])
    const text = received.map(({ text }) => text).join("")
    for (const secret of ["A2", "999.99", "New shipper"]) expect(text).not.toContain(secret)
    const removal = received.flatMap(({ json }) => json).at(-1)
    expect(removal).toMatchObject({
      billTo: { account: "A1" },
      charges: {
        preliminaryTotalCharges: 0,
        changeLog: [{ eventCategoryName: "Account CHG - Cancel", eventCode: "ACTCHG", carrierCode: "CANCEL" }],
        changeLogMessages: [{ informationalMessage: "You are no longer the debtor of this shipment." }]
      }
    })
    const others = await service.received("https://other.example/charges")
    expect(versionsIn(others)).toEqual(["MOVES PFC2"])
    expect(others[0]!.text).not.toContain("263.78")
  })

  it("covers only its own accounts and tenant, whatever scope was requested", async () => {
    const { tenant, url } = await subscribed({ billScope: "all_accounts" })
    const elsewhere = await service.tenant(`elsewhere-${tenants++}`)
    await elsewhere.charge(charge("created", "ELSEWHERE", { account: "A1" }))
    await tenant.charge(charge("created", "FOREIGN", { account: "A2" }))
    await service.deliver()
    expect(await service.received(url)).toEqual([])
  })

  it("waits for the window of an hourly or daily subscription", async () => {
    const { tenant, url } = await subscribed({ frequency: "daily" })
    await tenant.charge(charge("created", "SLOW"))
    await service.deliver()
    expect(await service.received(url)).toEqual([])
  })

  it("is not sent after the subscription is cancelled", async () => {
    const { debtor, subscriptionId, tenant, url } = await subscribed()
    await service.send("DELETE", `/pfc/v1/subscriptions/${subscriptionId}`, { key: debtor })
    await tenant.charge(charge("created", "LATE"))
    await service.deliver()
    expect(await service.received(url)).toEqual([])
  })
})

describe("a suspended subscription", () => {
  /** Suspended by a receiver that answers 410. */
  const suspended = async () => {
    const made = await subscribed()
    await service.script(made.url, Receiver.gone)
    await made.tenant.charge(charge("created", "FIRST"))
    await service.deliver()
    expect(await made.status()).toBe("suspended")
    await made.tenant.charge(charge("created", "SECOND"))
    await service.deliver()
    expect(versionsIn(await service.received(made.url))).toEqual(["FIRST PFC1"])
    await service.script(made.url, Receiver.accept())
    return made
  }

  it("resumes with the waiting notifications, in order, when its owner's webhook test succeeds", async () => {
    const { debtor, status, url } = await suspended()
    const answer = await service.send("POST", "/pfc/webhooks/test", { key: debtor, body: { webhookUrl: url } })
    expect([answer.status, answer.json.resumed]).toEqual([200, 1])
    expect(await status()).toBe("active")
    await service.deliver()
    const received = await service.received(url)
    expect(versionsIn(received.filter(({ json }) => json[0].pfc.isTest === false))).toEqual(["FIRST PFC1", "FIRST PFC1", "SECOND PFC1"])
  })

  it("resumes when the operator resumes it, and only in its own tenant", async () => {
    const { operate, status, subscriptionId, url } = await suspended()
    await service.tenant("acme")
    const foreign = await service.send("POST", `/operator/v1/tenants/acme/subscriptions/${subscriptionId}/resume`, { key: operatorKey })
    expect([foreign.status, foreign.json.code]).toEqual([404, "subscription_not_found"])
    expect((await operate("resume")).status).toBe(200)
    expect(await status()).toBe("active")
    await service.deliver()
    expect(versionsIn(await service.received(url))).toEqual(["FIRST PFC1", "FIRST PFC1", "SECOND PFC1"])
    expect((await operate("resume")).status).toBe(200)
  })

  it("is resumed by operators only, by its id", async () => {
    const { subscriptionId, tenant } = await subscribed()
    const resume = (id: string, key: string | undefined) => service.send("POST", `/operator/v1/tenants/${tenant.tenantId}/subscriptions/${id}/resume`, { key })
    expect([(await resume(subscriptionId, undefined)).status, (await resume(subscriptionId, tenant.carrier)).status]).toEqual([401, 403])
    const transit = (await tenant.subscribe(tenant.carrier)).json.id
    for (const id of ["1", "%00", "0b8f2c1e-6f0a-7c3d-9a55-2d1f0c9e8b77"]) expect((await resume(id, operatorKey)).status).toBe(404)
    // The same call resumes a subscription of another area.
    expect((await resume(transit, operatorKey)).status).toBe(200)
  })
})
