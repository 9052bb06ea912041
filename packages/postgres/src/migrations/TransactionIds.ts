/** Transaction ids are valid only in the cluster that assigned them; after a restore into another cluster they are reset. */
import { Effect } from "effect"
import { PgClient } from "../client/PgClient.ts"
import { text } from "../client/SqlRow.ts"
import { type Statement, statement } from "../client/SqlStatement.ts"

/** If the database comes from another cluster, resets the transaction ids of all events and invoices, so that every snapshot sees them. */
export const resetForeignTransactionIds = Effect.fn("resetForeignTransactionIds")(function*(schema: Statement) {
  const sql = yield* PgClient
  yield* sql.withTransaction(Effect.gen(function*() {
    const current = yield* sql.one(text, statement`SELECT system_identifier::text AS id FROM pg_control_system()`)
    const [known] = yield* sql.rows(text, statement`SELECT system_identifier FROM ${schema}.cluster`)
    if (known === current) return
    const changed = yield* sql.rows(
      text,
      statement`
INSERT INTO ${schema}.cluster AS c (system_identifier) VALUES (${current})
ON CONFLICT (singleton) DO UPDATE SET system_identifier = EXCLUDED.system_identifier
WHERE c.system_identifier <> EXCLUDED.system_identifier
RETURNING c.system_identifier`
    )
    // another process did it while this one waited, and may have stored events since
    if (changed.length === 0 || known === undefined) return
    // 3 is the oldest ordinary id: in the past of every snapshot
    yield* sql.run(statement`UPDATE ${schema}.transit_events SET xid = '3'`)
    yield* sql.run(statement`UPDATE ${schema}.invoices SET xid = '3'`)
  }))
})
