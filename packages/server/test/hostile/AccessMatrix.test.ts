/**
 * The access matrix with Postgres as storage. The matrix itself is in the http package, next to the contracts, where every caller
 * makes every call of the service in memory; here they all do in `npm run proof`.
 */
import { postgresWaybill } from "../PostgresWaybill.ts"

// Loaded by path, because another package's tests cannot be imported.
const matrix = new URL("../../../http/test/hostile/AccessMatrix.ts", import.meta.url).pathname
const { accessMatrix } = await import(matrix) as {
  readonly accessMatrix: (options: { readonly freshWorlds: boolean; readonly oneOfEachRole: boolean; readonly service: { readonly waybill: typeof postgresWaybill } }) => void
}

accessMatrix({ freshWorlds: false, oneOfEachRole: process.env["WAYBILL_PROOF"] !== "long", service: { waybill: postgresWaybill } })
