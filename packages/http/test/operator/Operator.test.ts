import { Receiver, ScriptedReceivers } from "@waybill/testkit"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { type Answer, operatorKey, problemCode, reportedEvent, runningService } from "../TestService.ts"

const service = await runningService()

const operate = (method: string, path: string, body?: unknown): Promise<Answer> =>
  service.send(method, `/operator/v1/tenants/${path}`, { key: operatorKey, ...(body === undefined ? {} : { body }) })

const script = (url: string, behaviour: Parameters<ScriptedReceivers["Service"]["script"]>[1]) =>
  service.run(Effect.flatMap(ScriptedReceivers, (receivers) => receivers.script(url, behaviour)))

const received = (url: string) => service.run(Effect.flatMap(ScriptedReceivers, (receivers) => receivers.requests(url)))

describe("access to the operator API", () => {
  const calls = [
    ["PUT", "acme"],
    ["POST", "acme/api-keys"],
    ["DELETE", "acme/api-keys/1"],
    ["GET", "acme/limits"],
    ["PUT", "acme/limits"],
    ["PUT", "acme/secrets/main"],
    ["GET", "acme/secrets"],
    ["DELETE", "acme/secrets/main"],
    ["GET", "acme/deliveries"],
    ["GET", "acme/deliveries/1"],
    ["POST", "acme/deliveries/1/retry"],
    ["GET", "acme/subscriptions"],
    ["GET", "acme/subscriptions/1"],
    ["GET", "acme/shipments?reference=1"],
    ["GET", "acme/shipments/1/journey"],
    ["GET", "acme/statistics"],
    ["GET", "acme/pickups"],
    ["POST", "acme/pickups/1/decision"],
    ["POST", "acme/subscriptions/1/recover"],
    ["POST", "acme/subscriptions/1/replay"],
    ["POST", "acme/subscriptions/1/resume"]
  ] as const

  it("is refused without credentials, and to callers who are not operators, for every call (SPEC-GAP-X2)", async () => {
    const tenant = await service.tenant("acme")
    for (const [key, status] of [[undefined, 401], [tenant.carrier, 403]] as const) {
      expect((await service.send("GET", "/operator/v1/tenants", key === undefined ? {} : { key })).status).toBe(status)
    }
    for (const [method, path] of calls) {
      const bare = await service.send(method, `/operator/v1/tenants/${path}`)
      expect([method, path, bare.status, problemCode(bare)]).toEqual([method, path, 401, "unauthenticated"])
      const carrier = await service.send(method, `/operator/v1/tenants/${path}`, { key: tenant.carrier })
      expect([method, path, carrier.status, problemCode(carrier)]).toEqual([method, path, 403, "not_permitted"])
    }
  })

  it("includes no tenant's freight", async () => {
    for (const path of ["/visibility/v1/events", "/visibility/v1/subscriptions"]) {
      expect((await service.send("GET", path, { key: operatorKey })).status).toBe(403)
    }
    const reported = await service.send("POST", "/intake/v1/transit-events", { key: operatorKey, body: { events: [reportedEvent("S1")] } })
    expect(reported.status).toBe(403)
  })

  it("gets 404 for an unknown tenant in every call, whatever its name", async () => {
    for (const tenantId of ["nobody", "%00", "%F0%9F%98%80", "a.b", "x".repeat(100)]) {
      for (const [method, path] of calls.slice(1)) {
        const body = path.endsWith("recover") ? { since: "2026-11-20T00:00:00Z" } : path.endsWith("replay") ? { from: "2026-11-20T00:00:00Z" } : {}
        const answer = await operate(method, path.replace("acme", tenantId), method === "GET" || method === "DELETE" ? undefined : body)
        expect([answer.status, problemCode(answer)]).toEqual([404, "tenant_not_found"])
      }
    }
  })
})

