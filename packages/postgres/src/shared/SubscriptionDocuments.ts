/** Subscription documents as core stores them, for any area's table. */
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { uuidArray } from "../client/PgBulk.ts"
import type { PgClient } from "../client/PgClient.ts"

/** Documents by subscription id; `condition` excludes ended subscriptions. */
export const makeDocuments = (sql: PgClient, table: string, condition = "true") => (tenantId: string, ids: ReadonlyArray<string>): Effect.Effect<ReadonlyMap<string, string>, SqlError> =>
  Effect.map(
    sql.bulk(`SELECT id, doc FROM ${table} WHERE tenant_id = $1 AND id = ANY ($2::uuid[]) AND ${condition}`, [tenantId, uuidArray(ids)], ["uuid", "text"]),
    (rows) => new Map(rows as ReadonlyArray<[string, string]>)
  )
