import { Receiver } from "@waybill/testkit"
import { describe, expect, it } from "vitest"
import { type Answer, operatorKey, runningService } from "../TestService.ts"
import { charge } from "./FreightChargeSamples.ts"

let clients = 0

const service = await runningService()
const acme = await service.tenant("acme")
const debtor = await acme.customer("debtor", ["A1", "A2"])

/** A new client, so that no earlier subscription conflicts. */
const nextDebtor = (...accounts: ReadonlyArray<string>) => acme.customer(`debtor-${clients++}`, accounts)

const call = (method: string, path: string, key?: string, body?: unknown) =>
  service.send(method, `/pfc${path}`, { key, headers: { "x-request-id": "same" }, ...(body === undefined ? {} : { body }) })

const create = (key: string | undefined, body: unknown) => call("POST", "/v1/subscriptions", key, body)

const wish = (...accounts: ReadonlyArray<string>) => ({ webhookUrl: "https://receiver.example/charges", accounts, dataOptions: {} })

const refusal = ({ headers, json, status }: Answer) => [status, headers.get("content-type"), json.code]

describe("creating a subscription", () => {
  it("answers 201 with all defaults filled in", async () => {
    const key = await nextDebtor("B1", "B2")
    const answer = await create(key, wish("B1"))
    expect(answer.status).toBe(201)
    expect(answer.json).toEqual({
      subscriptionId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      webhookUrl: "https://receiver.example/charges",
      accounts: ["B1"],
      dataOptions: { shipmentDataType: "revenue_impacts_only", eventType: "revenue_impacts_only" },
      frequency: "real_time",
      includeEventLog: true,
      billScope: "subscribed_accounts",
      status: "active",
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/)
    })
    const found = await call("GET", `/v1/subscriptions/${answer.json.subscriptionId}`, key)
    expect([found.status, found.json]).toEqual([200, answer.json])
  })

  it("returns the requested values", async () => {
    const key = await nextDebtor("B1")
    const asked = {
      ...wish("B1"),
      dataOptions: { shipmentDataType: "all_monitored_events", eventType: "no_events" },
      frequency: "daily",
      includeEventLog: false,
      billScope: "all_accounts",
      hmacSecretId: "main"
    }
    expect((await create(key, asked)).json).toMatchObject(asked)
  })

  it.each([
    ["nothing", {}, "webhookUrl"],
    ["no accounts", wish(), "accounts"],
    ["an account that is none", { ...wish("A1"), accounts: ["A1", ""] }, "accounts[1]"],
    ["no data options", { webhookUrl: "https://receiver.example/", accounts: ["A1"] }, "dataOptions"],
    ["no address at all", { ...wish("A1"), webhookUrl: "receiver" }, "webhookUrl"],
    ["plain http", { ...wish("A1"), webhookUrl: "http://receiver.example/" }, "webhookUrl"],
    ["another cadence", { ...wish("A1"), frequency: "weekly" }, "frequency"],
    ["an unknown event type", { ...wish("A1"), dataOptions: { eventType: "some" } }, "dataOptions.eventType"],
    ["a secret that is not registered", { ...wish("A1"), hmacSecretId: "other" }, "hmacSecretId"]
  ])("refuses %s and names the field", async (_what, body, field) => {
    const answer = await create(debtor, body)
    expect(refusal(answer)).toEqual([400, "application/json", "INVALID_REQUEST"])
    expect(answer.json.details).toMatchObject({ field: expect.stringMatching(field.replace(/[[\].]/g, "\\$&")), error: expect.stringMatching(/\S/) })
    expect(answer.json.message).toEqual(expect.any(String))
  })

  it("answers 403 for accounts of others, to carriers too, and 401 without credentials", async () => {
    expect(refusal(await create(debtor, wish("A1", "A9")))).toEqual([403, "application/json", "FORBIDDEN"])
    expect(refusal(await create(acme.carrier, wish("A1")))).toEqual([403, "application/json", "FORBIDDEN"])
    expect(refusal(await create(operatorKey, wish("A1")))).toEqual([403, "application/json", "FORBIDDEN"])
    for (const key of [undefined, "wrong"]) expect(refusal(await create(key, wish("A1")))).toEqual([401, "application/json", "UNAUTHORIZED"])
  })

  it("takes the accounts of a carrier's own key", async () => {
    const body = { name: "fleet", roles: ["carrier"], accounts: ["A1"], dot: "77" }
    const { json: { key } } = await service.send("POST", "/operator/v1/tenants/acme/api-keys", { key: operatorKey, body })
    expect(refusal(await create(key, wish("A1", "A2")))).toEqual([403, "application/json", "FORBIDDEN"])
    expect((await create(key, wish("A1"))).json).toMatchObject({ accounts: ["A1"], status: "active" })
  })

  it("answers 409 with the account and the subscription of the caller that covers it, until that is cancelled", async () => {
    const key = await nextDebtor("B1", "B2", "B3")
    const { json: { subscriptionId } } = await create(key, wish("B1", "B2"))
    const conflict = await create(key, wish("B3", "B2"))
    expect(refusal(conflict)).toEqual([409, "application/json", "SUBSCRIPTION_CONFLICT"])
    expect(conflict.json.details).toEqual({ accountId: "B2", subscriptionId })
    expect((await create(await nextDebtor("B1", "B2"), wish("B1", "B2"))).status).toBe(201)
    await call("DELETE", `/v1/subscriptions/${subscriptionId}`, key)
    expect((await create(key, wish("B3", "B2"))).status).toBe(201)
  })

  it("checks JSON and size before anything else", async () => {
    expect(refusal(await create(debtor, "{"))).toEqual([400, "application/json", "INVALID_REQUEST"])
    const large = await create(debtor, { ...wish("A1"), note: "x".repeat(3 * 1024 * 1024) })
    expect(refusal(large)).toEqual([413, "application/json", "BODY_TOO_LARGE"])
    const wrong = await service.send("POST", "/pfc/v1/subscriptions", { key: debtor, body: "{}", headers: { "content-type": "text/plain" } })
    expect(refusal(wrong)).toEqual([415, "application/json", "UNSUPPORTED_MEDIA_TYPE"])
  })
})

