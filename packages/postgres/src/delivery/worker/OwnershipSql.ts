/** SQL statements for the ownership of partitions. Leases have rows of their own, so that renewals do not wait for writes of owners. */
import { type OwnedPartition, partitionsPerTenant, type ReleasedPartition, type WorkerLease } from "@waybill/core/delivery"
import { bool, float8, float8Array, int4, int4Array, int8, optional, row, text, uuidArray } from "../../client/SqlRow.ts"
import { type Expression, ofAnyLength, raw, type Statement, statement, tenant } from "../../client/SqlStatement.ts"
import { clientIsLive, tenantIsActive } from "../DeliveryGateSql.ts"
import { destinationsWith } from "../DestinationSql.ts"
import { freeDestinations } from "./FreeDestinationSql.ts"
import { destinationOf } from "../LookupSql.ts"
import { fenced } from "./PartitionSql.ts"
import { partitionOfSql } from "../DeliveryEntrySql.ts"

const nowColumn = raw("floor(extract(epoch FROM now()) * 1000)::float8 AS now")

const leaseOf = ({ leaseMillis }: WorkerLease) => statement`${float8(leaseMillis)} * interval '1 millisecond'`

const until = (worker: WorkerLease) => statement`now() + ${leaseOf(worker)}`

/** Later than its owner can have asked for: the clock was set back since. Within two leases it is left to run out, so small differences of clocks do not matter. */
const isAhead = (instant: string) => raw(`${instant} > now() + 2 * lease`)

/** Of a row of `delivery_workers`. A worker that was killed before the clock was set back is not alive. */
export const isAlive = statement`alive_until > now() AND NOT ${isAhead("alive_until")}`

/** Also deletes workers that ended an hour ago. */
export const keepAlive = (schema: Statement, worker: WorkerLease) => statement`
WITH forgotten AS (
  DELETE FROM ${schema}.delivery_workers WHERE alive_until < now() - interval '1 hour' AND worker_id <> ${text(worker.workerId)}
)
INSERT INTO ${schema}.delivery_workers (worker_id, alive_until, lease) VALUES (${text(worker.workerId)}, ${worker.isStopping === true ? raw("now()") : until(worker)}, ${leaseOf(worker)})
ON CONFLICT (worker_id) DO UPDATE SET alive_until = EXCLUDED.alive_until, lease = EXCLUDED.lease`

export const ownedRow = row({ tenantId: text, partition: int4, epoch: int8 })

/**
 * Leases that have not expired. Others lock only expired ones, so this statement never waits: the other leases could expire while it waits.
 */
export const renewLeases = (schema: Statement, worker: WorkerLease) => statement`
UPDATE ${schema}.delivery_leases AS l SET leased_until = ${until(worker)}, lease = ${leaseOf(worker)}
WHERE l.worker_id = ${text(worker.workerId)} AND l.leased_until > now()`

/** Leases to change, across tenants, and how. */
export interface LeaseChange {
  readonly condition: Statement
  readonly leasedUntil: Expression
  readonly lease: Expression
}

/** Renews leases that have run out, and that nobody has taken over. */
export const renewExpired = (worker: WorkerLease): LeaseChange => ({
  condition: statement`l.worker_id = ${text(worker.workerId)} AND l.leased_until <= now() AND l.leased_until > '-infinity'`,
  leasedUntil: until(worker),
  lease: leaseOf(worker)
})

/**
 * Shortens leases that a clock granted that was set back since. They end in one lease from now: an owner that is alive renews its lease sooner, and was
 * told to stop at that time at the latest.
 */
export const shortenAhead: LeaseChange = { condition: isAhead("l.leased_until"), leasedUntil: raw("now() + l.lease"), lease: raw("l.lease") }

export const leasesToChange = (schema: Statement, { condition }: LeaseChange) => statement`
SELECT l.tenant_id, l.partition::int4 AS partition FROM ${schema}.delivery_leases AS l WHERE ${condition}`

/** Skips leases that another worker is taking over, or renewing. The values are selected before: Citus takes no function of a column and of the time in SET. */
export const changeLeases = (schema: Statement, tenantId: string, partitions: ReadonlyArray<number>, { condition, lease, leasedUntil }: LeaseChange) => {
  const own = tenant(tenantId)
  return statement`
WITH changing AS MATERIALIZED (
  SELECT l.partition, ${leasedUntil} AS leased_until, ${lease} AS lease FROM ${schema}.delivery_leases AS l
  WHERE l.tenant_id = ${own} AND l.partition = ANY (${int4Array(partitions)}) AND ${condition}
  FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE ${schema}.delivery_leases AS l SET leased_until = c.leased_until, lease = c.lease FROM changing AS c
WHERE l.tenant_id = ${own} AND l.partition = ANY (ARRAY(SELECT b.partition FROM changing AS b)) AND l.partition = c.partition`
}

