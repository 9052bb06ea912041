/** Reads that answer a caller and decide nothing. They may be sent to a read replica. */
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { PgClient, type PgClientService } from "../client/PgClient.ts"
import { type Lookup, ReadReplica } from "../replica/ReadReplica.ts"

/** Runs a lookup on the replica if there is one. In a transaction it runs in the transaction, whose own writes only the primary has. */
export const makeLookup: Effect.Effect<<A>(read: Lookup<A>) => Effect.Effect<A, SqlError>, never, PgClientService> = Effect.gen(function*() {
  const sql = yield* PgClient
  const replica = yield* ReadReplica
  if (replica === undefined) return (read) => read(sql, undefined)
  return (read) => Effect.flatMap(sql.transactionConnection, (open) => open === undefined ? replica.lookup(read) : read(sql, undefined))
})
