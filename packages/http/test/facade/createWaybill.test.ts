import { makeStorage, StorageError } from "@waybill/core"
import { StorageMemory } from "@waybill/testkit"
import { Effect, Layer } from "effect"
import { describe, expect, it, onTestFinished, vi } from "vitest"
import { createWaybill, type LogEntry, type WaybillError, type WaybillOptions } from "../../src/index.ts"
import { reportedEvent } from "../TestService.ts"
import { HostTransaction, carrier, customer, memory, rejection, sealingKey, start, startReceiver, startWithTenant } from "./Host.ts"

describe("createWaybill", () => {
  it("publishes, lists and delivers, all with promises", async () => {
    const receiver = await startReceiver()
    const waybill = await startWithTenant({ egressAllow: ["127.0.0.0/8"] })
    const { secret } = await waybill.secrets.put("acme", "main", { anyClient: true })
    expect(secret).toMatch(/^whsec_/)
    const subscription = await waybill.subscriptions.create(customer, { endpointUrl: receiver.url, hmacSecretId: "main" })
    await waybill.start()
    const published = await waybill.events.publish(carrier, [
      reportedEvent("S1", { eventId: "e1", accounts: ["A1"] }),
      reportedEvent("S2", { eventId: "e2", accounts: ["A2"] })
    ])
    expect(published.map(({ result }) => result)).toEqual(["accepted", "accepted"])
    const [request] = await receiver.until(1)
    expect(JSON.parse(request!.body).events.map((event: { eventId: string }) => event.eventId)).toEqual(["e1"])

    const page = await waybill.events.list(customer, { occurredFrom: new Date("2020-01-01"), pageSize: 5 })
    expect(page).toMatchObject({ page: 1, pageSize: 5, totalCount: 1, totalPages: 1, hasMore: false })
    expect(page.data[0]).toMatchObject({ eventId: "e1", sequence: 1, type: "IN_TRANSIT" })

    expect((await waybill.subscriptions.list(customer)).data).toEqual([subscription])
    const paused = await waybill.subscriptions.patch(customer, subscription.id, { status: "paused" })
    expect(paused.status).toBe("paused")
    expect(await waybill.subscriptions.get(customer, subscription.id)).toEqual(paused)
    await waybill.subscriptions.remove(customer, subscription.id)
    expect((await rejection(waybill.subscriptions.get(customer, subscription.id))).code).toBe("subscription_not_found")
  })

  it("delivers everything due on demand, for hosts without a worker", async () => {
    const receiver = await startReceiver()
    const waybill = await startWithTenant({ egressAllow: ["127.0.0.1"] })
    await waybill.secrets.put("acme", "main", { anyClient: true, bodySignature: true })
    const { id } = await waybill.subscriptions.create(carrier, { endpointUrl: receiver.url, hmacSecretId: "main" })
    await waybill.events.publish(carrier, [reportedEvent("S1")])
    for (const none of [0, NaN, null, "5000"]) expect((await rejection(waybill.runOnce({ forMillis: none as never }))).faults[0]!.pointer).toBe("/forMillis")
    expect(await waybill.runOnce({ forMillis: 60_000 })).toBe(1)
    expect(await waybill.runOnce()).toBe(0)
    expect(receiver.received[0]!.headers["x-signature"]).toEqual(expect.any(String))
    const { data: [delivery] } = await waybill.deliveries.list("acme", { state: "delivered", since: new Date(0) })
    expect((await waybill.deliveries.get("acme", delivery!.deliveryId)).body).toBe(receiver.received[0]!.body)
    await waybill.deliveries.retry("acme", delivery!.deliveryId)
    expect(await waybill.runOnce()).toBe(1)
    expect(await waybill.deliveries.replay("acme", id, { from: new Date(0) })).toBe(1)
    expect(await waybill.deliveries.recover("acme", id, new Date(0))).toBe(0)
    await waybill.wake("acme")
    for (const none of [undefined, "", null, { tenantId: "acme" }]) {
      expect(await rejection(waybill.wake(none as never))).toMatchObject({ code: "invalid_input", message: expect.stringContaining("waybill.wake(\"acme\")") })
    }
  })

  it("drops what waits beyond the quotas and removes old data on demand", async () => {
    const receiver = await startReceiver()
    const waybill = await startWithTenant({ egressAllow: ["127.0.0.1"], retention: { keepSettledMillis: 0 } })
    await waybill.limits.put("acme", { waitingPerSubscription: 1 })
    await waybill.secrets.put("acme", "main", { anyClient: true })
    const { id } = await waybill.subscriptions.create(carrier, { endpointUrl: receiver.url, hmacSecretId: "main" })
    await waybill.events.publish(carrier, [reportedEvent("S1"), reportedEvent("S2"), reportedEvent("S3")])
    await waybill.maintain()
    expect(await waybill.allSubscriptions.get("acme", id)).toMatchObject({ waiting: 1 })
    expect(await waybill.runOnce()).toBe(1)
    expect((await waybill.deliveries.list("acme")).data).toHaveLength(1)
    await waybill.maintain()
    expect((await waybill.deliveries.list("acme")).data).toEqual([])
  })

  it("shows operators tenants, subscriptions and shipments", async () => {
    const waybill = await startWithTenant()
    await waybill.tenants.put("other", { name: "Other" })
    expect(await waybill.tenants.list({ limit: 1 })).toEqual({ data: [{ tenantId: "acme", name: "Acme", hosts: [], state: "active" }], nextCursor: expect.any(String) })
    expect((await waybill.tenants.list()).data).toHaveLength(2)
    await waybill.secrets.put("acme", "main", { anyClient: true })
    const { id } = await waybill.subscriptions.create(customer, { endpointUrl: "https://receiver.example/hook", hmacSecretId: "main" })
    await waybill.events.publish(carrier, [{ ...reportedEvent("S1"), parties: { accounts: ["A1"] } }])
    expect((await waybill.allSubscriptions.list("acme")).data).toMatchObject([{ subscriptionId: id, client: `key:${customer.client}`, waiting: 1 }])
    expect((await waybill.allSubscriptions.list("acme", { state: "paused" })).data).toEqual([])
    expect((await waybill.allSubscriptions.list("acme", { subscriptionId: [id], inTrouble: true })).data).toEqual([])
    expect((await waybill.allSubscriptions.list("acme", { subscriptionId: [id, "unknown"], inTrouble: false })).data).toMatchObject([{ subscriptionId: id }])
    expect(await waybill.allSubscriptions.get("acme", id)).toMatchObject({ subscriptionId: id, waiting: 1 })
    expect(await rejection(waybill.allSubscriptions.get("other", id))).toMatchObject({ code: "subscription_not_found", status: 404 })
    expect(await waybill.journeys.find("acme", "S1")).toMatchObject([{ shipmentId: "S1" }])
    expect((await waybill.journeys.get("acme", "S1")).entries).toHaveLength(1)
    expect(await rejection(waybill.journeys.get("other", "S1"))).toMatchObject({ code: "shipment_not_found", status: 404 })
    expect(await rejection(waybill.allSubscriptions.list("nobody"))).toMatchObject({ code: "tenant_not_found", status: 404 })
    expect((await waybill.deliveries.list("acme", { order: "newest" })).data).toEqual([])
  })

  it("rejects with the error, its location and its HTTP status", async () => {
    const waybill = await startWithTenant()
    const bad = await rejection(waybill.events.publish(carrier, [{ ...reportedEvent("S1"), type: "LOST" as never }]))
    expect(bad).toMatchObject({ name: "WaybillError", code: "invalid_input", status: 400, problem: { status: 400, title: "Bad request" } })
    expect(bad.faults).toEqual([{ pointer: "/events/0/type", detail: expect.stringContaining("PICKED_UP"), code: "invalid" }])
    expect(await rejection(waybill.events.publish(customer, [reportedEvent("S1")]))).toMatchObject({ code: "not_permitted", status: 403 })
    expect(await rejection(waybill.secrets.put("nobody", "main"))).toMatchObject({ code: "tenant_not_found", status: 404 })
    expect(await rejection(waybill.apiKeys.revoke("acme", "none"))).toMatchObject({ code: "api_key_not_found", status: 404 })
    expect(await rejection(waybill.deliveries.get("acme", "none"))).toMatchObject({ code: "delivery_not_found", status: 404 })
    expect(await rejection(waybill.events.list({ ...carrier, tenantId: "../x" }))).toMatchObject({ code: "tenant_not_found", status: 404 })
  })

  it("names the first faulty field in the message, which stays short", async () => {
    const waybill = await startWithTenant()
    const { occurredAt: _, ...event } = reportedEvent("S1")
    const three = await rejection(waybill.events.publish(carrier, [event as never, { ...event, occurredAt: "today", type: "LOST" } as never]))
    expect(three.faults).toHaveLength(3)
    expect(three.message).toBe("Invalid input: /events/0/occurredAt: This field is required; and 2 more.")
    expect((await rejection(waybill.events.publish(carrier, [event as never]))).message).toBe("Invalid input: /events/0/occurredAt: This field is required.")
    expect((await rejection(waybill.limits.put("acme", { ["x".repeat(2000)]: 1 }))).message.length).toBeLessThan(400)
  })

  it("refuses a principal that is none, and an operator where a tenant's caller is needed", async () => {
    const waybill = await startWithTenant()
    const nameless = await rejection(waybill.events.list({ ...carrier, client: "" }))
    expect([nameless.code, nameless.faults[0]!.pointer]).toEqual(["invalid_input", "/principal/client"])
    const operator = await rejection(waybill.events.publish({ client: "root", roles: ["operator"] } as never, [reportedEvent("S1")]))
    expect([operator.code, operator.message]).toEqual(["invalid_input", expect.stringMatching(/^Invalid input: \/principal\/roles: An operator belongs to no tenant/)])
    for (const given of [undefined, null, "tms", [reportedEvent("S1")], { client: "tms", roles: ["carrier"] }]) {
      const none = await rejection(waybill.events.publish(given as never, [reportedEvent("S1")]))
      expect([none.code, none.message]).toEqual(["invalid_input", expect.stringMatching(/^Invalid input: \/principal: The first argument is who calls, such as \{ tenantId/)])
    }
  })

  it("reads values as JSON does: undefined members are absent, and a Date is an instant", async () => {
    const waybill = start()
    await waybill.tenants.put("acme", { name: "Acme", hosts: undefined as never })
    await waybill.secrets.put("acme", "main", { anyClient: true, accounts: undefined as never })
    const occurredAt = new Date("2026-11-20T08:15:00.250Z")
    const [published] = await waybill.events.publish(carrier, [
      { ...reportedEvent("S1"), occurredAt: occurredAt as never, eventId: undefined as never, notes: undefined as never, attributes: { seen: occurredAt, none: undefined } }
    ])
    expect(published).toMatchObject({ result: "accepted" })
    const { data: [event] } = await waybill.events.list(carrier, { shipmentId: undefined as never, occurredFrom: occurredAt })
    expect(event).toMatchObject({ occurredAt: "2026-11-20T08:15:00.250Z", attributes: { seen: "2026-11-20T08:15:00.250Z" } })
    expect(Object.keys(event!)).not.toContain("notes")
    const created = await waybill.subscriptions.create(carrier, { endpointUrl: "https://receiver.example/hook", hmacSecretId: "main", filters: undefined as never })
    expect((await waybill.subscriptions.list(carrier, { status: undefined as never })).data).toEqual([created])
    const circle: Record<string, unknown> = {}
    circle["self"] = circle
    expect(await rejection(waybill.events.publish(carrier, [{ ...reportedEvent("S1"), attributes: circle }]))).toMatchObject({ code: "invalid_input" })
  })

  it("joins the host's transaction with `within`, if it supports it", async () => {
    const waybill = await startWithTenant()
    await waybill.secrets.put("acme", "main", { anyClient: true })
    const tx = new HostTransaction()
    const within = waybill.within(tx)
    await within.events.publish(carrier, [reportedEvent("S1")])
    await within.subscriptions.create(carrier, { endpointUrl: "https://receiver.example/hook", hmacSecretId: "main" })
    expect(tx.joined).toBe(2)
    const foreign = await rejection(waybill.within({} as never).events.publish(carrier, [reportedEvent("S2")]))
    expect([foreign.status, foreign.message]).toEqual([500, "This is no transaction of the host."])
  })

  it("answers HTTP, with its own keys", async () => {
    const waybill = await startWithTenant({ apiKeys: true, operatorKeys: ["operator-key-for-tests"] })
    const { id, key } = await waybill.apiKeys.create("acme", { name: "tms", roles: ["carrier"] })
    const get = (path: string, headers: Record<string, string> = {}) => waybill.handler(new Request(`https://freight.example${path}`, { headers }))
    expect((await get("/visibility/v1/events", { "x-api-key": key })).status).toBe(200)
    expect((await get("/visibility/v1/events")).status).toBe(401)
    expect((await get("/operator/v1/tenants/acme/deliveries", { "x-api-key": "operator-key-for-tests" })).status).toBe(200)
    expect((await get("/readyz")).status).toBe(200)
    await waybill.apiKeys.revoke("acme", id)
    expect((await get("/visibility/v1/events", { "x-api-key": key })).status).toBe(401)
  })

  it("answers HTTP below a path that a router matched, or removed", async () => {
    const waybill = await startWithTenant({ authenticate: async () => carrier })
    await waybill.secrets.put("acme", "main", { anyClient: true })
    const request = (mount = "/api/freight") =>
      new Request(`https://freight.example${mount}/visibility/v1/subscriptions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ endpointUrl: "https://receiver.example/hook", hmacSecretId: "main" })
      })
    expect((await waybill.handler(request())).status).toBe(404)
    const created = await waybill.handler(request(), { mountPath: "/api/freight/" })
    expect(created.status).toBe(201)
    expect(created.headers.get("location")).toMatch(/^https:\/\/freight\.example\/api\/freight\/visibility\/v1\/subscriptions\/[0-9a-f-]{36}$/)
    const removed = await waybill.handler(request(""), { mountPath: "/api/freight" })
    expect(removed.headers.get("location")).toMatch(/^https:\/\/freight\.example\/api\/freight\/visibility\/v1\/subscriptions\/[0-9a-f-]{36}$/)
  })

  it("uses the host's authentication", async () => {
    const waybill = await startWithTenant({ authenticate: async (request) => request.headers.get("authorization") === "Bearer good" ? customer : undefined })
    const get = (authorization: string) => waybill.handler(new Request("http://x/visibility/v1/events", { headers: { authorization } }))
    expect([(await get("Bearer good")).status, (await get("Bearer bad")).status]).toEqual([200, 401])
  })

  it("lets a host log in by a query parameter that it names, which is no parameter of a call (SPEC-GAP-X4)", async () => {
    const authenticate: WaybillOptions["authenticate"] = async (request) => new URL(request.url).searchParams.get("access_token") === "good" ? customer : undefined
    const log: Array<LogEntry> = []
    const waybill = await startWithTenant({ authenticate, ignoredQueryParameters: ["access_token", "pageSize"], log: (entry) => void log.push(entry) })
    const get = async (query: string) => {
      const answer = await waybill.handler(new Request(`http://x/visibility/v1/events?${query}`))
      return { status: answer.status, link: answer.headers.get("link"), json: await answer.json() }
    }
    expect(await get("access_token=good&pageSize=3")).toMatchObject({ status: 200, json: { pageSize: 3 } })
    expect((await get("access_token=bad")).status).toBe(401)
    expect(await get("access_token=good&Access_Token=x")).toMatchObject({ status: 400, json: { errors: [expect.objectContaining({ parameter: "Access_Token" })] } })
    await waybill.events.publish(carrier, Array.from({ length: 2 }, () => reportedEvent("S1", { accounts: customer.accounts! })))
    expect((await get("access_token=good&pageSize=1")).link).toMatch(/rel="next"/u)
    expect(JSON.stringify([log, await get("access_token=good&pageSize=1")])).not.toContain("good")

    const refusing = await startWithTenant({ authenticate })
    expect((await refusing.handler(new Request("http://x/visibility/v1/events?access_token=good"))).status).toBe(400)
  })

  it("passes its log to the host, without secrets", async () => {
    const log: Array<LogEntry> = []
    const waybill = await startWithTenant({ apiKeys: true, log: (entry) => void log.push(entry) })
    const { key } = await waybill.apiKeys.create("acme", { name: "tms", roles: ["carrier"] })
    await waybill.handler(new Request("http://x/visibility/v1/events?page=2", { headers: { "x-api-key": key, "x-request-id": "mine" } }))
    expect(log).toContainEqual({
      level: "info",
      at: expect.stringMatching(/^\d{4}-/),
      message: "GET /visibility/v1/events 200",
      fields: expect.objectContaining({ correlationId: "mine", tenant: "acme", client: "key:tms", status: 200 }),
      cause: undefined,
      error: undefined
    })
    expect(JSON.stringify(log)).not.toContain(key)
  })

  it("says so when its handler gets the request of node:http", async () => {
    const waybill = createWaybill({ storage: memory(), sealingKeys: [sealingKey] })
    const error = await waybill.handler({ url: "/docs", method: "GET", headers: { host: "x" } } as unknown as Request).catch((error: unknown) => error)
    expect(error).toEqual(new TypeError("waybill.handler takes a Request, as fetch does. For Node's (req, res) use toNodeHandler(waybill)."))
  })

  it("connects at the first call, and again after the storage was unavailable", async () => {
    let attempts = 0
    let there = false
    const flaky = makeStorage<HostTransaction>({
      layer: Layer.unwrap(Effect.suspend(() => {
        attempts += 1
        return there ? Effect.succeed(StorageMemory.layer) : Effect.fail(new StorageError({ operation: "connect", cause: new Error("ECONNREFUSED") }))
      })),
      joined: () => (effect) => effect
    })
    const waybill = start({ storage: flaky })
    expect(attempts).toBe(0)
    const failed = await rejection(waybill.tenants.put("acme", { name: "Acme" }))
    expect([failed.code, failed.status, String(failed.cause), failed.message]).toEqual(["unavailable", 503, "Error: ECONNREFUSED", "Waybill cannot open its storage: ECONNREFUSED."])
    expect(JSON.stringify(failed.problem)).not.toContain("ECONNREFUSED")
    const answer = await waybill.handler(new Request("http://x/visibility/v1/events"))
    expect([answer.status, answer.headers.get("content-type")]).toEqual([503, "application/problem+json"])
    there = true
    expect(await waybill.tenants.put("acme", { name: "Acme" })).toMatchObject({ tenantId: "acme" })
  })

  it("releases everything when it stops, waits for running calls, and refuses new ones", async () => {
    let released = 0
    const storage = makeStorage<HostTransaction>({
      layer: Layer.provideMerge(
        Layer.effectDiscard(Effect.addFinalizer(() => Effect.sync(() => void (released += 1)))),
        StorageMemory.layer
      ),
      joined: () => (effect) => effect
    })
    const waybill = await startWithTenant({ storage })
    await waybill.start()
    const running = waybill.events.publish(carrier, [reportedEvent("S1")])
    const stopped = waybill.stop()
    expect((await running)[0]).toMatchObject({ result: "accepted" })
    await stopped
    await waybill.stop()
    expect(released).toBe(1)
    expect(await rejection(waybill.events.publish(carrier, [reportedEvent("S1")]))).toMatchObject({ code: "stopping", status: 503 })
    const answer = await waybill.handler(new Request("http://x/healthz"))
    expect([answer.status, answer.headers.get("connection")]).toEqual([503, "close"])
    await start().stop()
  })

  it("stops within a bound when the storage does not close, and says so in the log", async () => {
    const log: Array<string> = []
    const layer = Layer.provideMerge(Layer.effectDiscard(Effect.addFinalizer(() => Effect.never)), StorageMemory.layer)
    const waybill = start({
      storage: makeStorage<HostTransaction>({ layer, joined: () => (effect) => effect }),
      delivery: { drainMillis: 12_000 },
      log: ({ level, message }) => void (level === "warn" && log.push(message))
    })
    await waybill.start()
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    let stopped = false
    void waybill.stop().then(() => stopped = true)
    await vi.advanceTimersByTimeAsync(19_000)
    expect(stopped).toBe(false)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(stopped).toBe(true)
    expect(log).toEqual(["Stop not complete within 20 s, the database does not answer. Leases expire, then deliveries are sent again."])
  })

  it.each([["can be interrupted", Effect.never], ["cannot be interrupted", Effect.uninterruptible(Effect.never)]])(
    "stops within a bound when the storage does not open and %s, and answers the calls that wait for it",
    async (_, opening) => {
      const storage = makeStorage<HostTransaction>({ layer: Layer.provideMerge(StorageMemory.layer, Layer.effectDiscard(opening)), joined: () => (effect) => effect })
      const waybill = start({ storage })
      vi.useFakeTimers()
      onTestFinished(() => void vi.useRealTimers())
      let stopped = false
      const calls = [waybill.tenants.list(), waybill.start(), waybill.handler(new Request("http://x/healthz"))].map((call) => call.then((answer) => (answer as Response).status, (error: WaybillError) => error.code))
      void waybill.stop().then(() => stopped = true)
      await vi.advanceTimersByTimeAsync(9_000)
      expect(stopped).toBe(false)
      await vi.advanceTimersByTimeAsync(9_000)
      expect(stopped).toBe(true)
      if (opening === Effect.never) expect(await Promise.all(calls)).toEqual(["stopping", "stopping", 503])
      await waybill.stop()
    }
  )

  it.each<readonly [string, Partial<WaybillOptions<HostTransaction>>, RegExp]>([
    ["a storage that is none", { storage: {} as never }, /storage package/],
    ["a short sealing key", { sealingKeys: [new Uint8Array(16)] }, /32 bytes/],
    ["no sealing key", { sealingKeys: [] as never }, /32 bytes/],
    ["no list of sealing keys", { sealingKeys: undefined as never }, /32 bytes/],
    ["a sealing key that is not base64", { sealingKeys: ["secret"] }, /32 bytes/],
    ["a short operator key", { operatorKeys: ["nineteen-characters"] }, /20 characters/],
    ["operator keys beside authenticate", { authenticate: async () => carrier, operatorKeys: ["operator-key-for-tests"] }, /without jwt and operatorKeys/],
    ["tokens beside authenticate", { authenticate: async () => carrier, jwt: { jwksUrl: "https://id.example/keys", issuer: "x", audience: "y" } }, /without jwt and operatorKeys/],
    ["an option that is misspelt", { autenticate: async () => carrier } as never, /no option autenticate\. Did you mean authenticate\?/],
    ["egress that is no list", { egressAllow: "127.0.0.1" as never }, /egressAllow of createWaybill is a list/],
    ["egress that is no network", { egressAllow: ["10.0.0.0/99"] }, /egressAllow/],
    ["a base path that is none", { basePaths: { intake: "/a b" } }, /base path/],
    ["a public address that is none", { publicBaseUrl: "freight.example.com" }, /publicBaseUrl/],
    ["query parameters that are no list", { ignoredQueryParameters: "token" as never }, /ignoredQueryParameters/],
    ["a query parameter without a name", { ignoredQueryParameters: [""] }, /ignoredQueryParameters/],
    ["a key set without an address", { jwt: { jwksUrl: "keys", issuer: "x", audience: "y" } }, /jwksUrl/],
    ["a key set over plain http", { jwt: { jwksUrl: "http://127.0.0.1/jwks", issuer: "x", audience: "y" } }, /plain http/],
    ["two operators with one key", { operatorKeys: ["operator-key-for-tests", { name: "ci", key: "operator-key-for-tests" }] }, /twice/],
    ["an operator's name that is none", { operatorKeys: [{ name: "Ci", key: "operator-key-for-tests" }] }, /name/],
    ["an operator's key from a variable that is not set", { operatorKeys: [undefined as never] }, /a key is missing\. Is its environment variable set\?/],
    ["an operator without a key", { operatorKeys: [{ name: "ci" } as never] }, /a key is missing/],
    ["an operator's key that is no text", { operatorKeys: [7 as never] }, /key of operatorKeys is a text/],
    ["an operator whose permission is misspelt", { operatorKeys: [{ key: "operator-key-for-tests", readonly: true } as never] }, /operatorKeys has no option readonly\. Did you mean readOnly\?/],
    ["an allowance that is none", { othersLookupsPerMinute: 0 }, /othersLookupsPerMinute/],
    ["a time zone that is none", { timeZone: "Mars/Olympus" }, /time zone/],
    ["an authenticate that is no function", { authenticate: "x" as never }, /authenticate of createWaybill is a function, and got a text/],
    ["an option that is null", { mail: null as never }, /mail of createWaybill is a function, and got null/],
    ["a setting of deliveries that is misspelt", { delivery: { concurency: 5 } as never }, /delivery has no option concurency\. Did you mean concurrency\?/],
    ["a setting of deliveries that is no number", { delivery: { concurrency: NaN } }, /concurrency of delivery is a whole number from 1/],
    ["a period that is misspelt", { retention: { keepNoticeMillis: 5 } as never }, /retention has no option keepNoticeMillis/],
    ["a time that no timer has, and that would end each request at once", { bodyTimeoutMillis: 2 ** 31 }, /bodyTimeoutMillis of createWaybill is a number of milliseconds above 0, at most 2,147,483,647/],
    ["a negative period", { retention: { keepNoticesMillis: -1 } }, /keepNoticesMillis of retention is a number of milliseconds from 0/],
    ["a period without an end", { retention: { keepSettledMillis: Infinity } }, /keepSettledMillis of delivery is a number of milliseconds from 0/],
    ["a setting of the portal that is misspelt", { portal: { pageURl: "https://x.example" } as never }, /portal has no option pageURl/],
    ["an unknown area of base paths", { basePaths: { invoice: "/x" } as never }, /basePaths has no option invoice\. Did you mean invoices\?/],
    ["tokens for any audience", { jwt: { jwksUrl: "https://id.example/keys", issuer: "x" } as never }, /jwt needs audience/],
    ["a misspelt option of tokens", { jwt: { jwksUrl: "https://id.example/keys", issuer: "x", audience: "y", clockTolerance: 5 } as never }, /jwt has no option clockTolerance/],
    ["a lease shorter than an attempt", { delivery: { leaseMillis: 10, attemptTimeoutMillis: 20 } }, /leaseMillis/]
  ])("throws at once for %s", (_what, options, message) => {
    expect(() => createWaybill({ storage: memory(), sealingKeys: [sealingKey], ...options })).toThrow(message)
  })

  it.each([{ formillis: 5 }, { forMillis: 0 }, { forMillis: -1 }, { forMillis: NaN }, { forMillis: "5" }, { forMillis: null }, null])("runOnce(%j) is refused", async (options) => {
    await expect(start().runOnce(options as never)).rejects.toMatchObject({ code: "invalid_input", faults: [{ pointer: options === null ? "" : `/${Object.keys(options)[0]}` }] })
  })

  it("accepts sealing keys as base64", async () => {
    const waybill = await startWithTenant({ sealingKeys: [Buffer.from(sealingKey).toString("base64")] })
    expect((await waybill.secrets.put("acme", "main", { anyClient: true })).hmacSecretId).toBe("main")
  })
})

