/** Who may do what, once more with everything kept in Postgres: the matrix itself stands beside the contracts it is made of. */
import { postgresWaybill } from "../PostgresWaybill.ts"

// another package's tests are no module of this one's
const matrix = new URL("../../../http/test/hostile/AccessMatrix.ts", import.meta.url).pathname
const { accessMatrix } = await import(matrix) as {
  readonly accessMatrix: (options: { readonly freshWorlds: boolean; readonly service: { readonly waybill: typeof postgresWaybill } }) => void
}

accessMatrix({ freshWorlds: false, service: { waybill: postgresWaybill } })
