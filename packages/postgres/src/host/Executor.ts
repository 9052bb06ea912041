/** What every adapter is made of: one function that sends a statement on the transaction of a host's library. */
import type { HostExecutor } from "../client/PgHost.ts"

/** Sends a statement with `$1` placeholders and answers its rows: objects, their keys in the order of the columns. */
export type Execute = (sql: string, values: Array<unknown>) => PromiseLike<ReadonlyArray<unknown>>

const executors = new WeakMap<object, HostExecutor>()

/** The same executor for the same transaction: calls that share a transaction wait for each other by it. */
export const executorOver = (transaction: object, execute: Execute): HostExecutor => {
  const known = executors.get(transaction)
  if (known !== undefined) return known
  const executor: HostExecutor = { executeSql: async (sql, values) => ({ rows: await execute(sql, [...values]) }) }
  executors.set(transaction, executor)
  return executor
}

/** Refuses what is no transaction with a sentence that says where to find one. */
export const refuseUnless = (isTransaction: boolean, sentence: string): void => {
  if (!isTransaction) throw new TypeError(sentence)
}
