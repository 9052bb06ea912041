/** A host's code that publishes in its own transaction, on memory storage. */
import { createWaybill } from "@waybill/http"
import { describe, expect, it, onTestFinished } from "vitest"
import { memoryStorage, pickupRequest, reportedEvent, type StartedTestWaybill, type StartOptions, type TestClient, testClient } from "../../src/index.ts"
import { startedWaybill } from "../startedWaybill.ts"

const url = "https://shop.example/hook"

const start = async (options: StartOptions = {}) => {
  const waybill = await startedWaybill(options)
  await waybill.subscriptions.create(waybill.shipper, { endpointUrl: url, hmacSecretId: waybill.hmacSecretId })
  return waybill
}

const begun = async () => {
  const client = testClient()
  await client.query("BEGIN")
  return client
}

const event = (shipmentId: string) => reportedEvent(shipmentId, { eventId: shipmentId, accounts: ["A-1"] })

const publish = (waybill: StartedTestWaybill, client: TestClient, shipmentId: string) => waybill.within(client).events.publish(waybill.carrier, [event(shipmentId)])

const stored = async (waybill: StartedTestWaybill) => (await waybill.events.list(waybill.shipper)).data.map(({ eventId }) => eventId)

const sent = (waybill: StartedTestWaybill) => waybill.receiver(url).received.flatMap(({ events }) => events.map(({ eventId }) => eventId))

describe("a transaction of a test client", () => {
  it("does not begin with a misspelt option", () => {
    expect(() => testClient({ row: () => [] } as never)).toThrow("testClient has no option row. Did you mean rows?")
  })

  it("shows its writes to others after COMMIT, which resolves after the deliveries", async () => {
    const waybill = await start()
    const client = await begun()
    expect(await publish(waybill, client, "S-1")).toMatchObject([{ result: "accepted" }])
    expect(await publish(waybill, client, "S-1")).toMatchObject([{ result: "duplicate" }])
    await waybill.advance("1 hour")
    expect(await stored(waybill)).toEqual([])
    expect(sent(waybill)).toEqual([])
    await client.query("COMMIT")
    expect(await stored(waybill)).toEqual(["S-1"])
    expect(sent(waybill)).toEqual(["S-1"])
  })

  it("holds a customer with its key and secret, which exist after COMMIT only", async () => {
    const waybill = await start()
    const customer = waybill.customer("other", ["A-1"])
    const create = async (client: TestClient) => {
      const within = waybill.within(client)
      await within.secrets.put("acme", "others", { client: "other" })
      await within.subscriptions.create(customer, { endpointUrl: "https://other.example/", hmacSecretId: "others" })
      return within.apiKeys.create("acme", { name: "other", roles: ["customer"], accounts: ["A-1"] })
    }
    const exists = async () => [
      (await waybill.apiKeys.list("acme")).data.map(({ name }) => name),
      (await waybill.secrets.list("acme")).data.map(({ hmacSecretId }) => hmacSecretId),
      (await waybill.audit.list({ tenant: "acme" })).data.map(({ action }) => action)
    ]
    const before = await exists()
    const undone = await begun()
    await create(undone)
    await undone.query("ROLLBACK")
    expect(await exists()).toEqual(before)

    const client = await begun()
    await create(client)
    await client.query("COMMIT")
    expect(await exists()).toEqual([["other"], ["main", "others"], ["api-key.create", "secret.put", ...before[2]!]])
    await waybill.events.publish(waybill.carrier, [event("S-1")])
    expect(waybill.receiver("https://other.example/").received).toHaveLength(1)
  })

  it("leaves nothing after ROLLBACK", async () => {
    const waybill = await start()
    const client = await begun()
    await publish(waybill, client, "S-1")
    await waybill.within(client).subscriptions.create(waybill.customer("other", ["A-1"]), { endpointUrl: "https://other.example/", hmacSecretId: waybill.hmacSecretId })
    await client.query("ROLLBACK")
    await waybill.advance("1 day")
    expect(await stored(waybill)).toEqual([])
    expect(sent(waybill)).toEqual([])
    expect((await waybill.allSubscriptions.list("acme")).data).toHaveLength(1)
    expect(await waybill.events.publish(waybill.carrier, [event("S-1")])).toMatchObject([{ result: "accepted", sequence: 1 }])
  })

  it("undoes a refused call and nothing else", async () => {
    const waybill = await start()
    const client = await begun()
    await publish(waybill, client, "S-1")
    await expect(waybill.within(client).events.publish(waybill.carrier, [event("S-2"), {} as never])).rejects.toMatchObject({ code: "invalid_input" })
    await publish(waybill, client, "S-3")
    await client.query("COMMIT")
    expect(await stored(waybill)).toEqual(["S-1", "S-3"])
  })

  it("has savepoints", async () => {
    const waybill = await start()
    const client = await begun()
    await client.query("SAVEPOINT before_all")
    await publish(waybill, client, "S-1")
    await client.query("ROLLBACK TO SAVEPOINT before_all;")
    await publish(waybill, client, "S-2")
    await client.query("savepoint inner")
    await publish(waybill, client, "S-3")
    await client.query("rollback to inner")
    await client.query("release savepoint before_all")
    await expect(client.query("ROLLBACK TO inner")).rejects.toThrow("savepoint inner does not exist")
    await client.query("COMMIT")
    expect(await stored(waybill)).toEqual(["S-2"])
  })

  it("lets writes of others wait for its end", async () => {
    const waybill = await start()
    const client = await begun()
    await publish(waybill, client, "S-1")
    const other = waybill.events.publish(waybill.carrier, [event("S-1"), event("S-2")])
    await publish(waybill, client, "S-3")
    await client.query("COMMIT")
    expect(await other).toMatchObject([{ result: "duplicate" }, { result: "accepted" }])
    expect(await stored(waybill)).toEqual(["S-1", "S-2", "S-3"])
  })

  it("runs overlapping calls one after the other", async () => {
    const waybill = await start()
    const client = await begun()
    const answers = await Promise.allSettled([publish(waybill, client, "S-1"), waybill.within(client).events.publish(waybill.carrier, [{} as never]), publish(waybill, client, "S-2")])
    expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"])
    await client.query("COMMIT")
    expect(await stored(waybill)).toEqual(["S-1", "S-2"])
  })

  it("refuses calls outside of a transaction, and objects that are no test client", async () => {
    const waybill = await start()
    const client = testClient()
    await expect(publish(waybill, client, "S-1")).rejects.toThrow("is over, or never began")
    await client.query("COMMIT")
    await client.query("BEGIN")
    await client.query("COMMIT")
    await expect(publish(waybill, client, "S-1")).rejects.toThrow("is over, or never began")
    expect(() => waybill.within({ query: async () => ({ rows: [] }) })).toThrow("within(tx) takes a client of testClient() that has sent BEGIN")
  })

  it("is rolled back by stop, which does not wait for it", async () => {
    const waybill = await start()
    const client = await begun()
    await publish(waybill, client, "S-1")
    await waybill.stop()
    await client.query("COMMIT")
    expect(sent(waybill)).toEqual([])
  })
})

