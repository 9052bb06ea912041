import { describe, expect, it } from "vitest"
import { type ChargeSubscription, type ChargeSubscriptionCreate, FreightChargesClient } from "../../src/freight-charges/index.ts"
import { chargeOf } from "../samples.ts"
import { clientsOf, json } from "../scripted-server.ts"

const clientOf = clientsOf(FreightChargesClient)
const refusal = (status: number, code: string, message: string, details?: object, headers: HeadersInit = {}) => json({ code, message, details }, status, headers)
const lost = () => Promise.reject(new TypeError("fetch failed"))

const wanted: ChargeSubscriptionCreate = {
  webhookUrl: "https://me.test/hook",
  accounts: ["4711"],
  dataOptions: { shipmentDataType: "all_monitored_events", eventType: "all_impacts" },
  frequency: "daily",
  includeEventLog: false,
  billScope: "subscribed_accounts",
  hmacSecretId: "main"
}
const subscription: ChargeSubscription = {
  subscriptionId: "0199-s",
  webhookUrl: "https://me.test/hook",
  accounts: ["4711"],
  dataOptions: { shipmentDataType: "all_monitored_events", eventType: "all_impacts" },
  frequency: "daily",
  includeEventLog: false,
  billScope: "subscribed_accounts",
  hmacSecretId: "main",
  status: "active",
  createdAt: "2026-11-20T08:00:00Z",
  updatedAt: "2026-11-20T08:00:00Z"
}

describe("FreightChargesClient", () => {
  it("subscribes without retries", async () => {
    const { client, received } = clientOf((_, count) => count === 0 ? json(subscription, 201) : lost())
    expect(await client.create(wanted)).toEqual(subscription)
    expect(received[0]).toMatchObject({ method: "POST", path: "/pfc/v1/subscriptions", body: wanted })
    expect([received[0]!.headers.get("x-api-key"), received[0]!.headers.get("content-type")]).toEqual(["k", "application/json"])
    await expect(client.create(wanted)).rejects.toMatchObject({ name: "WaybillCallFailed", reason: "network" })
    expect(received).toHaveLength(2)
  })

  it("uses the configured base path", async () => {
    const { client, received } = clientOf(() => json(subscription), { basePath: "/charges" })
    await client.get("s")
    expect(received[0]!.path).toBe("/charges/v1/subscriptions/s")
  })

  it("gets a subscription", async () => {
    const { client, received } = clientOf((_, count) => count === 0 ? refusal(503, "UNAVAILABLE", "Try again.") : json(subscription))
    expect(await client.get("0199/s")).toEqual(subscription)
    expect(received.map(({ method, path }) => `${method} ${path}`)).toEqual(Array.from({ length: 2 }, () => "GET /pfc/v1/subscriptions/0199%2Fs"))
  })

  it("cancels one, and treats 404 as success when the first response was lost", async () => {
    const { client, received } = clientOf(() => new Response(null, { status: 204 }))
    expect(await client.cancel("s")).toBeUndefined()
    expect(received).toEqual([expect.objectContaining({ method: "DELETE", path: "/pfc/v1/subscriptions/s", body: undefined })])
    const again = clientOf((_, count) => count === 0 ? lost() : refusal(404, "NOT_FOUND", "No subscription s.", { resource: "subscription", value: "s" }))
    expect(await again.client.cancel("s")).toBeUndefined()
  })

  it("lists bills in flight, also when there are none", async () => {
    const charges = [chargeOf("B1", 1), chargeOf("B2", 3)]
    for (const found of [charges, []]) {
      const { client, received } = clientOf(() => json(found))
      expect(await client.inFlight("s/1")).toEqual(found)
      expect(received[0]).toMatchObject({ method: "GET", path: "/pfc/v1/subscriptions/s%2F1/inflight" })
    }
    for (const answer of [() => json({ data: [] }), () => new Response(null, { status: 204 })]) {
      await expect(clientOf(answer).client.inFlight("s")).rejects.toMatchObject({ reason: "unreadable_answer" })
    }
  })

  it("requests a sample delivery without retries", async () => {
    const tested = { message: "The receiver accepted it.", resumed: 1 }
    const { client, received } = clientOf((_, count) => count === 0 ? json(tested) : refusal(429, "TOO_MANY_REQUESTS", "Wait.", undefined, { "retry-after": "0" }))
    expect(await client.testWebhook({ webhookUrl: "https://me.test/hook" })).toEqual(tested)
    expect(received[0]).toMatchObject({ method: "POST", path: "/pfc/webhooks/test", body: { webhookUrl: "https://me.test/hook" } })
    await expect(client.testWebhook({ webhookUrl: "https://me.test/hook", hmacSecretId: "main" })).rejects.toMatchObject({ status: 429, retryAfterSeconds: 0 })
    expect(received).toHaveLength(2)
  })

  describe("on an error response", () => {
    it("fails with its code and details", async () => {
      const { client } = clientOf(() => refusal(409, "SUBSCRIPTION_CONFLICT", "A subscription of yours covers account 4711.", { accountId: "4711" }))
      await expect(client.create(wanted)).rejects.toMatchObject({
        name: "WaybillProblem", status: 409, code: "SUBSCRIPTION_CONFLICT", detail: "A subscription of yours covers account 4711.",
        details: { accountId: "4711" }, errors: [],
        message: "POST https://waybill.test/pfc/v1/subscriptions answered 409: A subscription of yours covers account 4711."
      })
    })

    it("names the invalid field, or all of them", async () => {
      const one = { field: "webhookUrl", error: "Use https." }
      const two = { field: "accounts[0]", error: "Not empty." }
      const single = clientOf(() => refusal(400, "INVALID_REQUEST", "One field is wrong.", one))
      await expect(single.client.create(wanted)).rejects.toMatchObject({ details: one, errors: [{ field: "webhookUrl", detail: "Use https." }] })
      const several = clientOf(() => refusal(400, "INVALID_REQUEST", "Two fields are wrong.", { ...one, errors: [one, two] }))
      await expect(several.client.create(wanted)).rejects.toMatchObject({
        errors: [{ field: "webhookUrl", detail: "Use https." }, { field: "accounts[0]", detail: "Not empty." }]
      })
    })

    it("waits as long as Retry-After says for idempotent calls", async () => {
      const busy = (seconds: string) => refusal(429, "TOO_MANY_REQUESTS", "Wait.", undefined, { "retry-after": seconds })
      const { client, received } = clientOf((_, count) => count === 0 ? busy("0") : json([]))
      expect(await client.inFlight("s")).toEqual([])
      expect(received).toHaveLength(2)
      const patient = clientOf(() => busy("3600"))
      await expect(patient.client.get("s")).rejects.toMatchObject({ status: 429, retryAfterSeconds: 3600 })
      expect(patient.received).toHaveLength(1)
    })
  })

  it("aborts a call with the caller's signal", async () => {
    const { client, received } = clientOf(() => json(subscription))
    const signal = AbortSignal.abort(new Error("over"))
    const calls = [
      () => client.create(wanted, { signal }),
      () => client.get("s", { signal }),
      () => client.cancel("s", { signal }),
      () => client.inFlight("s", { signal }),
      () => client.testWebhook({ webhookUrl: "https://me.test" }, { signal })
    ]
    for (const call of calls) await expect(call()).rejects.toThrow("over")
    expect(received).toEqual([])
  })
})
