import { ShipmentIntake, Tenants } from "@waybill/core"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { AuthenticatorHost } from "../../src/index.ts"
import { operatorKey, runningService, type TestServiceOptions } from "../TestService.ts"
import { movingShipment, reportedShipment } from "./ShipmentSamples.ts"

const start = async (options: TestServiceOptions = {}) => {
  const service = await runningService(options)
  const look = (path: string, headers: Readonly<Record<string, string>> = {}, key?: string) =>
    service.send("GET", `/in-transit/v1/shipment/${path}/public`, { key, headers })
  return { service, look }
}

const inTransit = "{\"ProNumber\":\"PRO-S1\",\"ShipmentMilestoneStatus\":\"In Transit\",\"UpdatedETA\":\"2026-11-21\",\"EstimatedStandardDay\":3}"

describe("a public lookup", () => {
  it("needs no credentials with a single tenant, and returns four fields by PRO, BOL and PO", async () => {
    const { look, service } = await start()
    const acme = await service.tenant("acme")
    await acme.register(movingShipment("S1", { accounts: ["A1"] }), reportedShipment("EARLY"))
    for (const way of ["pro/PRO-S1", "bol/BOL-S1/60608", "po/PO-S1/02108"]) {
      const answer = await look(way)
      expect([answer.status, answer.headers.get("content-type"), answer.text]).toEqual([200, "application/json", inTransit])
    }
    expect(service.log.find(({ annotations }) => annotations["route"] === "/in-transit/v1/shipment/pro/{proNumber}/public")?.annotations)
      .toMatchObject({ tenant: "acme", status: 200 })
    for (const way of ["pro/PRO-S0", "bol/BOL-S1/99999", "po/PO-S0/02108", "pro/PRO-EARLY"]) {
      const answer = await look(way)
      expect([way, answer.status, Object.keys(answer.json)]).toEqual([way, 404, ["message"]])
    }
  })

  it("uses the tenant of credentials that are sent, which must be valid", async () => {
    const { look, service } = await start()
    const acme = await service.tenant("acme")
    const bolt = await service.tenant("bolt")
    await bolt.register(movingShipment("S1"))
    const customer = await bolt.customer("shop", ["A9"])
    expect((await look("pro/PRO-S1", {}, customer)).text).toBe(inTransit)
    expect((await look("pro/PRO-S1", {}, acme.carrier)).status).toBe(404)
    expect((await look("pro/PRO-S1", {}, "wrong")).status).toBe(401)
    expect((await look("pro/PRO-S1", { authorization: "Basic YTpi" })).status).toBe(401)
    expect((await look("pro/PRO-S1", {}, operatorKey)).status).toBe(401)
  })

  it("ignores cookies that are not credentials, and uses those that are", async () => {
    const authenticate = async (request: Request) =>
      request.headers.get("cookie") === "session=good" ? { tenantId: "bolt", client: "shop", roles: ["customer" as const] } : undefined
    const { look, service } = await start({ authenticator: AuthenticatorHost.layer(authenticate), publicTenant: "acme" })
    for (const tenantId of ["acme", "bolt"]) await service.run(Effect.flatMap(Tenants, (tenants) => tenants.put(tenantId, { name: tenantId })))
    const carrier = { tenantId: "acme", client: "tms", roles: ["carrier" as const], accounts: [], origin: "token" as const }
    await service.run(Effect.flatMap(ShipmentIntake, (intake) => intake.report(carrier, [movingShipment("S1")])))
    expect((await look("pro/PRO-S1", { cookie: "theme=dark" })).text).toBe(inTransit)
    expect((await look("pro/PRO-S1", { cookie: "session=good" })).status).toBe(404)
    expect((await look("pro/PRO-S1", { authorization: "Bearer old" })).status).toBe(401)
  })

  it("uses the tenant of the requested host, otherwise the configured one, otherwise none of several", async () => {
    const { look, service } = await start({ publicTenant: "acme" })
    for (const tenantId of ["acme", "bolt"]) {
      const tenant = await service.tenant(tenantId)
      await service.run(Effect.flatMap(Tenants, (tenants) => tenants.put(tenantId, { name: tenantId, hosts: [`${tenantId}.example`] })))
      await tenant.register(movingShipment(tenantId))
    }
    expect((await look("pro/PRO-bolt", { host: "Bolt.example:443" })).status).toBe(200)
    expect((await look("pro/PRO-acme", { host: "bolt.example" })).status).toBe(404)
    expect((await look("pro/PRO-acme", { host: "elsewhere.example" })).status).toBe(200)
    expect((await look("pro/PRO-bolt", { host: "elsewhere.example", "x-forwarded-host": "bolt.example" })).status).toBe(404)

    const { look: lookNowhere, service: two } = await start()
    for (const tenantId of ["acme", "bolt"]) await two.tenant(tenantId)
    const answer = await lookNowhere("pro/PRO-acme")
    expect([answer.status, answer.json]).toEqual([404, { message: expect.stringContaining("host name") }])
  })

  it("is refused for a suspended tenant, whose id is in the log and not in the answer", async () => {
    const { look, service } = await start()
    await service.tenant("acme")
    await service.run(Effect.flatMap(Tenants, (tenants) => tenants.suspend("acme")))
    const answer = await look("pro/PRO-S1")
    expect([answer.status, answer.json]).toEqual([403, { message: "The tenant is suspended. Ask the operator of the service to resume it." }])
    expect(service.log.map(({ message }) => message)).toContain("Access refused: tenant acme is suspended.")
  })

  it("uses the host from a trusted proxy", async () => {
    const { look, service } = await start({ trustForwarded: true })
    for (const tenantId of ["acme", "bolt"]) {
      const tenant = await service.tenant(tenantId)
      await service.run(Effect.flatMap(Tenants, (tenants) => tenants.put(tenantId, { name: tenantId, hosts: [`${tenantId}.example`] })))
      await tenant.register(movingShipment(tenantId))
    }
    expect((await look("pro/PRO-bolt", { "x-forwarded-host": "bolt.example" })).status).toBe(200)
  })
})

