/** `waybill.within(fromPostgresJs(tx))`: the transaction of postgres.js. */
import type { HostExecutor } from "../client/PgHost.ts"
import { executorOver } from "./Executor.ts"

export type { HostExecutor }

/** The `tx` of `sql.begin(async (tx) => …)`. */
export interface PostgresJsTransaction {
  /** Only a transaction has it. */
  readonly savepoint: (...given: Array<never>) => unknown
  readonly unsafe: (sql: string, values: Array<never>) => PromiseLike<ReadonlyArray<unknown>>
}

/** Makes a transaction of postgres.js one that `waybill.within` joins. Throws when it is not in a transaction. */
export const fromPostgresJs = (tx: PostgresJsTransaction): HostExecutor => {
  if (typeof tx?.savepoint !== "function" || typeof tx.unsafe !== "function") {
    throw new TypeError("fromPostgresJs(tx) takes the tx that sql.begin(async (tx) => …) hands out.")
  }
  return executorOver(tx, (sql, values) => tx.unsafe(sql, values as Array<never>))
}
