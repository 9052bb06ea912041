/** Advisory locks of a tenant, which Citus has on the coordinator. */
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { type Statement, statement, tenant } from "../client/SqlStatement.ts"
import { makeIsDistributed } from "./Citus.ts"
import { database } from "./Database.ts"

/** Runs a statement that takes an advisory lock until the transaction ends. */
type TakeLock = (tenantId: string, lock: Statement) => Effect.Effect<void, SqlError>

/**
 * A transaction of Citus has an id after its first statement on distributed tables. Its search for deadlocks takes all transactions without an id
 * for one, and finds deadlocks among them that do not exist. So such a statement precedes the lock.
 */
export const makeTakeLock: Effect.Effect<TakeLock, never, Effect.Services<typeof database>> = Effect.gen(function*() {
  const { name, schema, sql } = yield* database
  const isDistributed = yield* makeIsDistributed(name)
  return Effect.fnUntraced(function*(tenantId, lock) {
    if (yield* isDistributed) yield* sql.run(statement`SELECT count(*) FROM ${schema}.tenants WHERE tenant_id = ${tenant(tenantId)}`)
    yield* sql.run(lock)
  })
})
