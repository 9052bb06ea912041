/** The service as both kinds of processes create it. */
import { createWaybill, type HostPrincipal } from "@waybill/http"
import { postgresStorage } from "@waybill/postgres"
import pg from "pg"

export const carrier: HostPrincipal = { tenantId: "acme", client: "tms", roles: ["carrier"] }
export const customer: HostPrincipal = { tenantId: "acme", client: "shipper", roles: ["customer"], accounts: ["A-1"] }

/** Only processes that deliver need to listen for wake-ups. */
export const createService = ({ listen }: { readonly listen: boolean }) => {
  const pool = new pg.Pool({ connectionString: process.env["DATABASE_URL"], max: 5 })
  // a broken idle connection is replaced when it is needed
  pool.on("error", () => {})
  const waybill = createWaybill({
    storage: postgresStorage({ pool, schema: "waybill_example", listen }),
    // the same keys in every process
    sealingKeys: ["MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="],
    apiKeys: true,
    egressAllow: ["127.0.0.1"]
  })
  return { pool, waybill }
}