describe("the rate limit for others' freight", () => {
  const forwarded = (address: string) => ({ "x-forwarded-for": address })

  it("answers 429 with the seconds to wait, whether or not the shipment exists, and affects no other caller", async () => {
    const { look, service } = await start({ othersLookupsPerMinute: 3, trustForwarded: true })
    const acme = await service.tenant("acme")
    await acme.register(movingShipment("S1"))
    const statuses: Array<number> = []
    for (const pro of ["S1", "S0", "S1", "S1", "S0"]) statuses.push((await look(`pro/PRO-${pro}`, forwarded("198.51.100.7"))).status)
    expect(statuses).toEqual([200, 404, 200, 429, 429])
    const answer = await look("pro/PRO-S1", forwarded("198.51.100.7"))
    expect(Object.keys(answer.json)).toEqual(["message"])
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThanOrEqual(1)
    expect(Number(answer.headers.get("retry-after"))).toBeLessThanOrEqual(60)
    expect((await look("pro/PRO-S1", forwarded("198.51.100.8"))).status).toBe(200)
  })

  it("is shared by all callers whose address is unknown or not trusted", async () => {
    const { look, service } = await start({ othersLookupsPerMinute: 2 })
    await service.tenant("acme")
    const statuses: Array<number> = []
    for (let n = 1; n <= 3; n++) statuses.push((await look("pro/PRO-S1", forwarded(`198.51.100.${n}`))).status)
    expect(statuses).toEqual([404, 404, 429])
  })

  it("applies per client with credentials, and never to the client's own freight", async () => {
    const { look, service } = await start({ othersLookupsPerMinute: 2 })
    const acme = await service.tenant("acme")
    await acme.register(movingShipment("S1", { accounts: ["A1"] }), movingShipment("S2", { accounts: ["A2"] }))
    const [shop, other] = [await acme.customer("shop", ["A1"]), await acme.customer("other", [])]
    const verified = (shipmentId: string, key: string) => service.send("GET", `/in-transit/v1/shipment/pro/PRO-${shipmentId}/verified`, { key })
    for (let n = 0; n < 10; n++) expect((await verified("S1", shop)).status).toBe(200)
    expect([(await verified("S2", shop)).status, (await verified("S0", shop)).status]).toEqual([202, 404])
    expect((await verified("S2", shop)).status).toBe(429)
    expect((await verified("S0", shop)).status).toBe(429)
    expect((await look("pro/PRO-S2", {}, shop)).status).toBe(429)
    expect((await verified("S1", shop)).status).toBe(200)
    for (let n = 0; n < 10; n++) {
      const answer = await look("pro/PRO-S1", {}, shop)
      expect([answer.status, answer.text]).toEqual([200, inTransit])
      expect((await look("pro/PRO-S2", {}, acme.carrier)).status).toBe(200)
    }
    expect((await look("pro/PRO-S2", {}, shop)).status).toBe(429)
    expect([(await verified("S2", other)).status, (await look("pro/PRO-S1", {}, other)).status, (await look("pro/PRO-S2")).status]).toEqual([202, 200, 200])
  })

  it("counts requests for accounts of others too", async () => {
    const { service } = await start({ othersLookupsPerMinute: 2 })
    const acme = await service.tenant("acme")
    await acme.register(movingShipment("S1", { accounts: ["A1"] }))
    const shop = await acme.customer("shop", ["A2"])
    const statuses: Array<number> = []
    for (const account of ["A1", "A404", "A1", "A404", "A2"]) {
      statuses.push((await service.send("GET", `/in-transit/v1/shipment/po/${account}/2026-10-01/2026-10-02/verified`, { key: shop })).status)
    }
    expect(statuses).toEqual([401, 404, 429, 429, 204])
  })
})