/** The partitions whose leases the worker has just renewed. */
export const ownedPartitions = (schema: Statement, { workerId }: WorkerLease) => statement`
SELECT l.tenant_id, l.partition::int4 AS partition, p.epoch
FROM ${schema}.delivery_leases AS l
CROSS JOIN LATERAL (
  SELECT p.epoch FROM ${schema}.delivery_partitions AS p WHERE p.tenant_id = l.tenant_id AND p.partition = l.partition
  LIMIT 1
) AS p
WHERE l.worker_id = ${text(workerId)} AND l.leased_until > now()`

export const shareRow = row({ now: float8, workers: int4, active: int4 })

export const shares = (schema: Statement) => statement`
SELECT ${nowColumn},
       (SELECT count(*)::int4 FROM ${schema}.delivery_workers WHERE ${isAlive}) AS workers,
       (SELECT count(*)::int4 FROM ${schema}.delivery_leases WHERE leased_until > now()) AS active`

export const nowRow = row({ now: float8 })

export const readNow = statement`SELECT ${nowColumn}`

export const lookRow = row({ tenantId: text, partition: int4 })

/** The partitions of a worker with signals, oldest signal first. */
export const signalledPartitions = (schema: Statement, workerId: string, limit: number) => statement`
SELECT l.tenant_id, l.partition::int4 AS partition
FROM ${schema}.delivery_leases AS l
CROSS JOIN LATERAL (
  SELECT s.signal_no FROM ${schema}.delivery_signals AS s WHERE s.tenant_id = l.tenant_id AND s.partition = l.partition
  ORDER BY s.signal_no
  LIMIT 1
) AS s
WHERE l.worker_id = ${text(workerId)} AND l.leased_until > now()
ORDER BY s.signal_no
LIMIT ${int8(limit)}`

/** Partitions whose lease has ended, and those with signals and without a lease. */
export const freePartitions = (schema: Statement, limit: number, isDistributed: boolean) => {
  const most = int8(limit)
  return statement`
${isDistributed ? firstSignalsOnCitus(schema) : firstSignals(schema)}
(SELECT l.tenant_id, l.partition::int4 AS partition FROM ${schema}.delivery_leases AS l WHERE l.leased_until <= now() ORDER BY l.leased_until LIMIT ${most})
UNION ALL
(
  SELECT s.tenant_id, s.partition::int4 FROM signalled AS s
  WHERE s.signal_no IS NOT NULL AND NOT EXISTS (SELECT FROM ${schema}.delivery_leases AS l WHERE l.tenant_id = s.tenant_id AND l.partition = s.partition OFFSET 0)
  ORDER BY s.signal_no
  LIMIT ${most}
)
LIMIT ${most}`
}

/** Steps from partition to partition, so that their other signals are not read. Citus refuses it, because it belongs to no tenant. */
const firstSignals = (schema: Statement) => statement`WITH RECURSIVE signalled AS (
  (SELECT s.tenant_id, s.partition, s.signal_no FROM ${schema}.delivery_signals AS s ORDER BY s.tenant_id, s.partition, s.signal_no LIMIT 1)
  UNION ALL
  SELECT n.tenant_id, n.partition, n.signal_no
  FROM signalled AS p
  CROSS JOIN LATERAL (
    SELECT s.tenant_id, s.partition, s.signal_no FROM ${schema}.delivery_signals AS s
    WHERE (s.tenant_id, s.partition) > (p.tenant_id, p.partition)
    ORDER BY s.tenant_id, s.partition, s.signal_no
    LIMIT 1
  ) AS n
)`

/** One lookup for each tenant with destinations, and one more for each partition of those with signals, however many signals there are. */
const firstSignalsOnCitus = (schema: Statement) => statement`WITH signalled AS (
  SELECT t.tenant_id, p.number AS partition,
    (SELECT min(s.signal_no) FROM ${schema}.delivery_signals AS s WHERE s.tenant_id = t.tenant_id AND s.partition = p.number) AS signal_no
  FROM (SELECT DISTINCT c.tenant_id FROM ${schema}.delivery_destination_counts AS c) AS t
  CROSS JOIN LATERAL (SELECT s.signal_no FROM ${schema}.delivery_signals AS s WHERE s.tenant_id = t.tenant_id LIMIT 1) AS first
  CROSS JOIN generate_series(0, ${lastPartition}) AS p (number)
)`

