/** `waybill.within(fromTypeOrm(manager))`: the transaction of TypeORM on Postgres. */
import type { HostExecutor } from "../client/PgHost.ts"
import { executorOver } from "./Executor.ts"

export type { HostExecutor }

/** A `QueryRunner` after `startTransaction()`. */
export interface TypeOrmQueryRunner {
  readonly isTransactionActive: boolean
  readonly query: (sql: string, parameters: Array<unknown>, useStructuredResult: true) => PromiseLike<{ readonly records: ReadonlyArray<unknown> }>
}

/** The `manager` of `dataSource.transaction(async (manager) => …)`; `dataSource.manager` has no `queryRunner`. */
export interface TypeOrmEntityManager {
  readonly queryRunner?: TypeOrmQueryRunner | undefined
}

/** Makes a transaction of TypeORM: an entity manager, or a query runner one that `waybill.within` joins. Throws when it is not in a transaction. */
export const fromTypeOrm = (transaction: TypeOrmEntityManager | TypeOrmQueryRunner): HostExecutor => {
  const runner = isQueryRunner(transaction) ? transaction : transaction?.queryRunner
  if (typeof runner?.query !== "function" || runner.isTransactionActive !== true) {
    throw new TypeError("fromTypeOrm(manager) takes the manager that dataSource.transaction(async (manager) => …) hands out, or a query runner after startTransaction().")
  }
  // without the structured result, the rows of UPDATE and DELETE come in another form
  return executorOver(runner, async (sql, parameters) => (await runner.query(sql, parameters, true)).records)
}

const isQueryRunner = (transaction: TypeOrmEntityManager | TypeOrmQueryRunner): transaction is TypeOrmQueryRunner =>
  typeof (transaction as TypeOrmQueryRunner | undefined)?.isTransactionActive === "boolean"
