/** The access matrix with Postgres as storage. The matrix itself is in the http package, next to the contracts. */
import { postgresWaybill } from "../PostgresWaybill.ts"

// Loaded by path, because another package's tests cannot be imported.
const matrix = new URL("../../../http/test/hostile/AccessMatrix.ts", import.meta.url).pathname
const { accessMatrix } = await import(matrix) as {
  readonly accessMatrix: (options: { readonly freshWorlds: boolean; readonly service: { readonly waybill: typeof postgresWaybill } }) => void
}

accessMatrix({ freshWorlds: false, service: { waybill: postgresWaybill } })
