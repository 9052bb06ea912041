/** The one Waybill of a Next application. */
import { createWaybill, type HostPrincipal, type Waybill } from "@waybill/http"
import { memoryStorage } from "@waybill/testkit"

// who your users are, by the cookie or token of your log-in
const users: Readonly<Record<string, HostPrincipal>> = {
  "tms-token": { tenantId: "acme", client: "tms", roles: ["carrier"], dot: "1234567", mc: "765432" },
  "shipper-token": { tenantId: "acme", client: "shipper", roles: ["customer"], accounts: ["A-1"] }
}

const make = () =>
  createWaybill({
    // in production: postgresStorage({ pool }) of @waybill/postgres
    storage: memoryStorage(),
    sealingKeys: ["MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="],
    // reads the request it is given: cookies() and headers() of next/headers do not reach this far
    authenticate: async ({ headers }) => users[headers.get("authorization")?.replace("Bearer ", "") ?? ""],
    // the receiver of this example is on the same machine
    egressAllow: ["127.0.0.1"]
  })

// Next bundles every route by itself, and loads them again while you develop
const kept = globalThis as { waybill?: Waybill }
export const waybill = kept.waybill ??= make()
