/** A customer whose key, secret and subscription the host creates in its own transaction. */
import type { HostPrincipal, WaybillWithin } from "@waybill/http"
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest"
import { type Host, hosts } from "./Hosts.ts"
import { contents, rejected, type Service, startService, tenantId } from "./Service.ts"

const create = async (within: WaybillWithin, name: string) => {
  const principal: HostPrincipal = { tenantId, client: name, roles: ["customer"], accounts: ["A"] }
  const created = await within.apiKeys.create(tenantId, { name, roles: ["customer"], accounts: ["A"] })
  await within.secrets.put(tenantId, `${name}-secret`, { client: name })
  const { id } = await within.subscriptions.create(principal, { endpointUrl: "https://shop.example/hook", hmacSecretId: `${name}-secret` })
  return { ...created, subscriptionId: id }
}

describe.each(hosts.map((hostOf) => ({ host: hostOf({ url: inject("pgUrl"), max: 3 }) })))("a customer created in a transaction of $host.name", ({ host }: { readonly host: Host }) => {
  let service: Service

  beforeAll(async () => {
    service = await startService()
  })
  afterAll(async () => {
    await host.close()
    await service.close()
  })

  const statusWith = async (key: string) =>
    (await service.waybill.handler(new Request("http://x/visibility/v1/subscriptions", { headers: { "x-api-key": key } }))).status

  const audited = async (name: string) =>
    (await service.waybill.audit.list({ tenant: tenantId })).data.filter(({ object }) => object.id.startsWith(name)).map(({ action, status }) => [action, status])

  it("can call and is signed for after the commit, and not before", async () => {
    const { key, subscriptionId } = await host.transaction(async ({ within }) => {
      const created = await create(service.waybill.within(within), "shop")
      expect(await statusWith(created.key)).toBe(401)
      return created
    })
    expect(await statusWith(key)).toBe(200)
    expect((await service.waybill.secrets.list(tenantId)).data.map(({ hmacSecretId, usedBy }) => [hmacSecretId, usedBy])).toEqual([["main", 0], ["shop-secret", 1]])
    expect((await service.waybill.allSubscriptions.get(tenantId, subscriptionId)).client).toBe("key:shop")
    expect(await audited("shop-")).toEqual([["secret.put", 200]])
  })

  it("keeps its secret without an end when the secret gets another owner, and with one when it is rotated", async () => {
    const ends = async () => (await service.pool.query(`SELECT signs_until FROM ${service.schema}.secrets WHERE hmac_secret_id = 'kept'`)).rows[0].signs_until
    for (const options of [{ client: "kept" }, { rotate: false, anyClient: true }] as const) {
      await host.transaction(({ within }) => service.waybill.within(within).secrets.put(tenantId, "kept", options))
      expect(await ends()).toEqual([null])
    }
    await host.transaction(({ within }) => service.waybill.within(within).secrets.put(tenantId, "kept", { overlapSeconds: 60 }))
    await host.transaction(({ within }) => service.waybill.within(within).secrets.put(tenantId, "kept", { rotate: false, anyClient: true }))
    expect(await ends()).toEqual([null, expect.any(Date)])
    await service.waybill.secrets.delete(tenantId, "kept")
  })

  it("does not exist after a rollback, in any table, the audit log included", async () => {
    const before = await contents(service)
    let key = ""
    await rejected(host.transaction(async ({ within }) => {
      key = (await create(service.waybill.within(within), "undone")).key
      throw new Error("the host changed its mind")
    }))
    expect(await contents(service)).toEqual(before)
    expect(await statusWith(key)).toBe(401)
  })

  it("can be removed the same way; a refused call is recorded, and leaves the transaction usable", async () => {
    const { id, key, subscriptionId } = await host.transaction(({ within }) => create(service.waybill.within(within), "leaves"))
    await host.transaction(async ({ within }) => {
      const tx = service.waybill.within(within)
      expect(await rejected(tx.secrets.delete(tenantId, "leaves-secret"))).toMatchObject({ code: "secret_in_use", status: 409 })
      await tx.subscriptions.remove({ tenantId, client: "leaves", roles: ["customer"], accounts: ["A"] }, subscriptionId)
      await tx.secrets.delete(tenantId, "leaves-secret")
      await tx.apiKeys.revoke(tenantId, id)
      expect(await statusWith(key)).toBe(200)
    })
    expect(await statusWith(key)).toBe(401)
    expect(await audited("leaves-")).toEqual([["secret.delete", 200], ["secret.delete", 409], ["secret.put", 200]])
    expect(await audited(id)).toEqual([["api-key.revoke", 200], ["api-key.create", 200]])
  })
})
