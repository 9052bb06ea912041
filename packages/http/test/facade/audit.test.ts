import { describe, expect, it } from "vitest"
import { rejection, startWithTenant } from "./Host.ts"

describe("operator methods of an embedded host", () => {
  it("are in the audit log under the name host, refused ones included, and list reads are not", async () => {
    const waybill = await startWithTenant()
    const { id } = await waybill.apiKeys.create("acme", { name: "shipper", roles: ["customer"], accounts: ["A1"] })
    await waybill.tenants.list()
    const refused = await rejection(waybill.limits.put("acme", { subscriptions: -1 }))
    expect([refused.status, refused.faults.length]).toEqual([400, 1])
    expect((await rejection(waybill.deliveries.get("acme", "nothing"))).code).toBe("delivery_not_found")
    expect((await rejection(waybill.allSubscriptions.remove("acme", "nothing"))).code).toBe("subscription_not_found")
    const { data, nextCursor } = await waybill.audit.list({ tenant: "acme", actor: "host" })
    expect(nextCursor).toBeNull()
    expect(data.map(({ action, object, result, status }) => [action, object.id, result, status])).toEqual([
      ["subscription.delete", "nothing", "refused", 404],
      ["delivery.read-body", "nothing", "refused", 404],
      ["limits.put", "acme", "refused", 400],
      ["api-key.create", id, "ok", 200],
      ["tenant.put", "acme", "ok", 200]
    ])
  })
})
