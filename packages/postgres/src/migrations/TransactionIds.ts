/** Transaction ids are valid only in the cluster that assigned them; after a restore into another cluster they are reset. */
import { Effect } from "effect"
import { PgClient } from "../client/PgClient.ts"

/** If the database comes from another cluster, resets the transaction ids of all events, so that every snapshot sees them. */
export const resetForeignTransactionIds = Effect.fn("resetForeignTransactionIds")(function*(schema: string) {
  const sql = yield* PgClient
  yield* sql.withTransaction(Effect.gen(function*() {
    const [current] = yield* sql.bulk("SELECT system_identifier::text AS id FROM pg_control_system()", [])
    const systemIdentifier = current![0] as string
    const [known] = yield* sql.bulk(`SELECT system_identifier FROM ${schema}.cluster`, [])
    if (known?.[0] === systemIdentifier) return
    const [changed] = yield* sql.bulk(
      `INSERT INTO ${schema}.cluster AS c (system_identifier) VALUES ($1)
       ON CONFLICT (singleton) DO UPDATE SET system_identifier = EXCLUDED.system_identifier
       WHERE c.system_identifier <> EXCLUDED.system_identifier
       RETURNING 1`,
      [systemIdentifier]
    )
    // another process did it while this one waited, and may have stored events since
    if (changed === undefined) return
    // 3 is the oldest ordinary id: in the past of every snapshot
    if (known !== undefined) yield* sql.bulk(`UPDATE ${schema}.transit_events SET xid = '3'`, [])
  }))
})
