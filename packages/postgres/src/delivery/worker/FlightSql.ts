/** SQL statements that return deliveries in flight to waiting, after a takeover or a lost take. */
import { int4Array, uuid } from "../../client/SqlRow.ts"
import { nothing, raw, type Statement, statement, tenant } from "../../client/SqlStatement.ts"
import { partitionOfSql } from "../DeliveryEntrySql.ts"
import { inFlight } from "../../shared/InFlightSql.ts"

export interface Interrupted {
  readonly partitions: ReadonlyArray<number>
  /** Of one take, nothing of which was sent: its attempts do not count. Without it: everything, and attempts count. */
  readonly flight: string | undefined
}

const named = ({ flight }: Interrupted) => flight === undefined ? nothing : statement`AND flight = ${uuid(flight)}`

/** What is sent again stands in a row too. A crash of the database may have left it there without its flight: commits of outcomes do not wait for the disk. */
const sentAgain = (schema: Statement, tenantId: string, { partitions }: Interrupted) => statement`
  UNION ALL
  SELECT d.destination_id, d.delivery_id FROM ${schema}.deliveries AS d
  WHERE d.tenant_id = ${tenant(tenantId)} AND d.state IN ('sending', 'waiting') AND d.due_at IS NULL
    AND ${raw(partitionOfSql("d.destination_id"))} = ANY (${int4Array(partitions)})`

/**
 * Makes everything that was in flight wait, due now, and removes the flights. In a closed destination it is cancelled; in one that is closed at the same time, it waits until
 * its owner drops what is in it. A lock of the destinations would say which are closed, and would wait for every transaction of a host that has changed one of them.
 */
export const interrupt = (schema: Statement, tenantId: string, interrupted: Interrupted) => {
  const own = tenant(tenantId)
  const partitions = int4Array(interrupted.partitions)
  const uncounted = raw(interrupted.flight === undefined ? "0" : "1")
  const isClosed = statement`d.destination_id IN (SELECT c.destination_id FROM closed AS c)`
  const outcome = statement`CASE WHEN ${isClosed} THEN 'cancelled' ELSE 'waiting' END`
  const [dueAt, settledAt] = [statement`CASE WHEN ${isClosed} THEN NULL ELSE clock.now END`, statement`CASE WHEN ${isClosed} THEN clock.now END`]
  return statement`
WITH flown AS MATERIALIZED (
  SELECT u.destination_id, u.delivery_id FROM ${schema}.delivery_flights AS f CROSS JOIN LATERAL unnest(f.deliveries) AS u
  WHERE f.tenant_id = ${own} AND f.partition = ANY (${partitions}) ${named(interrupted)}
  ${interrupted.flight === undefined ? sentAgain(schema, tenantId, interrupted) : nothing}
),
closed AS MATERIALIZED (
  SELECT l.destination_id FROM ${schema}.delivery_destinations AS l
  WHERE l.tenant_id = ${own} AND l.destination_id = ANY (ARRAY(SELECT i.destination_id FROM flown AS i)) AND coalesce(l.state, '') = 'closed'
),
first AS (
  INSERT INTO ${schema}.deliveries (tenant_id, delivery_id, destination_id, state, attempt, tries, refs, keys, sent_at, due_at, settled_at, traceparent)
  SELECT ${own}, d.delivery_id, d.destination_id, ${outcome}, d.attempt - ${uncounted}, d.tries - ${uncounted}, d.refs, d.keys, d.sent_at, ${dueAt}, ${settledAt}, d.traceparent
  FROM ${inFlight(schema, tenantId)} AS d CROSS JOIN (SELECT now() AS now) AS clock
  WHERE d.tenant_id = ${own} AND d.partition = ANY (${partitions}) ${named(interrupted)}
  ON CONFLICT DO NOTHING
),
again AS (
  UPDATE ${schema}.deliveries AS d
  SET state = ${outcome}, due_at = ${dueAt}, settled_at = ${settledAt}, attempt = d.attempt - ${uncounted}, tries = d.tries - ${uncounted}
  FROM (SELECT now() AS now) AS clock
  WHERE d.tenant_id = ${own} AND coalesce(d.state, '') = 'sending'
    AND d.delivery_id = ANY (ARRAY(SELECT i.delivery_id FROM flown AS i))
)
DELETE FROM ${schema}.delivery_flights AS f
WHERE f.tenant_id = ${own} AND f.partition = ANY (${partitions}) ${named(interrupted)}`
}
