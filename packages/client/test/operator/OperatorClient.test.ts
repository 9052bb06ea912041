import { describe, expect, it } from "vitest"
import { type Delivery, OperatorClient } from "../../src/operator/index.ts"
import { clientsOf, json, problem } from "../scripted-server.ts"

const clientOf = clientsOf(OperatorClient, { apiKey: "op" })
const delivery: Delivery = {
  deliveryId: "d-1",
  subscriptionId: "s-1",
  state: "dead",
  createdAt: "2026-11-20T08:00:00.000Z",
  reason: null,
  settledAt: "2026-11-20T11:00:00.000Z",
  nextAttemptAt: null,
  events: 2,
  attempts: [{ attempt: 1, at: "2026-11-20T08:00:00.000Z", durationMillis: 12, outcome: "http_5xx", status: 503, detail: "It answered 503.", answer: "busy" }]
}

describe("OperatorClient", () => {
  const calls: ReadonlyArray<readonly [string, (client: OperatorClient) => Promise<unknown>, unknown, object, unknown]> = [
    ["puts a tenant", (client) => client.putTenant("acme", { name: "Acme", hosts: ["a.test"] }), { ok: true },
      { method: "PUT", path: "/operator/v1/tenants/acme", body: { name: "Acme", hosts: ["a.test"] } }, undefined],
    ["creates a key", (client) => client.createApiKey("acme", { name: "tms", roles: ["customer"], accounts: ["1"] }), { id: "k1", key: "wb_1" },
      { method: "POST", path: "/operator/v1/tenants/acme/api-keys", body: { name: "tms", roles: ["customer"], accounts: ["1"] } }, { id: "k1", key: "wb_1" }],
    ["revokes a key", (client) => client.revokeApiKey("acme", "k/1"), undefined,
      { method: "DELETE", path: "/operator/v1/tenants/acme/api-keys/k%2F1", body: undefined }, undefined],
    ["lists the audit log", (client) => client.listAudit({ tenant: "acme", actor: "key:tms", since: new Date(0), limit: 5 }), { data: [], nextCursor: null },
      { method: "GET", path: "/operator/v1/audit?tenant=acme&actor=key%3Atms&since=1970-01-01T00%3A00%3A00.000Z&limit=5" }, { data: [], nextCursor: null }],
    ["lists waiting pickups", (client) => client.listPickups("acme", { state: "waiting", limit: 2 }), { data: [], nextCursor: null },
      { method: "GET", path: "/operator/v1/tenants/acme/pickups?state=waiting&limit=2" }, { data: [], nextCursor: null }],
    ["decides on a pickup", (client) => client.decidePickup("acme", "p/1", { decision: "reject", message: "No." }), { result: "accepted" },
      { method: "POST", path: "/operator/v1/tenants/acme/pickups/p%2F1/decision", body: { decision: "reject", message: "No." } }, { result: "accepted" }],
    ["gets statistics", (client) => client.statistics("acme", { subscriptionId: ["a", "b"], from: new Date(0), step: 60 }), { series: [] },
      { method: "GET", path: "/operator/v1/tenants/acme/statistics?subscriptionId=a&subscriptionId=b&from=1970-01-01T00%3A00%3A00.000Z&step=60" }, { series: [] }],
    ["gets quotas", (client) => client.getLimits("acme"), { subscriptions: 1 }, { method: "GET", path: "/operator/v1/tenants/acme/limits" }, { subscriptions: 1 }],
    ["changes quotas", (client) => client.putLimits("acme", { subscriptions: 1, waitingDays: null }), { subscriptions: 1 },
      { method: "PUT", path: "/operator/v1/tenants/acme/limits", body: { subscriptions: 1, waitingDays: null } }, { subscriptions: 1 }],
    ["rotates a secret", (client) => client.putSecret("acme", "main", { overlapSeconds: 60 }), { hmacSecretId: "main", secret: "whsec_x" },
      { method: "PUT", path: "/operator/v1/tenants/acme/secrets/main", body: { overlapSeconds: 60 } }, { hmacSecretId: "main", secret: "whsec_x" }],
    ["puts a secret of one's own", (client) => client.putSecret("acme", "main", { secret: "whsec_x", accounts: ["1"], bodySignature: true }), { hmacSecretId: "main", secret: "whsec_x" },
      { method: "PUT", body: { secret: "whsec_x", accounts: ["1"], bodySignature: true } }, { hmacSecretId: "main", secret: "whsec_x" }],
    ["lets a secret be generated", (client) => client.putSecret("acme", "main"), { hmacSecretId: "main", secret: "whsec_x" },
      { method: "PUT", body: {} }, { hmacSecretId: "main", secret: "whsec_x" }],
    ["gives a secret to another owner", (client) => client.putSecret("acme", "main", { client: "shop", rotate: false }), { hmacSecretId: "main", secret: "whsec_x" },
      { method: "PUT", body: { client: "shop", rotate: false } }, { hmacSecretId: "main", secret: "whsec_x" }],
    ["lists secrets", (client) => client.listSecrets("acme", { limit: 2, cursor: "a" }), { data: [{ hmacSecretId: "b" }], nextCursor: null },
      { method: "GET", path: "/operator/v1/tenants/acme/secrets?limit=2&cursor=a" }, { data: [{ hmacSecretId: "b" }], nextCursor: null }],
    ["deletes a secret", (client) => client.deleteSecret("acme", "client:a/b"), undefined,
      { method: "DELETE", path: "/operator/v1/tenants/acme/secrets/client%3Aa%2Fb", body: undefined }, undefined],
    ["lists deliveries", (client) => client.listDeliveries("acme", { state: "dead", subscriptionId: "s-1", since: new Date(0), limit: 5, cursor: "c" }), { data: [delivery], nextCursor: null },
      { method: "GET", path: "/operator/v1/tenants/acme/deliveries?state=dead&subscriptionId=s-1&since=1970-01-01T00%3A00%3A00.000Z&limit=5&cursor=c" }, { data: [delivery], nextCursor: null }],
    ["lists deliveries of a client, oldest first", (client) => client.listDeliveries("acme", { client: "shipper", order: "oldest" }), { data: [delivery] },
      { method: "GET", path: "/operator/v1/tenants/acme/deliveries?client=shipper&order=oldest" }, { data: [delivery] }],
    ["lists tenants", (client) => client.listTenants({ limit: 2, cursor: "acme" }), { data: [{ tenantId: "b", name: "B", hosts: [] }], nextCursor: "b" },
      { method: "GET", path: "/operator/v1/tenants?limit=2&cursor=acme" }, { data: [{ tenantId: "b", name: "B", hosts: [] }], nextCursor: "b" }],
    ["lists subscriptions", (client) => client.listSubscriptions("acme", { client: "shipper", state: "paused", limit: 5 }), { data: [], nextCursor: null },
      { method: "GET", path: "/operator/v1/tenants/acme/subscriptions?client=shipper&state=paused&limit=5" }, { data: [], nextCursor: null }],
    ["gets a subscription", (client) => client.getSubscription("acme", "s-1"), { subscriptionId: "s-1", waiting: 0 },
      { method: "GET", path: "/operator/v1/tenants/acme/subscriptions/s-1" }, { subscriptionId: "s-1", waiting: 0 }],
    ["finds shipments", (client) => client.findShipments("acme", "PRO 1/2"), { data: [{ shipmentId: "S1" }] },
      { method: "GET", path: "/operator/v1/tenants/acme/shipments?reference=PRO+1%2F2" }, [{ shipmentId: "S1" }]],
    ["gets a journey", (client) => client.getJourney("acme", "S/1"), { shipmentId: "S/1", entries: [] },
      { method: "GET", path: "/operator/v1/tenants/acme/shipments/S%2F1/journey" }, { shipmentId: "S/1", entries: [] }],
    ["gets a delivery", (client) => client.getDelivery("acme", "d-1"), { ...delivery, body: "{}" },
      { method: "GET", path: "/operator/v1/tenants/acme/deliveries/d-1" }, { ...delivery, body: "{}" }],
    ["retries a delivery", (client) => client.retryDelivery("acme", "d-1"), undefined,
      { method: "POST", path: "/operator/v1/tenants/acme/deliveries/d-1/retry", body: undefined }, undefined],
    ["recovers dead letters", (client) => client.recover("acme", "s-1", { since: new Date(0) }), { recovered: 2 },
      { method: "POST", path: "/operator/v1/tenants/acme/subscriptions/s-1/recover", body: { since: "1970-01-01T00:00:00.000Z" } }, 2],
    ["resumes a subscription", (client) => client.resume("acme", "s/1"), { subscriptionId: "s/1", state: "active" },
      { method: "POST", path: "/operator/v1/tenants/acme/subscriptions/s%2F1/resume", body: undefined }, { subscriptionId: "s/1", state: "active" }],
    ["edits a subscription", (client) => client.editSubscription("acme", "s/1", { delivery: { batchMaxSize: 5, maxAttempts: null } }), { subscriptionId: "s/1" },
      { method: "PATCH", path: "/operator/v1/tenants/acme/subscriptions/s%2F1", body: { delivery: { batchMaxSize: 5, maxAttempts: null } } }, { subscriptionId: "s/1" }],
    ["pauses a subscription", (client) => client.pause("acme", "s/1", { reason: "Unpaid." }), { subscriptionId: "s/1", state: "paused" },
      { method: "POST", path: "/operator/v1/tenants/acme/subscriptions/s%2F1/pause", body: { reason: "Unpaid." } }, { subscriptionId: "s/1", state: "paused" }],
    ["purges a subscription", (client) => client.purge("acme", "s/1"), { dropped: 7 },
      { method: "POST", path: "/operator/v1/tenants/acme/subscriptions/s%2F1/purge", body: undefined }, 7],
    ["deletes a subscription", (client) => client.deleteSubscription("acme", "s/1"), undefined,
      { method: "DELETE", path: "/operator/v1/tenants/acme/subscriptions/s%2F1" }, undefined],
    ["dismisses a dead letter", (client) => client.dismissDelivery("acme", "d-1"), undefined,
      { method: "POST", path: "/operator/v1/tenants/acme/deliveries/d-1/dismiss", body: undefined }, undefined],
    ["lists what failed at an endpoint, with a total", (client) => client.listDeliveries("acme", { endpoint: "a.example:8443", error: "timeout", until: new Date(0), total: true }), { data: [], total: 7 },
      { method: "GET", path: "/operator/v1/tenants/acme/deliveries?endpoint=a.example%3A8443&error=timeout&until=1970-01-01T00%3A00%3A00.000Z&total=true" }, { data: [], total: 7 }],
    ["retries dead letters that match", (client) => client.retryDeadLetters("acme", { error: "timeout", since: new Date(0) }), { retried: 500, nextCursor: "d-500" },
      { method: "POST", path: "/operator/v1/tenants/acme/dead-letters/retry", body: { error: "timeout", since: "1970-01-01T00:00:00.000Z" } }, { changed: 500, nextCursor: "d-500" }],
    ["dismisses dead letters that match", (client) => client.dismissDeadLetters("acme", { client: "shipper", cursor: "d-1" }), { dismissed: 2, nextCursor: null },
      { method: "POST", path: "/operator/v1/tenants/acme/dead-letters/dismiss", body: { client: "shipper", cursor: "d-1" } }, { changed: 2, nextCursor: null }],
    ["purges subscriptions that match", (client) => client.purgeMatching("acme", { endpoint: "a.example" }), { subscriptions: 1, dropped: 7, nextCursor: null },
      { method: "POST", path: "/operator/v1/tenants/acme/purge", body: { endpoint: "a.example" } }, { subscriptions: 1, dropped: 7, nextCursor: null }],
    ["explains a delivery", (client) => client.explain("acme", "s-1", { eventId: "e/1" }), { verdict: "delivered" },
      { method: "GET", path: "/operator/v1/tenants/acme/explain?subscriptionId=s-1&eventId=e%2F1" }, { verdict: "delivered" }],
    ["shows the health of tenants", (client) => client.health(), { tenants: [], unread: [] }, { method: "GET", path: "/operator/v1/health" }, { tenants: [], unread: [] }],
    ["replays history", (client) => client.replay("acme", "s-1", { from: "2026-11-01T00:00:00Z", shipmentIds: ["S1"] }), { queued: 7 },
      { method: "POST", path: "/operator/v1/tenants/acme/subscriptions/s-1/replay", body: { from: "2026-11-01T00:00:00Z", shipmentIds: ["S1"] } }, 7]
  ]

  it.each(calls)("%s", async (_, call, answer, request, result) => {
    const { client, received } = clientOf(() => answer === undefined ? new Response(null, { status: 204 }) : json(answer))
    expect(await call(client)).toEqual(result)
    expect(received).toEqual([expect.objectContaining(request)])
    expect(received[0]!.headers.get("x-api-key")).toBe("op")
  })

  const repeated = new Set(["lists the audit log", "gets statistics", "lists waiting pickups", "decides on a pickup", "gets quotas", "changes quotas", "puts a tenant", "puts a secret of one's own", "gives a secret to another owner", "lists secrets", "deletes a secret", "revokes a key", "lists deliveries", "lists deliveries of a client, oldest first", "lists tenants",
    "lists subscriptions", "gets a subscription", "finds shipments", "gets a journey", "gets a delivery", "resumes a subscription", "pauses a subscription", "edits a subscription", "deletes a subscription", "dismisses a dead letter", "lists what failed at an endpoint, with a total",
    "explains a delivery", "shows the health of tenants"])
  it.each(calls)("%s, and retries after 503 only if idempotent", async (name, call) => {
    const { client, received } = clientOf(() => problem(503))
    await expect(call(client)).rejects.toMatchObject({ status: 503 })
    expect(received).toHaveLength(repeated.has(name) ? 3 : 1)
  })

  it("iterates over all deliveries by cursor", async () => {
    const { client, received } = clientOf((_, count) => json({ data: [{ ...delivery, deliveryId: `d-${count}` }], ...(count < 2 ? { nextCursor: `c${count}` } : {}) }))
    const ids: Array<string> = []
    for await (const { deliveryId } of client.allDeliveries("acme", { state: "dead" })) ids.push(deliveryId)
    expect(ids).toEqual(["d-0", "d-1", "d-2"])
    expect(received.map(({ path }) => path.split("?")[1])).toEqual(["state=dead", "state=dead&cursor=c0", "state=dead&cursor=c1"])
  })

  it("iterates over tenants and subscriptions by cursor", async () => {
    const { client, received } = clientOf((_, count) => json({ data: [{ tenantId: `t-${count}`, subscriptionId: `s-${count}` }], nextCursor: count % 2 === 0 ? `c${count}` : null }))
    const ids: Array<string> = []
    for await (const { tenantId } of client.allTenants({ limit: 1 })) ids.push(tenantId)
    for await (const { subscriptionId } of client.allSubscriptions("acme", { state: "active" })) ids.push(subscriptionId)
    expect(ids).toEqual(["t-0", "t-1", "s-2", "s-3"])
    expect(received.map(({ path }) => path)).toEqual([
      "/operator/v1/tenants?limit=1",
      "/operator/v1/tenants?limit=1&cursor=c0",
      "/operator/v1/tenants/acme/subscriptions?state=active",
      "/operator/v1/tenants/acme/subscriptions?state=active&cursor=c2"
    ])
  })

  it("ends at an empty cursor", async () => {
    const { client, received } = clientOf((_, count) => count < 5 ? json({ data: [delivery], nextCursor: "" }) : problem(500))
    expect(await Array.fromAsync(client.allDeliveries("acme"))).toEqual([delivery])
    expect(received).toHaveLength(1)
  })

  it("fails when a promised count is missing", async () => {
    const { client } = clientOf(() => json({}))
    await expect(client.recover("acme", "s-1", { since: new Date(0) })).rejects.toMatchObject({ reason: "unreadable_answer" })
    await expect(client.retryDeadLetters("acme", { error: "timeout" })).rejects.toMatchObject({ reason: "unreadable_answer" })
    await expect(client.replay("acme", "s-1", { from: new Date(0) })).rejects.toMatchObject({ reason: "unreadable_answer" })
  })

  it("fails on a repeated cursor", async () => {
    const { client } = clientOf(() => json({ data: [], nextCursor: "same" }))
    const readAll = async () => {
      for await (const _ of client.allDeliveries("acme"));
    }
    await expect(readAll()).rejects.toMatchObject({ name: "WaybillCallFailed", reason: "unreadable_answer" })
  })
})