describe("a subscription of the caller", () => {
  it("is cancelled with 204, repeatedly, and is inactive then", async () => {
    const key = await nextDebtor("B1")
    const { json: { subscriptionId } } = await create(key, wish("B1"))
    for (let n = 0; n < 2; n++) {
      const answer = await call("DELETE", `/v1/subscriptions/${subscriptionId}`, key)
      expect([answer.status, answer.text, answer.headers.get("content-type")]).toEqual([204, "", null])
    }
    expect((await call("GET", `/v1/subscriptions/${subscriptionId}`, key)).json.status).toBe("inactive")
  })

  it("lists bills that were in flight when it was created: an array, possibly empty", async () => {
    await acme.charge(charge("created", "INFLIGHT1", { account: "F1" }), charge("created", "INFLIGHT2", { account: "F2" }))
    await acme.charge(charge("created", "INFLIGHT3", { account: "F1" }))
    await acme.charge(charge("final", "INFLIGHT3", { account: "F1" }))
    await acme.charge(charge("updated", "INFLIGHT1", { account: "F1", total: 300 }))
    const key = await nextDebtor("F1", "F3")
    const { json: { subscriptionId } } = await create(key, wish("F1"))
    await acme.charge(charge("created", "INFLIGHT4", { account: "F1" }))
    const answer = await call("GET", `/v1/subscriptions/${subscriptionId}/inflight`, key)
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/json"])
    expect(answer.json.map(({ charges, pfc }: any) => [pfc.uniqueID, pfc.header.function, charges.preliminaryTotalCharges])).toEqual([["INFLIGHT1", "PFC2", 300]])

    const none = await create(await nextDebtor("F9"), wish("F9"))
    const other = await create(key, wish("F3"))
    expect(none.status).toBe(201)
    expect((await call("GET", `/v1/subscriptions/${other.json.subscriptionId}/inflight`, key)).text).toBe("[]")
  })

  it("that does not exist gets 404, and needs credentials first", async () => {
    for (const [method, more] of [["GET", ""], ["DELETE", ""], ["GET", "/inflight"]] as const) {
      expect((await call(method, `/v1/subscriptions/1${more}`, debtor)).json.details).toEqual({ resource: "subscriptionId", value: "1" })
      for (const id of ["1", "%00", "%F0%9F%98%80", "a%2Fb", "x".repeat(300)]) {
        expect(refusal(await call(method, `/v1/subscriptions/${id}${more}`, debtor))).toEqual([404, "application/json", "NOT_FOUND"])
      }
      expect(refusal(await call(method, `/v1/subscriptions/1${more}`))).toEqual([401, "application/json", "UNAUTHORIZED"])
      expect(refusal(await call(method, `/v1/subscriptions/1${more}`, operatorKey))).toEqual([403, "application/json", "FORBIDDEN"])
    }
  })
})

describe("the webhook test", () => {
  const url = "https://receiver.example/tested"
  const test = (key: string | undefined, body: unknown) => call("POST", "/webhooks/test", key, body)

  it("sends one sample that is marked as a test, and answers 200 when it is accepted", async () => {
    const answer = await test(debtor, { webhookUrl: url })
    expect([answer.status, answer.json.message]).toEqual([200, expect.any(String)])
    const [request] = await service.received(url)
    expect(request!.json.length).toBe(1)
    expect(request!.json[0].pfc).toMatchObject({ isTest: true, header: { function: "PFC1" } })
    expect(request!.headers["webhook-id"]).toEqual(expect.any(String))
  })

  it("answers 400 with the outcome when it is not accepted", async () => {
    await service.script(url, Receiver.fail(503))
    const answer = await test(debtor, { webhookUrl: url })
    expect(refusal(answer)).toEqual([400, "application/json", "INVALID_REQUEST"])
    expect(answer.json.details).toEqual({ field: "webhookUrl", error: expect.stringContaining("503") })
  })

  it.each([["nothing", {}], ["no address", { webhookUrl: "receiver" }], ["plain http", { webhookUrl: "http://receiver.example/" }], ["a number", { webhookUrl: 5 }]])(
    "refuses %s",
    async (_what, body) => {
      const answer = await test(await nextDebtor("A1"), body)
      expect(refusal(answer)).toEqual([400, "application/json", "INVALID_REQUEST"])
      expect(answer.json.details.field).toBe("webhookUrl")
    }
  )

  it("requires credentials, and has a rate limit per client", async () => {
    expect(refusal(await test(undefined, { webhookUrl: url }))).toEqual([401, "application/json", "UNAUTHORIZED"])
    const key = await nextDebtor("A1")
    const statuses: Array<number> = []
    let last: Answer
    do {
      last = await test(key, { webhookUrl: "https://receiver.example/often" })
      statuses.push(last.status)
    } while (last.status === 200 && statuses.length < 50)
    expect(statuses.length).toBe(11)
    expect(refusal(last)).toEqual([429, "application/json", "TOO_MANY_REQUESTS"])
    expect(Number(last.headers.get("retry-after"))).toBeGreaterThanOrEqual(1)
    expect((await test(await nextDebtor("A1"), { webhookUrl: "https://receiver.example/often" })).status).toBe(200)
  })
})