describe("tenants, keys and secrets", () => {
  it("creates and updates a tenant with the same call", async () => {
    expect((await operate("PUT", "t1", { name: "First", hosts: ["Track.Example"] })).json).toEqual({ tenantId: "t1", name: "First", hosts: ["track.example"], state: "active" })
    expect((await operate("PUT", "t1", { name: "Second" })).json).toEqual({ tenantId: "t1", name: "Second", hosts: [], state: "active" })
  })

  it("refuses an invalid tenant id and names it as a parameter", async () => {
    const answer = await operate("PUT", "no.dots", { name: "x" })
    expect([answer.status, answer.json.errors[0].parameter]).toEqual([400, "tenantId"])
    const body = await operate("PUT", "t1", { title: "x" })
    expect(body.json.errors.map((error: { pointer: string }) => error.pointer).sort()).toEqual(["/name", "/title"])
  })

  it("lists tenants by id, with cursors", async () => {
    for (const id of ["list-b", "list-a", "list-c"]) await operate("PUT", id, { name: `Tenant ${id}`, hosts: [`${id}.example`] })
    const list = (query: string) => service.send("GET", `/operator/v1/tenants?${query}`, { key: operatorKey })
    const listed: Array<{ readonly tenantId: string }> = []
    for (let cursor: string | null = ""; cursor !== null;) {
      const page = await list(`limit=2${cursor}`)
      expect(page.status).toBe(200)
      listed.push(...page.json.data)
      cursor = page.json.nextCursor === null ? null : `&cursor=${page.json.nextCursor}`
    }
    expect(listed.filter(({ tenantId }) => tenantId.startsWith("list-"))).toEqual(
      ["list-a", "list-b", "list-c"].map((tenantId) => ({ tenantId, name: `Tenant ${tenantId}`, hosts: [`${tenantId}.example`], state: "active" })))
    expect(listed.map(({ tenantId }) => tenantId)).toEqual(listed.map(({ tenantId }) => tenantId).toSorted())
    for (const [query, parameter] of [["limit=0", "limit"], ["limit=501", "limit"], ["cursor=list-b", "cursor"]] as const) {
      const refused = await list(query)
      expect([refused.status, refused.json.errors[0].parameter]).toEqual([400, parameter])
    }
  })

  it("accepts a key as soon as it is created, and refuses it right after it is revoked", async () => {
    await operate("PUT", "t2", { name: "T2" })
    const created = await operate("POST", "t2/api-keys", { name: "shop", roles: ["customer"], accounts: ["A1"] })
    expect(created.status).toBe(201)
    expect(Object.keys(created.json).sort()).toEqual(["id", "key"])
    const list = () => service.send("GET", "/visibility/v1/subscriptions", { key: created.json.key })
    expect((await list()).status).toBe(200)
    const revoked = await operate("DELETE", `t2/api-keys/${created.json.id}`)
    expect([revoked.status, revoked.text]).toEqual([204, ""])
    expect((await list()).status).toBe(401)
    const again = await operate("DELETE", `t2/api-keys/${created.json.id}`)
    expect([again.status, problemCode(again)]).toEqual([404, "api_key_not_found"])
  })

  it("cannot revoke a key of another tenant", async () => {
    const mine = await service.tenant("t3")
    await operate("PUT", "t4", { name: "T4" })
    expect((await operate("DELETE", `t4/api-keys/${mine.carrierKeyId}`)).status).toBe(404)
    expect((await service.send("GET", "/visibility/v1/events", { key: mine.carrier })).status).toBe(200)
  })

  it("generates, stores or rotates a secret", async () => {
    await operate("PUT", "t5", { name: "T5" })
    const first = await operate("PUT", "t5/secrets/hooks", { anyClient: true })
    expect(first.status).toBe(200)
    expect(first.json).toEqual({ hmacSecretId: "hooks", secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]+=*$/) })
    const second = await service.send("PUT", "/operator/v1/tenants/t5/secrets/hooks", { key: operatorKey })
    expect(second.json.secret).not.toBe(first.json.secret)
    const given = await operate("PUT", "t5/secrets/hooks", { secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", overlapSeconds: 0 })
    expect(given.json.secret).toBe("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    expect((await operate("PUT", "t5/secrets/hooks", { client: "shipper", rotate: false })).json).toEqual(given.json)
    const weak = await operate("PUT", "t5/secrets/hooks", { secret: "whsec_short" })
    expect([weak.status, weak.json.errors[0].pointer]).toEqual([400, "/secret"])
    const odd = await operate("PUT", "t5/secrets/%00", {})
    expect([odd.status, odd.json.errors[0].parameter]).toEqual([400, "hmacSecretId"])
  })

  it("requires exactly one owner of a secret, which the list shows", async () => {
    await operate("PUT", "t6", { name: "T6" })
    const secrets = "t6/secrets"
    for (const owner of [{}, { client: "a", anyClient: true }, { client: "a", accounts: ["A"] }, { accounts: [] }]) {
      const refused = await operate("PUT", `${secrets}/hooks`, owner)
      expect([refused.status, problemCode(refused), refused.json.errors[0].detail]).toEqual([400, "invalid_input", expect.stringContaining("client, accounts or anyClient: true")])
    }
    expect((await operate("PUT", `${secrets}/hooks`, { client: "a", rotate: false })).status).toBe(404)
    await operate("PUT", `${secrets}/hooks`, { client: "a" })
    await operate("PUT", `${secrets}/more`, { accounts: ["A", "B"] })
    const listed = await operate("GET", secrets)
    const common = { createdAt: expect.any(String), rotatedAt: null, signsUntil: null, usedBy: 0 }
    expect(listed.json).toEqual({
      data: [
        { ...common, hmacSecretId: "hooks", client: "key:a", accounts: [], anyClient: false },
        { ...common, hmacSecretId: "more", client: null, accounts: ["A", "B"], anyClient: false }
      ],
      nextCursor: null
    })
  })

  it("deletes a secret when no subscription uses it", async () => {
    const tenant = await service.tenant("t7")
    const { json: subscription } = await tenant.subscribe(tenant.carrier, { endpointUrl: "https://t7.example/hook" })
    const used = await operate("DELETE", "t7/secrets/main")
    expect([used.status, problemCode(used)]).toEqual([409, "secret_in_use"])
    await service.send("DELETE", `/visibility/v1/subscriptions/${subscription.id}`, { key: tenant.carrier })
    expect((await operate("DELETE", "t7/secrets/main")).status).toBe(204)
    const gone = await operate("DELETE", "t7/secrets/main")
    expect([gone.status, problemCode(gone)]).toEqual([404, "secret_not_found"])
  })
})

describe("deliveries", () => {
  const since = "2020-01-01T00:00:00Z"

  it("are listed with their attempts and shown with their exact body", async () => {
    const tenant = await service.tenant("d1")
    const { json: subscription } = await tenant.subscribe(tenant.carrier, { endpointUrl: "https://d1.example/hook" })
    await tenant.publish(reportedEvent("S1", { eventId: "e1" }))
    await service.deliver()
    const listed = await operate("GET", `d1/deliveries?state=delivered&subscriptionId=${subscription.id}&since=${since}`)
    expect(listed.status).toBe(200)
    expect(listed.json.nextCursor).toBe(null)
    const [delivery] = listed.json.data
    expect(delivery).toMatchObject({ subscriptionId: subscription.id, state: "delivered", events: 1, nextAttemptAt: null })
    expect(delivery.attempts).toMatchObject([{ attempt: 1, outcome: "accepted", status: 200 }])
    const shown = await operate("GET", `d1/deliveries/${delivery.deliveryId}`)
    const [request] = await received("https://d1.example/hook")
    expect(shown.json.body).toBe(new TextDecoder().decode(request!.body))
    expect(shown.json.endpointUrl).toBe("https://d1.example/hook")
    expect((await operate("GET", `acme/deliveries/${delivery.deliveryId}`)).status).toBe(404)
  })

  it("are listed newest first by default, with cursors", async () => {
    const tenant = await service.tenant("d2")
    await tenant.subscribe(tenant.carrier, { delivery: { batchMaxSize: 1 } })
    await tenant.publish(...["a", "b", "c"].map((id) => reportedEvent(`S-${id}`, { eventId: id })))
    await service.deliver()
    const first = await operate("GET", "d2/deliveries?limit=2")
    expect(first.json.data.length).toBe(2)
    const second = await operate("GET", `d2/deliveries?limit=2&cursor=${first.json.nextCursor}`)
    expect(second.json.data.length).toBe(1)
    expect(second.json.nextCursor).toBe(null)
    expect((await operate("GET", "d2/deliveries?order=newest")).json.data).toEqual([...first.json.data, ...second.json.data])
    expect((await operate("GET", "d2/deliveries?order=oldest")).json.data).toEqual([...first.json.data, ...second.json.data].toReversed())
  })

  it.each([["state=lost", "state"], ["since=yesterday", "since"], ["order=up", "order"], ["cursor=x", "cursor"], ["limit=0", "limit"], ["limit=501", "limit"]])(
    "refuse ?%s",
    async (query, parameter) => {
      const answer = await operate("GET", `acme/deliveries?${query}`)
      expect([answer.status, answer.json.errors[0].parameter]).toEqual([400, parameter])
    }
  )

  it("that are dead letters are sent again, one by one or since a time, with the same id", async () => {
    const tenant = await service.tenant("d3")
    const url = "https://d3.example/hook"
    await script(url, Receiver.fail(500))
    const { json: subscription } = await tenant.subscribe(tenant.carrier, { endpointUrl: url, delivery: { maxAttempts: 1 } })
    await tenant.publish(reportedEvent("S1", { eventId: "e1" }))
    await service.deliver()
    const [dead] = (await operate("GET", "d3/deliveries?state=dead")).json.data
    expect(dead.attempts).toMatchObject([{ attempt: 1, outcome: "http_5xx", status: 500 }])
    await script(url, Receiver.accept())
    const recovered = await operate("POST", `d3/subscriptions/${subscription.id}/recover`, { since })
    expect([recovered.status, recovered.json]).toEqual([202, { recovered: 1 }])
    await service.deliver()
    expect((await operate("POST", `d3/deliveries/${dead.deliveryId}/retry`)).status).toBe(202)
    await service.deliver()
    const sent = await received(url)
    expect(sent.map(({ headers }) => headers["webhook-id"])).toEqual([dead.deliveryId, dead.deliveryId, dead.deliveryId])
    expect(new Set(sent.map(({ body }) => new TextDecoder().decode(body))).size).toBe(1)
  })

  it("that were cancelled or are unknown cannot be sent again", async () => {
    const tenant = await service.tenant("d4")
    const url = "https://d4.example/hook"
    await script(url, Receiver.fail(500))
    const { json: subscription } = await tenant.subscribe(tenant.carrier, { endpointUrl: url })
    await tenant.publish(reportedEvent("S1"))
    await service.deliver()
    await service.send("DELETE", `/visibility/v1/subscriptions/${subscription.id}`, { key: tenant.carrier })
    const [cancelled] = (await operate("GET", "d4/deliveries")).json.data
    const answer = await operate("POST", `d4/deliveries/${cancelled.deliveryId}/retry`)
    expect([answer.status, problemCode(answer)]).toEqual([409, "delivery_not_retryable"])
    const unknown = await operate("POST", "d4/deliveries/0b8f2c1e-6f0a-7c3d-9a55-2d1f0c9e8b77/retry")
    expect([unknown.status, problemCode(unknown)]).toEqual([404, "delivery_not_found"])
  })

  it("are replayed as new ones", async () => {
    const tenant = await service.tenant("d5")
    const url = "https://d5.example/hook"
    const { json: subscription } = await tenant.subscribe(tenant.carrier, { endpointUrl: url })
    await tenant.publish(reportedEvent("S1", { eventId: "e1" }), reportedEvent("S2", { eventId: "e2" }))
    await service.deliver()
    const replayed = await operate("POST", `d5/subscriptions/${subscription.id}/replay`, { from: since, shipmentIds: ["S2"] })
    expect([replayed.status, replayed.json]).toEqual([202, { queued: 1 }])
    await service.deliver()
    expect(new Set((await received(url)).map(({ headers }) => headers["webhook-id"])).size).toBe(2)
    const wrong = await operate("POST", `d5/subscriptions/${subscription.id}/replay`, { from: "then" })
    expect([wrong.status, wrong.json.errors[0].pointer]).toEqual([400, "/from"])
    for (const [call, body] of [["recover", { since }], ["replay", { from: since }]] as const) {
      const unknown = await operate("POST", `d5/subscriptions/0b8f2c1e-6f0a-7c3d-9a55-2d1f0c9e8b77/${call}`, body)
      expect([unknown.status, problemCode(unknown)]).toEqual([404, "subscription_not_found"])
    }
  })

  it("stop for a receiver that answers 410, and the reason is shown", async () => {
    const tenant = await service.tenant("d6")
    const url = "https://d6.example/hook"
    await script(url, Receiver.gone)
    const { json: subscription } = await tenant.subscribe(tenant.carrier, { endpointUrl: url })
    const status = () => operate("GET", `d6/subscriptions/${subscription.id}`)
    expect((await status()).json).toMatchObject({ subscriptionId: subscription.id, client: "key:carrier", waiting: 0, state: "active", reason: null, since: expect.stringMatching(/Z$/) })
    await tenant.publish(reportedEvent("S1"))
    await service.deliver()
    expect((await status()).json).toMatchObject({ state: "paused", reason: "The receiver answered 410 Gone." })
    const shown = await service.send("GET", `/visibility/v1/subscriptions/${subscription.id}`, { key: tenant.carrier })
    expect(shown.json.status).toBe("paused")
  })
})

describe("subscriptions", () => {
  it("are listed with their waiting entries and delivery state", async () => {
    const tenant = await service.tenant("s1")
    const url = "https://s1.example/hook"
    await script(url, Receiver.gone)
    const { json: subscription } = await tenant.subscribe(tenant.carrier, { endpointUrl: url })
    await tenant.publish(reportedEvent("S1"))
    await service.deliver()
    await tenant.publish(reportedEvent("S1"))
    const listed = await operate("GET", "s1/subscriptions?state=paused")
    expect([listed.status, listed.json]).toEqual([200, {
      data: [{
        subscriptionId: subscription.id,
        area: "transit-events",
        client: "key:carrier",
        endpointUrl: url,
        hmacSecretId: "main",
        filters: {},
        accounts: null,
        delivery: { batchMaxSize: 200, initialBackoffSeconds: 5, maxAttempts: 12, maxBackoffSeconds: 3600, rateLimitPerMinute: 600 },
        state: "paused",
        reason: "The receiver answered 410 Gone.",
        pausedBy: "service",
        held: false,
        since: expect.stringMatching(/Z$/),
        breaker: { state: "closed", failures: expect.any(Number), until: null },
        waiting: 1,
        oldestWaitingAt: expect.stringMatching(/Z$/),
        inFlight: expect.any(Number),
        dropped: 0,
        dead: expect.any(Number),
        dueAt: null,
        lastAttempt: { at: expect.stringMatching(/Z$/), outcome: "gone", status: 410 }
      }],
      nextCursor: null
    }])
    for (const client of ["carrier", "key:carrier"]) {
      expect((await operate("GET", `s1/subscriptions?client=${client}`)).json.data).toMatchObject([{ subscriptionId: subscription.id }])
      expect((await operate("GET", `s1/deliveries?client=${client}`)).json.data).toMatchObject([{ subscriptionId: subscription.id }])
    }
    expect((await operate("GET", "s1/subscriptions?client=jwt:carrier")).json.data).toEqual([])
    expect((await operate("GET", `s1/subscriptions?subscriptionId=${subscription.id}&subscriptionId=unknown`)).json.data).toMatchObject([{ subscriptionId: subscription.id }])
    expect((await operate("GET", "s1/subscriptions?subscriptionId=unknown")).json).toEqual({ data: [], nextCursor: null })
    expect((await operate("GET", "s1/subscriptions?state=active")).json).toEqual({ data: [], nextCursor: null })
    for (const [query, parameter] of [["state=closed", "state"], ["limit=0", "limit"], ["cursor=x", "cursor"]] as const) {
      const refused = await operate("GET", `s1/subscriptions?${query}`)
      expect([refused.status, refused.json.errors[0].parameter]).toEqual([400, parameter])
    }
  })
})

describe("shipments", () => {
  it("are found by their references, and show their history", async () => {
    const tenant = await service.tenant("j1")
    const url = "https://j1.example/hook"
    await tenant.subscribe(tenant.carrier, { endpointUrl: url })
    await tenant.publish(reportedEvent("S/1", { eventId: "e1", occurredAt: "2026-11-20T08:15:00-06:00" }))
    await service.deliver()
    const found = await operate("GET", `j1/shipments?reference=${encodeURIComponent("S/1")}`)
    expect([found.status, found.json.data]).toMatchObject([200, [{ shipmentId: "S/1", status: "IN_TRANSIT", lastAt: "2026-11-20T14:15:00.000Z" }]])
    expect((await operate("GET", "j1/shipments?reference=unknown")).json).toEqual({ data: [] })
    const missing = await operate("GET", "j1/shipments")
    expect([missing.status, missing.json.errors[0].parameter]).toEqual([400, "reference"])

    const journey = await operate("GET", `j1/shipments/${encodeURIComponent("S/1")}/journey`)
    expect(journey.status).toBe(200)
    expect(journey.json).toMatchObject({ shipmentId: "S/1", truncated: false, deliveriesSince: null })
    expect(journey.json.entries).toMatchObject([{ at: "2026-11-20T14:15:00.000Z", area: "transit-events", kind: "IN_TRANSIT", reference: "e1", document: { eventId: "e1" } }])
    expect(journey.json.deliveries).toMatchObject([{ area: "transit-events", state: "delivered", events: 1 }])
    const unknown = await operate("GET", "j1/shipments/unknown/journey")
    expect([unknown.status, problemCode(unknown)]).toEqual([404, "shipment_not_found"])
    const elsewhere = await operate("GET", `acme/shipments/${encodeURIComponent("S/1")}/journey`)
    expect([elsewhere.status, problemCode(elsewhere)]).toEqual([404, "shipment_not_found"])
  })
})
