/** A misspelled tenant must not be stored: every method that names a tenant refuses an unknown one. */
import { startTestWaybill } from "@waybill/testkit"
import { describe, expect, it } from "vitest"
import type { HostPrincipal } from "../../src/index.ts"
import { HostTransaction, memory, startWithTenant } from "./Host.ts"

const tenantId = "acmee"
const principal: HostPrincipal = { tenantId, client: "tms", roles: ["carrier", "customer"], accounts: ["A1"] }

/** Methods that create tenants or name none. */
const withoutTenant = new Set(["tenants.put", "tenants.list", "tenants.health", "audit.list"])

/** The first argument is a principal or, in these groups, the id of a tenant. */
const byTenantId = new Set(["allPickups", "allSubscriptions", "apiKeys", "clients", "deliveries", "journeys", "limits", "secrets", "tenants"])

type Call = readonly [name: string, call: () => Promise<unknown>]

const callsOf = (service: object): ReadonlyArray<Call> =>
  Object.entries(service).flatMap(([group, methods]: [string, unknown]) =>
    typeof methods !== "object" || methods === null ? [] : Object.entries(methods)
      .filter(([name, method]) => typeof method === "function" && !withoutTenant.has(`${group}.${name}`))
      .map(([name, method]: [string, (...given: ReadonlyArray<unknown>) => Promise<unknown>]): Call => [
        `${group}.${name}`,
        () => method(byTenantId.has(group) ? tenantId : principal, ...argumentsOf(`${group}.${name}`))
      ]))

/** Arguments that are valid as far as a method reads them before its tenant. */
const argumentsOf = (name: string): ReadonlyArray<unknown> => {
  if (name === "tenants.delete") return [{ confirm: tenantId }]
  if (/\.(publish|register|report)$/.test(name) && name !== "pickups.report") return [[]]
  if (name === "limits.put") return [{ subscriptions: 5 }]
  if (name === "apiKeys.create") return [{ name: "tms", roles: ["carrier"] }]
  if (name === "secrets.put") return ["main", { anyClient: true }]
  return ["id", {}, {}]
}

const codeOf = (error: unknown): string => (error as { readonly code?: string }).code ?? String(error)

const codes = async (calls: ReadonlyArray<Call>) =>
  Object.fromEntries(await Promise.all(calls.map(async ([name, call]) => [name, await call().then(() => "fulfilled", codeOf)] as const)))

const allWith = (code: string, calls: ReadonlyArray<Call>) => Object.fromEntries(calls.map(([name]) => [name, code]))

describe("an unknown tenant", () => {
  it("is refused by every method of createWaybill, also within a transaction of the host", async () => {
    const waybill = await startWithTenant({ storage: memory() })
    const calls = callsOf(waybill)
    expect(calls.length).toBeGreaterThan(60)
    const within = callsOf(waybill.within(new HostTransaction()))
    expect(await codes(calls)).toEqual(allWith("tenant_not_found", calls))
    expect(await codes(within)).toEqual(allWith("tenant_not_found", within))
    expect((await waybill.tenants.list()).data.map((tenant) => tenant.tenantId)).toEqual(["acme"])
  })

  it("is refused by every method of the test kit", async () => {
    const { carrier: _, shipper: _shipper, ...service } = await startTestWaybill()
    const calls = callsOf(service)
    expect(calls.length).toBeGreaterThan(60)
    expect(await codes(calls)).toEqual(allWith("tenant_not_found", calls))
    await service.stop()
  })
})
