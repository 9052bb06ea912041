/** Whether the node of a tenant shows everything that the coordinator of a Citus cluster has committed. */
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { textArray } from "../client/SqlRow.ts"
import { type Statement, statement, tenant } from "../client/SqlStatement.ts"
import { makeIsDistributed } from "./Citus.ts"
import { database } from "./Database.ts"

/** False: rows that an earlier snapshot of the coordinator shows may still be missing on the tenant's node. Without Citus always true. */
export type Settled = (tenantId: string) => Effect.Effect<boolean, SqlError>

/** The node's transactions between the two phases of a commit, of whatever tenant. The table leads to the node. */
const preparedOnNode = (schema: Statement, tenantId: string) => statement`
SELECT ARRAY(SELECT p.gid FROM pg_prepared_xact() AS p WHERE starts_with(p.gid, 'citus_')) AS prepared
FROM (SELECT count(*) FROM ${schema}.tenants WHERE tenant_id = ${tenant(tenantId)}) AS own`

/** The second phase follows in milliseconds. After the loss of a node Citus makes up for it within a minute, so the caller asks again. */
const waitMillis = 2_000
const askMillis = 20

/**
 * The coordinator commits a write of several nodes after the nodes have prepared it, and before they commit it. So what a snapshot of the
 * coordinator shows is on the node, or prepared there: it is there once the transactions have ended that were prepared after the snapshot was taken.
 */
export const makeSettled: Effect.Effect<Settled, never, Effect.Services<typeof database>> = Effect.gen(function*() {
  const { name, schema, sql } = yield* database
  const isDistributed = yield* makeIsDistributed(name)
  return Effect.fnUntraced(function*(tenantId) {
    if (!(yield* isDistributed)) return true
    const prepared = sql.one(textArray, preparedOnNode(schema, tenantId))
    let waited = 0
    let open = yield* prepared
    while (open.length > 0 && waited < waitMillis) {
      yield* Effect.sleep(askMillis)
      waited += askMillis
      const now = new Set(yield* prepared)
      open = open.filter((gid) => now.has(gid))
    }
    return open.length === 0
  })
})
