import { AuditLog, AuditStore, StorageError } from "@waybill/core"
import { Effect, Layer } from "effect"
import { describe, expect, it } from "vitest"
import { operations } from "../hostile/Operations.ts"
import { operatorKey, reportedEvent, runningService, type TestService, type TestServiceOptions } from "../TestService.ts"

let service: TestService

const start = async (options: TestServiceOptions = {}) => {
  service = await runningService(options)
  return await service.tenant("acme")
}

/** Waits for intake's entries, which are written in batches within a second. */
const entries = async (query = "", atLeast = 0): Promise<ReadonlyArray<any>> => {
  for (;;) {
    const { json, status } = await service.send("GET", `/operator/v1/audit${query}`, { key: operatorKey })
    expect(status).toBe(200)
    if (json.data.length >= atLeast) return json.data
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

describe("the audit log", () => {
  it("has an action for every write of operators, intake and portals, and for every call that shows a delivery's body", () => {
    const named = (keep: (operation: typeof operations[number]) => boolean) => operations.filter(keep).map(({ contract, name }) => `${contract.area}.${name}`)
    const expected = named(({ contract, endpoint }) => (["operator", "intake", "portal"].includes(contract.area) && endpoint.method !== "GET") || endpoint.showsBodies === true)
    expect(named(({ endpoint }) => endpoint.audit !== undefined)).toEqual(expected)
    const actions = operations.flatMap(({ endpoint }) => endpoint.audit === undefined ? [] : [endpoint.audit.action])
    expect(new Set(actions).size).toBe(actions.length)
    for (const action of actions) expect(action).toMatch(/^[a-z-]+\.[a-z-]+$/)
  })

  it("records who created a key, from where, for which tenant and with which id, and never the key", async () => {
    await start({ trustForwarded: true })
    const made = await service.send("POST", "/operator/v1/tenants/acme/api-keys", {
      key: operatorKey,
      body: { name: "shipper", roles: ["customer"], accounts: ["A1"] },
      headers: { "x-forwarded-for": "203.0.113.9" }
    })
    const [entry] = await entries("?tenant=acme")
    expect(entry).toMatchObject({
      actor: { kind: "operator", name: "operator" },
      address: "203.0.113.9",
      action: "api-key.create",
      tenantId: "acme",
      object: { kind: "api-key", id: made.json.id },
      result: "ok",
      status: 201,
      requestId: made.headers.get("x-request-id")
    })
    expect(JSON.stringify(await entries())).not.toContain(made.json.key)
  })

  it("has refused calls of known callers, and none of unknown ones", async () => {
    const acme = await start()
    const before = (await entries()).length
    await service.send("PUT", "/operator/v1/tenants/acme", { body: { name: "Mine" } })
    await service.send("PUT", "/operator/v1/tenants/acme", { key: acme.carrier, body: { name: "Mine" } })
    await service.send("PUT", "/operator/v1/tenants/acme/limits", { key: operatorKey, body: { subscriptions: -1 } })
    await service.send("DELETE", "/operator/v1/tenants/acme/api-keys/nobody", { key: operatorKey })
    const all = await entries("", before + 3)
    const refused = all.filter(({ result }) => result === "refused").map(({ action, actor, object, status }) => [action, actor.kind, object.id, status])
    expect(refused).toHaveLength(3)
    expect(refused).toEqual(expect.arrayContaining([
      ["api-key.revoke", "operator", "nobody", 404],
      ["limits.put", "operator", "acme", 400],
      ["tenant.put", "client", "acme", 403]
    ]))
  })

  it("has refused calls of a suspended tenant's callers, by key and by portal link", async () => {
    const acme = await start()
    await acme.customer("shop", ["A1"])
    const { json: { token } } = await service.send("POST", "/operator/v1/tenants/acme/portal-links", { key: operatorKey, body: { client: "shop" } })
    await service.send("POST", "/operator/v1/tenants/acme/suspend", { key: operatorKey })
    expect((await service.send("POST", "/intake/v1/shipments", { key: acme.carrier, body: { shipments: [] } })).json.code).toBe("tenant_suspended")
    expect((await service.send("POST", "/portal/v1/secrets/main/rotate", { headers: { authorization: `Bearer ${token}` }, body: {} })).json.code).toBe("tenant_suspended")
    const refused = (await entries("?tenant=acme", 5)).filter(({ result }) => result === "refused").map(({ action, actor, status }) => [action, actor, status])
    expect(refused).toHaveLength(2)
    expect(refused).toEqual(expect.arrayContaining([
      ["shipments.register", { kind: "client", name: "key:carrier" }, 403],
      ["portal-secret.rotate", { kind: "client", name: "key:shop" }, 403]
    ]))
  })

  it("has each read of a delivery's body, and no other read", async () => {
    const acme = await start()
    await acme.subscribe(acme.carrier)
    await acme.publish(reportedEvent("S1"))
    await service.deliver()
    const { json } = await service.send("GET", "/operator/v1/tenants/acme/deliveries", { key: operatorKey })
    const { deliveryId } = json.data[0]
    for (let n = 0; n < 2; n++) await service.send("GET", `/operator/v1/tenants/acme/deliveries/${deliveryId}`, { key: operatorKey })
    const reads = (await entries("?actor=operator")).filter(({ action }) => /read|list/.test(action))
    expect(reads.map(({ action, object, result }) => [action, object.id, result])).toEqual([
      ["delivery.read-body", deliveryId, "ok"],
      ["delivery.read-body", deliveryId, "ok"]
    ])
  })

  it("has one entry per intake call, however many items it has, and one for equal refusals", async () => {
    const acme = await start()
    expect((await acme.publish(reportedEvent("S1"), reportedEvent("S2"))).status).toBe(200)
    for (let n = 0; n < 5; n++) expect((await acme.publish({})).status).toBe(400)
    const data = (await entries("", 2)).filter(({ action }) => action === "transit-events.publish")
    expect(data.map(({ actor, object, status, tenantId }) => [actor.kind, tenantId, object, status]).toSorted()).toEqual([
      ["client", "acme", { kind: "transit-events", id: "" }, 200],
      ["client", "acme", { kind: "transit-events", id: "" }, 400]
    ])
  })

  it("is read page by page, newest first, with a start time", async () => {
    await start()
    for (const name of ["a", "b", "c"]) await service.send("PUT", `/operator/v1/tenants/${name}`, { key: operatorKey, body: { name } })
    const first = (await service.send("GET", "/operator/v1/audit?limit=2", { key: operatorKey })).json
    expect(first.data.map((each: any) => each.tenantId)).toEqual(["c", "b"])
    const second = (await service.send("GET", `/operator/v1/audit?limit=1&cursor=${first.nextCursor}`, { key: operatorKey })).json
    expect(second.data.map((each: any) => each.tenantId)).toEqual(["a"])
    expect(await entries("?since=2999-01-01T00:00:00Z")).toEqual([])
    expect(await entries("?actor=nobody")).toEqual([])
    expect((await service.send("GET", "/operator/v1/audit?cursor=no", { key: operatorKey })).status).toBe(400)
  })

  it("refuses an operator's call that it cannot record, and does not execute it", async () => {
    const failing = Layer.effect(AuditStore, Effect.map(AuditStore, (store) =>
      AuditStore.of({ ...store, put: () => Effect.fail(new StorageError({ operation: "AuditStore.put", cause: "no room" })) })))
    await start({ over: Layer.fresh(AuditLog.layer).pipe(Layer.provide(failing)) })
    expect((await service.send("PUT", "/operator/v1/tenants/late", { key: operatorKey, body: { name: "Late" } })).status).toBe(503)
    expect((await service.send("GET", "/operator/v1/tenants/late/limits", { key: operatorKey })).status).toBe(404)
  })
})
