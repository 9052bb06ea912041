import { describe, expect, it } from "vitest"
import { customer, start, startWithTenant } from "../facade/Host.ts"

const fromElsewhere = [{ "sec-fetch-site": "cross-site" }, { "sec-fetch-site": "same-site" }, { origin: "https://evil.example" }, { origin: "null" }]
const fromHere = [{ "sec-fetch-site": "same-origin", origin: "https://freight.example.com" }, { "sec-fetch-site": "none" }, { origin: "https://freight.example.com" }, {}]

/** What browsers add by themselves. */
const cookie = { cookie: "sid=1" }
const password = { ...cookie, authorization: "Basic b3BzOnNlY3JldA==" }

const at = (path: string, headers: Record<string, string>, method = "POST") =>
  new Request(`https://freight.example.com${path}`, { method, headers: { host: "freight.example.com", ...headers } })

const outcomeOf = async (response: Response) => response.status === 200 ? "done" : [response.status, (await response.json() as { code?: unknown }).code]

describe("a write that a page of another site makes a browser send", () => {
  it("is refused by the operator's calls for a host whose operators have sessions", async () => {
    const waybill = await startWithTenant({
      authenticate: async ({ headers }) => headers.get("cookie") === "sid=1" || headers.get("authorization") === "Bearer login" ? { client: "root", roles: ["operator"] } : undefined
    })
    const suspend = async (headers: Record<string, string>) => outcomeOf(await waybill.handler(at("/operator/v1/tenants/acme/suspend", headers)))
    for (const site of fromElsewhere) for (const added of [cookie, password]) expect(await suspend({ ...added, ...site })).toEqual([403, "cross_site"])
    for (const site of fromHere) for (const added of [cookie, password]) expect(await suspend({ ...added, ...site })).toBe("done")
    for (const site of fromElsewhere) expect(await suspend({ ...site, authorization: "Bearer login" })).toBe("done")
    expect((await waybill.handler(at("/operator/v1/tenants", { ...cookie, "sec-fetch-site": "cross-site" }, "GET"))).status).toBe(200)
  })

  it("is refused by the portal for a customer of the host's session, whatever a browser or a proxy adds", async () => {
    const waybill = await startWithTenant()
    await waybill.secrets.put("acme", "main", { anyClient: true })
    const { id } = await waybill.subscriptions.create(customer, { endpointUrl: "https://shop.example/hook", hmacSecretId: "main" })
    const pause = async (headers: Record<string, string>) => outcomeOf(await waybill.portalHandler(at(`/portal/v1/subscriptions/${id}/pause`, headers), { tenantId: "acme", client: "shop" }))
    const added = [cookie, password, { ...cookie, authorization: "Bearer of-a-proxy" }, { ...cookie, "x-api-key": "of-a-proxy" }]
    for (const site of fromElsewhere) for (const each of added) expect(await pause({ ...each, ...site })).toEqual([403, "cross_site"])
    for (const site of fromHere) for (const each of added) expect(await pause({ ...each, ...site })).toBe("done")
  })
})

describe("credential headers beside the customer of a session", () => {
  it("are not read, and are no valid ones for other calls", async () => {
    const waybill = start()
    await waybill.tenants.put("acme", { name: "Acme" })
    await waybill.apiKeys.create("acme", { name: "shop", roles: ["customer"], accounts: [] })
    const remoteAddress = "198.51.100.7"
    const guess = (key: string) => waybill.handler(at("/visibility/v1/events", { "x-api-key": key }, "GET"), { remoteAddress })
    for (let n = 0; n < 60; n++) expect((await guess(`wrong-${n}`)).status).toBe(401)
    const session = await waybill.portalHandler(at("/portal/v1/session", { "x-api-key": "another" }, "GET"), { tenantId: "acme", client: "shop" }, { remoteAddress })
    expect(session.status).toBe(200)
    expect((await guess("another")).status).toBe(429)
  })
})