const lastPartition = raw(String(partitionsPerTenant - 1))

export const leasedRow = row({ partition: int4, takenOver: bool })

/**
 * Leases that are free or the worker's own become the worker's. `taken_over`: the owner before did not release it. Leases of others are not locked,
 * not even to read them: their owners' renewals skip locked leases, and would count them as lost.
 */
export const takeLeases = (schema: Statement, tenantId: string, worker: WorkerLease, partitions: ReadonlyArray<number>) => {
  const [own, wanted, workerId] = [tenant(tenantId), int4Array(partitions), text(worker.workerId)]
  return statement`
WITH free AS MATERIALIZED (
  SELECT l.partition, l.leased_until <= now() AND l.leased_until > '-infinity' AS taken_over FROM ${schema}.delivery_leases AS l
  WHERE l.tenant_id = ${own} AND l.partition = ANY (${wanted}) AND (l.leased_until <= now() OR l.worker_id = ${workerId})
  FOR NO KEY UPDATE SKIP LOCKED
),
retaken AS (
  UPDATE ${schema}.delivery_leases AS l
  SET worker_id = ${workerId}, leased_until = ${until(worker)}, lease = ${leaseOf(worker)}
  WHERE l.tenant_id = ${own} AND l.partition = ANY (ARRAY(SELECT f.partition FROM free AS f))
),
added AS (
  INSERT INTO ${schema}.delivery_leases (tenant_id, partition, worker_id, leased_until, lease)
  SELECT ${own}, g.partition, ${workerId}, ${until(worker)}, ${leaseOf(worker)} FROM unnest(${wanted}) AS g (partition) ORDER BY g.partition
  ON CONFLICT (tenant_id, partition) DO NOTHING
  RETURNING partition
)
SELECT f.partition::int4 AS partition, f.taken_over FROM free AS f UNION ALL SELECT a.partition::int4, false FROM added AS a`
}

export const epochRow = row({ partition: int4, epoch: int8 })

export const raisedRow = row({ partition: int4, epoch: int8, othersUntil: optional(float8) })

/** Microseconds since 1970: no epoch is ever given out twice, not even after a tenant was removed, or by a database that was restored. */
const newEpoch = raw("(extract(epoch FROM now()) * 1000000)::int8")

/** Waits for a statement of the owner before. What follows in the transaction sees what that statement wrote. */
export const raiseEpochs = (schema: Statement, tenantId: string, partitions: ReadonlyArray<number>) => statement`
INSERT INTO ${schema}.delivery_partitions AS p (tenant_id, partition, epoch)
SELECT ${tenant(tenantId)}, g.partition, ${newEpoch} FROM unnest(${int4Array(partitions)}) AS g (partition) ORDER BY g.partition
ON CONFLICT (tenant_id, partition) DO UPDATE SET epoch = greatest(p.epoch + 1, EXCLUDED.epoch)
RETURNING p.partition::int4 AS partition, p.epoch, p.others_until`

/** Raises the epochs of those that are still owned. */
export const replaceEpochs = (schema: Statement, tenantId: string, owned: ReadonlyArray<OwnedPartition>) => statement`
WITH ${fenced(schema, tenantId, owned, "NO KEY UPDATE")}
UPDATE ${schema}.delivery_partitions AS p SET epoch = greatest(p.epoch + 1, ${newEpoch})
WHERE p.tenant_id = ${tenant(tenantId)} AND p.partition = ANY (ARRAY(SELECT f.partition FROM fence AS f))
RETURNING p.partition::int4 AS partition, p.epoch`

const partitionOfRow = raw(partitionOfSql("d.destination_id"))

/** `working (destination_id, partition)`, part of a WITH RECURSIVE: destinations with entries or deliveries that are not settled. */
const working = (schema: Statement, tenantId: string) => {
  const own = tenant(tenantId)
  return statement`${destinationsWith("unsettled", statement`${schema}.deliveries AS r WHERE r.tenant_id = ${own} AND r.state IN ('sending', 'waiting')`)},
${destinationsWith("waiting", statement`${schema}.delivery_entries AS r WHERE r.tenant_id = ${own}`)},
working AS (
  SELECT d.destination_id, ${partitionOfRow} AS partition
  FROM (SELECT u.destination_id FROM unsettled AS u UNION SELECT w.destination_id FROM waiting AS w) AS d
)`
}

