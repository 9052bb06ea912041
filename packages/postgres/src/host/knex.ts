/** `waybill.within(fromKnex(trx))`: the transaction of Knex on Postgres. */
import type { HostExecutor } from "../client/PgHost.ts"
import { executorOver } from "./Executor.ts"

export type { HostExecutor }

/** The `trx` of `knex.transaction(async (trx) => …)`, or the result of `await knex.transaction()`. */
export interface KnexTransaction {
  readonly isCompleted: () => boolean
  readonly raw: (sql: string) => { readonly options: (options: { readonly values: Array<unknown> }) => PromiseLike<unknown> }
}

/** Makes a transaction of Knex one that `waybill.within` joins. Throws when it is not in a transaction. */
export const fromKnex = (trx: KnexTransaction): HostExecutor => {
  if (typeof trx?.isCompleted !== "function" || typeof trx.raw !== "function") {
    throw new TypeError("fromKnex(trx) takes the trx that knex.transaction(async (trx) => …) hands out.")
  }
  return executorOver(trx, async (sql, values) => {
    // Knex's placeholder is a question mark; it leaves `$1` unchanged and passes its options to pg
    const result = await trx.raw(sql.replaceAll("?", "\\?")).options({ values }) as ReadonlyArray<unknown> | { readonly rows: ReadonlyArray<unknown> }
    // the host's postProcessResponse may have unwrapped the rows
    return "rows" in result ? result.rows : result
  })
}
