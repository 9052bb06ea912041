/** The operator's subscription calls, for every area that delivers. */
import { pickupRequest, Receiver } from "@waybill/testkit"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { charge } from "../freight-charges/FreightChargeSamples.ts"
import { reportedShipment } from "../shipment-status/ShipmentSamples.ts"
import { type Answer, operatorKey, reportedEvent, startService, type TestService, type TestServiceOptions, type TestTenant } from "../TestService.ts"

interface Area {
  readonly area: string
  readonly url: (tenantId: string) => string
  /** Subscribes to shipment S for a client with account A1; returns the subscription's id. */
  readonly subscribe: (tenant: TestTenant, key: string) => Promise<string>
  /** Reports an update of shipment S, which belongs to this account from then on. */
  readonly report: (tenant: TestTenant, n: number, account?: string) => Promise<Answer>
  /** The client's own call to resume it, if there is one. */
  readonly resume?: (id: string, tenantId: string) => { readonly method: string; readonly path: string; readonly body: unknown }
  /** Webhooks that are still sent to the former account when the shipment changes owners. */
  readonly afterHandover: number
}

const day = `${new Date().getUTCFullYear() + 1}-11-20`

const milestones = ["Picked-up", "In Transit", "Out for Delivery", "Delivered"] as const

const areas: ReadonlyArray<Area> = [
  {
    area: "transit-events",
    url: (tenantId) => `https://${tenantId}.example/events`,
    subscribe: async (tenant, key) => (await tenant.subscribe(key, { endpointUrl: `https://${tenant.tenantId}.example/events` })).json.id,
    report: (tenant, n, account = "A1") => tenant.publish(reportedEvent("S", { eventId: `e${n}`, accounts: [account] })),
    resume: (id) => ({ method: "PATCH", path: `/visibility/v1/subscriptions/${id}`, body: { status: "active" } }),
    afterHandover: 0
  },
  {
    area: "shipment-status",
    url: (tenantId) => `https://${tenantId}.example/status`,
    subscribe: async (tenant, key) => {
      await tenant.register(reportedShipment("S", { accounts: ["A1"] }))
      return (await tenant.follow(key, "PRO-S")).json.transactionId
    },
    report: async (tenant, n, account) => {
      if (account !== undefined) await tenant.register(reportedShipment("S", { accounts: [account] }))
      return tenant.update({ shipmentId: "S", shipmentMilestoneStatus: milestones[n - 1], occurredAt: `2026-11-18T1${n}:00:00Z` })
    },
    afterHandover: 0
  },
  {
    area: "freight-charges",
    url: (tenantId) => `https://${tenantId}.example/charges`,
    subscribe: async (tenant, key) => (await tenant.subscribeToCharges(key, ["A1"], { dataOptions: { shipmentDataType: "all_monitored_events" } })).json.subscriptionId,
    report: (tenant, n, account = "A1") => tenant.charge(charge(n === 1 ? "created" : "updated", "S", { account, total: 100 + n })),
    resume: (_, tenantId) => ({ method: "POST", path: "/pfc/webhooks/test", body: { webhookUrl: `https://${tenantId}.example/charges` } }),
    // The former debtor gets a removal.
    afterHandover: 1
  }
]

let service: TestService

const operate = (method: string, path: string, body?: unknown): Promise<Answer> =>
  service.send(method, `/operator/v1/tenants/${path}`, { key: operatorKey, ...(body === undefined ? {} : { body }) })

/** A tenant with a client, and its subscription. */
const subscribed = async (area: Area, tenantId: string) => {
  const tenant = await service.tenant(tenantId)
  const key = await tenant.customer("shop", ["A1"])
  const id = await area.subscribe(tenant, key)
  const subscription = `${tenantId}/subscriptions/${id}`
  /** Sends everything due; returns the total number of webhooks. */
  const delivered = async () => {
    await service.deliver()
    return (await service.received(area.url(tenantId))).length
  }
  const report = async (n: number, account?: string) => expect((await area.report(tenant, n, account)).status).toBe(200)
  const explained = async () => (await operate("GET", `${tenantId}/explain?subscriptionId=${id}&shipmentId=S`)).json
  return { tenant, key, id, subscription, delivered, report, explained, shown: async () => (await operate("GET", subscription)).json }
}

type Subscribed = Awaited<ReturnType<typeof subscribed>>

/** The client may not resume a subscription that an operator paused, and sees the reason. */
const refusesItsClient = async (area: Area, { delivered, id, key, shown, tenant }: Subscribed) => {
  const call = area.resume?.(id, tenant.tenantId)
  if (call === undefined) return
  const refused = await service.send(call.method, call.path, { key, body: call.body })
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining("Unpaid.")])
  const sent = await delivered()
  expect(await shown()).toMatchObject({ state: "paused", pausedBy: "operator", reason: "Unpaid." })
  return sent
}

