import { describe, expect, it } from "vitest"
import { PortalClient } from "../../src/portal/index.ts"
import { clientsOf, json, problem } from "../scripted-server.ts"

const clientOf = clientsOf(PortalClient, { bearer: "link" })

describe("PortalClient", () => {
  const calls: ReadonlyArray<readonly [string, (client: PortalClient) => Promise<unknown>, unknown, object, unknown]> = [
    ["gets the session", (client) => client.session(), { tenantId: "acme", client: "key:shop", expiresAt: null, theme: {} },
      { method: "GET", path: "/portal/v1/session" }, { tenantId: "acme", client: "key:shop", expiresAt: null, theme: {} }],
    ["lists subscriptions", (client) => client.listSubscriptions({ state: "paused", limit: 5 }), { data: [], nextCursor: null },
      { method: "GET", path: "/portal/v1/subscriptions?state=paused&limit=5" }, { data: [], nextCursor: null }],
    ["gets a subscription", (client) => client.getSubscription("s/1"), { subscriptionId: "s/1" },
      { method: "GET", path: "/portal/v1/subscriptions/s%2F1" }, { subscriptionId: "s/1" }],
    ["pauses a subscription", (client) => client.pause("s-1"), { state: "paused" },
      { method: "POST", path: "/portal/v1/subscriptions/s-1/pause", body: undefined }, { state: "paused" }],
    ["resumes a subscription", (client) => client.resume("s-1"), { state: "active" },
      { method: "POST", path: "/portal/v1/subscriptions/s-1/resume", body: undefined }, { state: "active" }],
    ["sends a test event", (client) => client.sendTest("s-1"), { accepted: true, status: 200, detail: "The receiver answered 200." },
      { method: "POST", path: "/portal/v1/subscriptions/s-1/test", body: undefined }, { accepted: true, status: 200, detail: "The receiver answered 200." }],
    ["lists deliveries", (client) => client.listDeliveries({ state: "dead", subscriptionId: "s-1", since: new Date(0), order: "oldest" }), { data: [] },
      { method: "GET", path: "/portal/v1/deliveries?state=dead&subscriptionId=s-1&since=1970-01-01T00%3A00%3A00.000Z&order=oldest" }, { data: [] }],
    ["gets a delivery", (client) => client.getDelivery("d-1"), { deliveryId: "d-1", body: null },
      { method: "GET", path: "/portal/v1/deliveries/d-1" }, { deliveryId: "d-1", body: null }],
    ["retries a delivery", (client) => client.retryDelivery("d-1"), undefined,
      { method: "POST", path: "/portal/v1/deliveries/d-1/retry", body: undefined }, undefined],
    ["gets the contact", (client) => client.getContact(), { email: null, sendsMail: false, webhook: null },
      { method: "GET", path: "/portal/v1/contact" }, { email: null, sendsMail: false, webhook: null }],
    ["puts the contact", (client) => client.putContact({ email: "edi@shop.example" }), { email: "edi@shop.example", sendsMail: true, webhook: null },
      { method: "PUT", path: "/portal/v1/contact", body: { email: "edi@shop.example" } }, { email: "edi@shop.example", sendsMail: true, webhook: null }],
    ["lists secrets", (client) => client.listSecrets({ cursor: "a" }), { data: [] },
      { method: "GET", path: "/portal/v1/secrets?cursor=a" }, { data: [] }],
    ["rotates a secret", (client) => client.rotateSecret("own", { overlapSeconds: 60 }), { hmacSecretId: "own", secret: "whsec_x" },
      { method: "POST", path: "/portal/v1/secrets/own/rotate", body: { overlapSeconds: 60 } }, { hmacSecretId: "own", secret: "whsec_x" }]
  ]

  it.each(calls)("%s", async (_, call, answer, request, result) => {
    const { client, received } = clientOf(() => answer === undefined ? new Response(null, { status: 202 }) : json(answer))
    expect(await call(client)).toEqual(result)
    expect(received).toEqual([expect.objectContaining(request)])
    expect(received[0]!.headers.get("authorization")).toBe("Bearer link")
  })

  const sentOnce = new Set(["sends a test event", "retries a delivery", "rotates a secret"])
  it.each(calls)("%s, and retries after 503 only if idempotent", async (name, call) => {
    const { client, received } = clientOf(() => problem(503))
    await expect(call(client)).rejects.toMatchObject({ status: 503 })
    expect(received).toHaveLength(sentOnce.has(name) ? 1 : 3)
  })

  it("iterates over subscriptions, deliveries and secrets by cursor", async () => {
    const { client, received } = clientOf((_, count) => json({ data: [{ subscriptionId: "s", deliveryId: "d", hmacSecretId: "h" }], nextCursor: count % 2 === 0 ? `c${count}` : null }))
    const seen: Array<string> = []
    for await (const { subscriptionId } of client.allSubscriptions({ limit: 1 })) seen.push(subscriptionId)
    for await (const { deliveryId } of client.allDeliveries({ state: "dead" })) seen.push(deliveryId)
    for await (const { hmacSecretId } of client.allSecrets()) seen.push(hmacSecretId)
    expect(seen).toEqual(["s", "s", "d", "d", "h", "h"])
    expect(received.map(({ path }) => path)).toEqual([
      "/portal/v1/subscriptions?limit=1", "/portal/v1/subscriptions?limit=1&cursor=c0",
      "/portal/v1/deliveries?state=dead", "/portal/v1/deliveries?state=dead&cursor=c2",
      "/portal/v1/secrets", "/portal/v1/secrets?cursor=c4"
    ])
  })
})
