/** Positions in the write-ahead log of the primary and its standby, in bytes. */
import { bool, int8, nullable, row, text } from "../client/SqlRow.ts"
import { statement } from "../client/SqlStatement.ts"

export const positionRow = row({ position: int8, snapshot: text })

/**
 * Every transaction that the snapshot shows is before the position: the snapshot is taken first, and a commit is written to disk before
 * others see it. Without synchronous commits it may not be on disk yet.
 */
export const primaryPosition = statement`
SELECT ((CASE current_setting('synchronous_commit') WHEN 'off' THEN pg_current_wal_insert_lsn() ELSE pg_current_wal_flush_lsn() END) - '0/0'::pg_lsn)::int8 AS position,
       pg_current_snapshot()::text AS snapshot`

export const replayedRow = nullable(int8)

/** `null` on a server that replays nothing. */
export const replayedPosition = statement`SELECT (pg_last_wal_replay_lsn() - '0/0'::pg_lsn)::int8 AS position`

export const serverRow = row({ inRecovery: bool, systemId: text, database: text, hasCitus: bool })

export const serverIdentity = statement`
SELECT pg_is_in_recovery() AS in_recovery, (SELECT system_identifier::text FROM pg_control_system()) AS system_id, current_database()::text AS database,
       EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') AS has_citus`
