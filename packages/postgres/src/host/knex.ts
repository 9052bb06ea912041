/** `waybill.within(fromKnex(trx))`: the transaction of Knex on Postgres. */
import type { HostExecutor } from "../client/PgHost.ts"
import { executorOver, refuseUnless } from "./Executor.ts"

export type { HostExecutor }

/** What `knex.transaction(async (trx) => …)` hands out, or `await knex.transaction()` answers. */
export interface KnexTransaction {
  readonly isCompleted: () => boolean
  readonly raw: (sql: string) => { readonly options: (options: { readonly values: Array<unknown> }) => PromiseLike<unknown> }
}

export const fromKnex = (trx: KnexTransaction): HostExecutor => {
  refuseUnless(
    typeof trx?.isCompleted === "function" && typeof trx.raw === "function",
    "fromKnex(trx) takes the trx that knex.transaction(async (trx) => …) hands out."
  )
  return executorOver(trx, async (sql, values) => {
    // Knex's own placeholder is a question mark; `$1` it leaves alone, and its options go to pg as they are
    const { rows } = await trx.raw(sql.replaceAll("?", "\\?")).options({ values }) as { readonly rows: ReadonlyArray<unknown> }
    return rows
  })
}
