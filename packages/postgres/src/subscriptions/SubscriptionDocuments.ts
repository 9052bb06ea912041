/** Subscription documents as core stores them, for any area's table. */
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { PgClient } from "../client/PgClient.ts"
import { row, text, uuid, uuidArray } from "../client/SqlRow.ts"
import { type Statement, statement, tenant } from "../client/SqlStatement.ts"

const documentRow = row({ id: uuid, doc: text })

const always = statement`true`

/** Documents by subscription id; `condition` excludes ended subscriptions. */
export const makeDocuments = (sql: PgClient, table: Statement, condition = always) => (tenantId: string, ids: ReadonlyArray<string>): Effect.Effect<ReadonlyMap<string, string>, SqlError> =>
  Effect.map(
    sql.rows(
      documentRow,
      statement`SELECT ${documentRow.columns()} FROM ${table} WHERE tenant_id = ${tenant(tenantId)} AND id = ANY (${uuidArray(ids)}) AND ${condition}`
    ),
    (rows) => new Map(rows.map(({ doc, id }) => [id, doc]))
  )