describe("a test client", () => {
  it("records the host's own statements, and answers with the rows of a test", async () => {
    const client = testClient({ rows: (text, values) => text.startsWith("SELECT") ? [{ id: values[0] }] : [] })
    expect(await client.query("SELECT id FROM orders WHERE id = $1", [7])).toEqual({ rows: [{ id: 7 }], rowCount: 1 })
    expect(await client.query({ text: "INSERT INTO orders VALUES ($1)", values: [8] })).toEqual({ rows: [], rowCount: 0 })
    client.release()
    expect(client.statements).toEqual([
      { text: "SELECT id FROM orders WHERE id = $1", values: [7] },
      { text: "INSERT INTO orders VALUES ($1)", values: [8] }
    ])
  })

  it("is the transaction of a pickup desk", async () => {
    const statements: Array<string> = []
    const waybill = await start({
      pickupDesk: async ({ requestId }, { transaction }) => {
        await transaction.query("INSERT INTO trucks VALUES ($1)", [requestId])
        statements.push(...transaction.statements.map(({ text }) => text))
        return { decision: "accept", carrierPickupNumber: "TRUCK-1" }
      }
    })
    const order = pickupRequest() as never
    expect(await waybill.pickups.create(waybill.shipper, order)).toMatchObject([{ carrierPickupNumber: "TRUCK-1" }])
    expect(statements).toEqual(["INSERT INTO trucks VALUES ($1)"])
  })

  it("works with createWaybill over memory storage", async () => {
    const waybill = createWaybill({ storage: memoryStorage(), sealingKeys: [new Uint8Array(32)], log: () => {} })
    onTestFinished(() => waybill.stop())
    const carrier = { tenantId: "acme", client: "tms", roles: ["carrier"] } as const
    await waybill.tenants.put("acme", { name: "Acme" })
    const client = await begun()
    await waybill.within(client).events.publish(carrier, [event("S-1")])
    expect((await waybill.events.list(carrier)).data).toEqual([])
    await client.query("COMMIT")
    expect((await waybill.events.list(carrier)).data).toHaveLength(1)
  })
})