export const findWork = (schema: Statement, tenantId: string, partitions: ReadonlyArray<number>) => statement`
WITH RECURSIVE ${working(schema, tenantId)}
SELECT d.destination_id FROM working AS d WHERE d.partition = ANY (${int4Array(partitions)})`

/** In front of `releaseLeases`, in the order in which others lock: leases before epochs. */
export const lockLeases = (schema: Statement, tenantId: string, partitions: ReadonlyArray<number>) => statement`
SELECT l.partition::int4 AS partition FROM ${schema}.delivery_leases AS l
WHERE l.tenant_id = ${tenant(tenantId)} AND l.partition = ANY (${int4Array(partitions)})
ORDER BY l.partition
FOR UPDATE`

/**
 * Idle partitions lose their lease unless they have work after all: a signal, also that of a later publication, makes the partition be found without a
 * lease. The others are free at once.
 */
export const releaseLeases = (schema: Statement, tenantId: string, released: ReadonlyArray<ReleasedPartition>) => {
  const own = tenant(tenantId)
  const idle = int4Array(released.flatMap((each) => each.idle ? [each.partition] : []))
  return statement`
WITH RECURSIVE ${fenced(schema, tenantId, released)},
${working(schema, tenantId)},
sending AS (
  SELECT d.partition
  FROM working AS d
  ${destinationOf(schema, tenantId, "d.destination_id", raw("AND l.state = 'active'"))}
  WHERE d.partition = ANY (${idle}) AND ${raw(tenantIsActive(schema.text))} AND ${raw(clientIsLive(schema.text, "l.client"))}
),
idle AS MATERIALIZED (
  SELECT f.partition FROM fence AS f
  WHERE f.partition = ANY (${idle}) AND NOT EXISTS (SELECT FROM ${schema}.delivery_flights AS r WHERE r.tenant_id = ${own} AND r.partition = f.partition OFFSET 0)
    AND f.partition NOT IN (SELECT s.partition FROM sending AS s)
),
ended AS (
  DELETE FROM ${schema}.delivery_leases AS l WHERE l.tenant_id = ${own} AND l.partition = ANY (ARRAY(SELECT i.partition FROM idle AS i))
)
UPDATE ${schema}.delivery_leases AS l SET leased_until = '-infinity'
WHERE l.tenant_id = ${own} AND l.partition = ANY (ARRAY(SELECT f.partition FROM fence AS f WHERE f.partition NOT IN (SELECT i.partition FROM idle AS i)))`
}

/**
 * Up to when each rate is used, and until when previous owners may have sent, for the owner that follows. Where a destination is locked by another transaction, that owner counts as
 * if everything was used up now, in all of the partition.
 */
export const keepRates = (
  schema: Statement,
  tenantId: string,
  released: ReadonlyArray<ReleasedPartition>,
  rateMarks: ReadonlyArray<{ readonly destinationId: string; readonly mark: number }>
) => {
  const [own, destinations] = [tenant(tenantId), uuidArray(rateMarks.map(({ destinationId }) => destinationId))]
  return statement`
WITH ${fenced(schema, tenantId, released, "NO KEY UPDATE")},
${freeDestinations(schema, tenantId, statement`unnest(${ofAnyLength(destinations)})`)},
kept AS (
  UPDATE ${schema}.delivery_destinations AS d SET rate_mark = r.mark
  FROM unnest(${destinations}, ${float8Array(rateMarks.map(({ mark }) => mark))}) AS r (destination_id, mark)
  WHERE d.tenant_id = ${own} AND d.destination_id = r.destination_id
    AND d.destination_id = ANY (ARRAY(SELECT d.destination_id FROM destinations AS d WHERE ${partitionOfRow} IN (SELECT f.partition FROM fence AS f)))
)
UPDATE ${schema}.delivery_partitions AS p SET others_until = r.others_until
FROM (
  SELECT g.partition, CASE WHEN g.partition IN (SELECT ${partitionOfRow} FROM busy AS d) THEN floor(extract(epoch FROM now()) * 1000) ELSE g.others_until END AS others_until
  FROM unnest(${int4Array(released.map(({ partition }) => partition))}, ${float8Array(released.map(({ othersUntil = null }) => othersUntil))}) AS g (partition, others_until)
) AS r
WHERE p.tenant_id = ${own} AND p.partition = r.partition AND p.partition = ANY (ARRAY(SELECT f.partition FROM fence AS f)) AND r.others_until IS NOT NULL`
}
