/** The base of every adapter: one function that sends a statement on the transaction of a host's library. */
import type { HostExecutor } from "../client/PgHost.ts"

/** Sends a statement with `$1` placeholders and returns its rows as objects with keys in column order. */
export type Execute = (sql: string, values: Array<unknown>) => PromiseLike<ReadonlyArray<unknown>>

const executors = new WeakMap<object, HostExecutor>()

/** Returns the same executor for the same transaction, so that calls sharing a transaction wait for each other. */
export const executorOver = (transaction: object, execute: Execute): HostExecutor => {
  const known = executors.get(transaction)
  if (known !== undefined) return known
  const executor: HostExecutor = { executeSql: async (sql, values) => ({ rows: await execute(sql, [...values]) }), original: transaction }
  executors.set(transaction, executor)
  return executor
}
