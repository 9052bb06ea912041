/** Advisory locks of a tenant, which Citus has on the coordinator. */
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { PgClient, type PgClientService } from "../client/PgClient.ts"
import { type Statement, statement, tenant } from "../client/SqlStatement.ts"
import { makeIsDistributed } from "./Citus.ts"
import { WaybillSchema } from "./Schema.ts"

/** Runs a statement that takes an advisory lock until the transaction ends. */
type TakeLock = (tenantId: string, lock: Statement) => Effect.Effect<void, SqlError>

/**
 * A transaction of Citus has an id after its first statement on distributed tables. Its search for deadlocks takes all transactions without an id
 * for one, and finds deadlocks among them that do not exist. So such a statement precedes the lock.
 */
export const makeTakeLock: Effect.Effect<TakeLock, never, PgClientService | WaybillSchema> = Effect.gen(function*() {
  const sql = yield* PgClient
  const { identifier: schema, name } = yield* WaybillSchema
  const isDistributed = yield* makeIsDistributed(name)
  return Effect.fnUntraced(function*(tenantId, lock) {
    if (yield* isDistributed) yield* sql.run(statement`SELECT count(*) FROM ${schema}.tenants WHERE tenant_id = ${tenant(tenantId)}`)
    yield* sql.run(lock)
  })
})
