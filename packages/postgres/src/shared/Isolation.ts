/** Refuses transactions of hosts whose level of isolation is too strict for a call. */
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { refusal } from "../client/PgErrors.ts"
import { raw, statement } from "../client/SqlStatement.ts"

/** Of the transaction, for `seesCommitted`. */
export const isolation = raw("current_setting('transaction_isolation') AS isolation")

export const readIsolation = statement`SELECT ${isolation}`

/**
 * Fails in a transaction that is stricter than READ COMMITTED. It reads by a snapshot older than the locks that it waits for, so two writes would miss each other, and no row that
 * both write would fail. `writes`: which ones.
 */
export const seesCommitted = (level: string, writes: string): Effect.Effect<void, SqlError> =>
  level.startsWith("read ")
    ? Effect.void
    : Effect.fail(refusal(`The transaction given to within(tx) is ${level.toUpperCase()}, in which ${writes} would miss each other. Begin it with READ COMMITTED.`, "join"))
