/** `waybill.within(fromDrizzle(tx))`: the transaction of Drizzle on Postgres. */
import type { HostExecutor } from "../client/PgHost.ts"
import { executorOver } from "./Executor.ts"

export type { HostExecutor }

/** The `tx` of `db.transaction(async (tx) => …)`; `db` itself has no `rollback`. */
export interface DrizzleTransaction {
  readonly execute: (query: never) => PromiseLike<unknown>
  readonly rollback: () => never
}

/** Makes a transaction of Drizzle one that `waybill.within` joins. Throws when it is not in a transaction. */
export const fromDrizzle = (tx: DrizzleTransaction): HostExecutor => {
  if (typeof tx?.execute !== "function" || typeof tx.rollback !== "function") {
    throw new TypeError("fromDrizzle(tx) takes the tx that db.transaction(async (tx) => …) hands out.")
  }
  return executorOver(tx, async (sql, params) => {
    // the compiled form of Drizzle's sql`…`, which leaves the placeholders unchanged
    const query = { getSQL: () => query, toQuery: () => ({ sql, params }) }
    const answer = await tx.execute(query as never) as ReadonlyArray<unknown> | { readonly rows: ReadonlyArray<unknown> }
    return "rows" in answer ? answer.rows : answer
  })
}
