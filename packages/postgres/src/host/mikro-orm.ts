/** `waybill.within(fromMikroOrm(em))`: the transaction of MikroORM on Postgres. */
import type { HostExecutor } from "../client/PgHost.ts"
import { fromKnex, type KnexTransaction } from "./knex.ts"
import { fromKysely, type KyselyTransaction } from "./kysely.ts"

export type { HostExecutor }

/** The `em` of `em.transactional(async (em) => …)`, or an `em` after `await em.begin()`. */
export interface MikroOrmEntityManager {
  /** A transaction of Kysely, or of Knex before MikroORM 7. */
  readonly getTransactionContext: () => unknown
}

/** Makes a transaction of MikroORM one that `waybill.within` joins. Throws when it is not in a transaction. */
export const fromMikroOrm = (em: MikroOrmEntityManager): HostExecutor => {
  const transaction = typeof em?.getTransactionContext === "function" ? em.getTransactionContext() : undefined
  if (transaction === undefined || transaction === null) {
    throw new TypeError("fromMikroOrm(em) takes the em that em.transactional(async (em) => …) hands out, or an em after await em.begin().")
  }
  return isOfKysely(transaction) ? fromKysely(transaction) : fromKnex(transaction as KnexTransaction)
}

// a transaction of Knex is a function with an `isTransaction` too
const isOfKysely = (transaction: unknown): transaction is KyselyTransaction => "withoutPlugins" in (transaction as object)
