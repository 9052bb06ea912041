/** `waybill.within(fromKysely(trx))`: the transaction of Kysely on Postgres. */
import type { HostExecutor } from "../client/PgHost.ts"
import { executorOver } from "./Executor.ts"

export type { HostExecutor }

/** The `trx` of `db.transaction().execute(async (trx) => …)`, or the result of `db.startTransaction().execute()`. */
export interface KyselyTransaction {
  readonly isTransaction: true
  readonly withoutPlugins: () => { readonly executeQuery: (query: never) => PromiseLike<{ readonly rows: ReadonlyArray<unknown> }> }
}

/** Makes a transaction of Kysely one that `waybill.within` joins. Throws when it is not in a transaction. */
export const fromKysely = (trx: KyselyTransaction): HostExecutor => {
  if (trx?.isTransaction !== true || typeof trx.withoutPlugins !== "function") {
    throw new TypeError("fromKysely(trx) takes the trx that db.transaction().execute(async (trx) => …) hands out.")
  }
  return executorOver(trx, async (sql, parameters) => {
    const queryId = { queryId: crypto.randomUUID() }
    const query = { kind: "RawNode", sqlFragments: [sql], parameters: [] }
    // plugins may change rows, such as the names of columns
    const { rows } = await trx.withoutPlugins().executeQuery({ sql, parameters, query, queryId } as never)
    return rows
  })
}