/** Defines the tests. */
export const subscriptionCalls = (options: TestServiceOptions = {}): void => {
  beforeAll(async () => {
    service = await startService({ logLevel: "Error", ...options })
  })
  afterAll(() => service.stop())

  describe("a subscription", () => {
    it.each(areas)("to $area is paused, resumed, purged, explained and deleted by an operator, and its client cannot resume it", async (area) => {
      const made = await subscribed(area, `operated-${area.area}`)
      const { delivered, explained, report, shown, subscription } = made
      await report(1)
      expect([await delivered(), (await explained()).verdict]).toEqual([1, "delivered"])

      const paused = await operate("POST", `${subscription}/pause`, { reason: "Unpaid." })
      expect([paused.status, paused.json]).toMatchObject([200, { area: area.area, client: "key:shop", state: "paused", pausedBy: "operator", reason: "Unpaid." }])
      await report(2)
      expect(await delivered()).toBe(1)
      expect(await explained()).toMatchObject({ verdict: "waiting", waitingFor: "paused" })
      const before = await refusesItsClient(area, made) ?? 1

      const resumed = await operate("POST", `${subscription}/resume`)
      expect([resumed.status, resumed.json]).toMatchObject([200, { state: "active", pausedBy: null, reason: null }])
      expect(await delivered()).toBe(before + 1)

      await operate("POST", `${subscription}/pause`, { reason: "Unpaid." })
      await report(3)
      const { waiting } = await shown()
      expect(waiting).toBeGreaterThan(0)
      const purged = await operate("POST", `${subscription}/purge`)
      expect([purged.status, purged.json]).toEqual([202, { dropped: waiting }])
      expect(await shown()).toMatchObject({ waiting: 0, dropped: waiting, state: "paused", reason: "Unpaid." })
      await operate("POST", `${subscription}/resume`)
      expect(await delivered()).toBe(before + 1)

      await report(4)
      expect((await operate("DELETE", subscription)).status).toBe(204)
      expect(await delivered()).toBe(before + 1)
      for (const [method, path, body] of [["GET", ""], ["DELETE", ""], ["POST", "/pause", { reason: "x" }], ["POST", "/resume"], ["POST", "/purge"]] as const) {
        expect([method, path, (await operate(method, `${subscription}${path}`, body)).status]).toEqual([method, path, 404])
      }
    })

    it.each(areas)("to $area is not sent waiting entries of a shipment that moved to another account", async (area) => {
      const { delivered, report, subscription, tenant } = await subscribed(area, `former-${area.area}`)
      await operate("POST", `${subscription}/pause`, { reason: "Held." })
      await report(1)
      await report(2, "A2")
      await operate("POST", `${subscription}/resume`)
      expect(await delivered()).toBe(area.afterHandover)
      for (const { text } of await service.received(area.url(tenant.tenantId))) expect(text).not.toContain("A2")
    })

    it.each(areas)("to $area is held when its client's last key is revoked, with an explanation, and continues with the next key", async (area) => {
      const { delivered, explained, report, tenant } = await subscribed(area, `revoked-${area.area}`)
      const { json: { data } } = await operate("GET", `${tenant.tenantId}/api-keys`)
      await operate("DELETE", `${tenant.tenantId}/api-keys/${data.find(({ name }: { readonly name: string }) => name === "shop").id}`)
      await report(1)
      expect(await delivered()).toBe(0)
      expect(await explained()).toMatchObject({ verdict: "waiting", waitingFor: "access" })
      await tenant.customer("shop", ["A1"])
      expect([await delivered(), (await explained()).verdict]).toEqual([1, "delivered"])
    })

    it("to pickups is explained by pickup, recovered and replayed", async () => {
      const [tenantId, url] = ["carrying", "https://carrying.example/pickups"]
      const tenant = await service.tenant(tenantId)
      const shop = await tenant.customer("shop", ["A1"])
      const settings = { topics: ["pickups"], endpointUrl: url, hmacSecretId: "main", delivery: { maxAttempts: 1 } }
      const { json: { id } } = await service.send("POST", "/intake/v1/subscriptions", { key: tenant.carrier, body: settings })
      const sent = async () => {
        await service.deliver()
        return (await service.received(url)).flatMap(({ json }) => json.pickups.map(({ change }: { readonly change: string }) => change))
      }
      const explained = async (subject: string) => {
        const { json, status } = await operate("GET", `${tenantId}/explain?subscriptionId=${id}&${subject}`)
        return [status, json.verdict]
      }
      await service.script(url, Receiver.fail(500))
      const [{ carrierPickupNumber: number }] = (await service.send("POST", "/pickup/v1/pickups", { key: shop, body: pickupRequest({ pro: "P-1", day }) })).json
      expect(await sent()).toEqual(["ordered"])
      for (const subject of [`pickupId=${number}`, "pro=P-1"]) expect(await explained(subject)).toEqual([200, "dead"])
      await service.script(url, Receiver.accept())
      const recovered = await operate("POST", `${tenantId}/subscriptions/${id}/recover`, { since: "2020-01-01T00:00:00Z" })
      expect([recovered.status, recovered.json]).toEqual([202, { recovered: 1 }])
      expect([await sent(), await explained(`pickupId=${number}`)]).toEqual([["ordered", "ordered"], [200, "delivered"]])
      await service.send("DELETE", `/pickup/v1/pickups/${number}`, { key: shop })
      expect(await sent()).toEqual(["ordered", "ordered", "cancelled"])
      const replay = (body: object) => operate("POST", `${tenantId}/subscriptions/${id}/replay`, body)
      const replayed = await replay({ from: "2020-01-01T00:00:00Z" })
      expect([replayed.status, replayed.json]).toEqual([202, { queued: 2 }])
      expect(await sent()).toEqual(["ordered", "ordered", "cancelled", "ordered", "cancelled"])
      expect((await replay({ from: "2020-01-01T00:00:00Z", shipmentIds: ["S"] })).json.errors[0]).toMatchObject({ pointer: "/shipmentIds" })
      expect((await explained("pickupId=999"))[0]).toBe(404)
      expect((await explained(`pickupId=${number}&pro=P-1`))[0]).toBe(400)
    })

    it("whose area keeps no history is not replayed, with a reason", async () => {
      const { subscription } = await subscribed(areas.find(({ area }) => area === "freight-charges")!, "unplayed")
      const refused = await operate("POST", `${subscription}/replay`, { from: "2020-01-01T00:00:00Z" })
      expect([refused.status, refused.json.errors[0].detail]).toEqual([400, expect.stringContaining("freight-charges has no history")])
    })
  })
}
