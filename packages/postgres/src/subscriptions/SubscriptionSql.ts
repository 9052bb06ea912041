/** SQL statements for subscriptions with the state of their destination, for any area's table. */
import type { DestinationState, PausedBy } from "@waybill/core/delivery"
import { bool, type Decoded, int8, only, optional, row, text, timestamptz, uuid } from "../client/SqlRow.ts"
import { nothing, raw, type Statement, statement, tenant } from "../client/SqlStatement.ts"
import { queueEntries, signalQueued } from "../delivery/DeliveryEntrySql.ts"

export const subscriptionRow = row({
  id: uuid,
  client: text,
  doc: text,
  createdAt: timestamptz,
  updatedAt: timestamptz,
  state: only<DestinationState>(text),
  reason: optional(text),
  since: timestamptz,
  pausedBy: optional(only<PausedBy>(text))
})

export const subscriptionOf = ({ client, createdAt, doc, id, updatedAt, ...destination }: Decoded<typeof subscriptionRow>) =>
  ({ id, client, doc, createdAt, updatedAt, destination })

/** A client's subscriptions `s` of a table, with the state of their destinations `l`. */
export const selectSubscriptions = (schema: Statement, table: Statement, tenantId: string, client: string) => statement`
SELECT s.id, s.client, s.doc, s.created_at, s.updated_at, l.state, l.state_reason, l.state_since, l.paused_by
FROM ${table} AS s
JOIN ${schema}.delivery_destinations AS l ON l.tenant_id = s.tenant_id AND l.destination_id = s.id
WHERE s.tenant_id = ${tenant(tenantId)} AND s.client = ${client} AND s.deleted_at IS NULL`

/**
 * Locks the destination as well. After waiting for a row lock, Postgres re-reads only the locked rows; with a lock on the subscription alone the caller
 * would write back the old state of its destination, over a pause that was committed meanwhile.
 */
const lockedWithDestination = raw("FOR UPDATE OF s FOR NO KEY UPDATE OF l")

export const findSubscription = (schema: Statement, table: Statement, tenantId: string, client: string, id: string, forUpdate: boolean) => statement`
${selectSubscriptions(schema, table, tenantId, client)} AND s.id = ${uuid(id)} ${forUpdate ? lockedWithDestination : nothing}`

/** Whether the subscription is deleted. */
export const lockSubscription = (table: Statement, tenantId: string, client: string, id: string) => statement`
SELECT deleted_at IS NOT NULL AS deleted FROM ${table}
WHERE tenant_id = ${tenant(tenantId)} AND client = ${client} AND id = ${uuid(id)} FOR UPDATE`

const pruneSize = raw("5000")

/** Returns how many were removed. */
export const pruneSubscriptions = (table: Statement, tenantId: string, deletedBefore: number) => {
  const own = tenant(tenantId)
  return statement`
WITH old AS (
  SELECT id FROM ${table} WHERE tenant_id = ${own} AND deleted_at < ${timestamptz(deletedBefore)} ORDER BY deleted_at LIMIT ${pruneSize} FOR UPDATE SKIP LOCKED
),
gone AS (
  DELETE FROM ${table} AS s WHERE s.tenant_id = ${own} AND s.id = ANY (ARRAY(SELECT id FROM old)) RETURNING 1
)
SELECT count(*) AS pruned FROM gone`
}

/** What a replay reads, step by step. */
export interface ReplayedLog {
  /** The rows of a tenant, for FROM and WHERE. */
  readonly rows: Statement
  /** A column that numbers them, by an index. */
  readonly number: Statement
  /** A condition on the rows: when they were stored. */
  readonly isWithin: Statement
  /** Entries of the rows that also fulfil a condition, for the subscription `wanted`. */
  readonly entries: (condition: Statement) => Statement
}

/** Rows of the log that one statement reads: half a second of work, while a whole log may take longer than a statement may run. */
const replayStep = raw("10000")

export const boundsRow = row({ first: optional(int8), last: optional(int8) })

/** The first and the last number within the time. OFFSET 0: by the numbers' index, the whole log before would be read. */
export const replayBounds = ({ isWithin, number, rows }: ReplayedLog) => statement`
SELECT min(r.number) AS first, max(r.number) AS last FROM (SELECT ${number} AS number FROM ${rows} AND ${isWithin} OFFSET 0) AS r`

export const isBetweenNumbers = (number: Statement, first: number, last: number) => statement`${number} BETWEEN ${int8(first)} AND ${int8(last)}`

/** The last number of the next step. */
export const replayStepEnd = ({ number, rows }: ReplayedLog, first: number, last: number) => statement`
SELECT max(r.number) AS last FROM (SELECT ${number} AS number FROM ${rows} AND ${isBetweenNumbers(number, first, last)} ORDER BY ${number} LIMIT ${replayStep}) AS r`

export const replayedRow = row({ isFound: bool, queued: int8 })

/** Returns whether the subscription `wanted` exists, and how many of the entries were queued again; those that wait already stay. */
export const replayEntries = (schema: Statement, table: Statement, tenantId: string, id: string, entries: Statement) => statement`
WITH wanted AS (
  SELECT s.* FROM ${table} AS s WHERE s.tenant_id = ${tenant(tenantId)} AND s.id = ${uuid(id)} AND s.deleted_at IS NULL
),
queued AS (
  ${queueEntries(schema, statement`${entries}
  ON CONFLICT DO NOTHING`)}
),
signalled AS (
  ${signalQueued(schema, tenant(tenantId))}
)
SELECT EXISTS (SELECT FROM wanted) AS found, (SELECT count(*) FROM queued) AS queued`
