/** SQL statements for delivery statistics. Rows are written in the order of their keys, so that two workers cannot deadlock. */
import { type Counted, hourMillis, type MinuteCounts, minuteMillis, type StatisticsRange, totals, type WaitingSample } from "@waybill/core/delivery"
import { float8, int8, int8Array, optional, row, text, textArray, timestamptz, timestamptzArray, uuid, uuidArray } from "../../client/SqlRow.ts"
import { raw, type Statement, statement, tenant } from "../../client/SqlStatement.ts"
import { given } from "../../shared/GivenRows.ts"
import { pruneRows } from "../../shared/PruneRows.ts"

/** Rows that one statement removes. */
const pruneSize = raw("5000")

type Resolution = StatisticsRange["resolution"]

const tables: Readonly<Record<Resolution, string>> = { minutes: "delivery_minutes", hours: "delivery_hours" }
const widths: Readonly<Record<Resolution, Statement>> = { minutes: raw(`${minuteMillis / 1000}`), hours: raw(`${hourMillis / 1000}`) }

/** By seconds since 1970: hours of a time zone may begin at half past. */
const startOf = (at: Statement, width: Statement): Statement => statement`to_timestamp(floor(extract(epoch FROM ${at}) / ${width}) * ${width})`

/** In the rows of destinations and of the tenant's totals. */
const noClient = ""

const clientOf = ({ client = noClient }: Counted): string => client

const insertCounts = (schema: Statement, tenantId: string, resolution: Resolution) => statement`
INSERT INTO ${schema}.${raw(tables[resolution])} AS s (tenant_id, client, destination_id, at, deliveries, failures, latency_millis, max_latency_millis)
SELECT ${tenant(tenantId)}, a.client, a.destination_id, ${startOf(raw("a.at"), widths[resolution])} AS start,
       sum(a.deliveries)::int8, sum(a.failures)::int8, sum(a.latency_millis)::int8, max(a.max_latency_millis)
FROM added AS a GROUP BY a.client, a.destination_id, start ORDER BY a.client, a.destination_id, start
ON CONFLICT (tenant_id, client, destination_id, at) DO UPDATE SET
  deliveries = s.deliveries + EXCLUDED.deliveries, failures = s.failures + EXCLUDED.failures,
  latency_millis = s.latency_millis + EXCLUDED.latency_millis, max_latency_millis = greatest(s.max_latency_millis, EXCLUDED.max_latency_millis)`

const countColumns = {
  destinationId: uuidArray, at: timestamptzArray, deliveries: int8Array, failures: int8Array, latencyMillis: int8Array, maxLatencyMillis: int8Array
}

export const addCounts = (schema: Statement, tenantId: string, counts: ReadonlyArray<MinuteCounts>) => statement`
WITH added AS MATERIALIZED (
  SELECT * FROM ${given("a", counts, { client: textArray(counts.map(clientOf)), ...countColumns })}
),
minutes AS (${insertCounts(schema, tenantId, "minutes")})
${insertCounts(schema, tenantId, "hours")}`

const insertSamples = (schema: Statement, tenantId: string, resolution: Resolution, at: Statement) => statement`
INSERT INTO ${schema}.${raw(tables[resolution])} AS s (tenant_id, client, destination_id, at, waiting)
SELECT ${tenant(tenantId)}, a.client, a.destination_id, ${startOf(at, widths[resolution])}, a.waiting FROM added AS a ORDER BY a.client, a.destination_id
ON CONFLICT (tenant_id, client, destination_id, at) DO UPDATE SET waiting = greatest(s.waiting, EXCLUDED.waiting)`

export const addSamples = (schema: Statement, tenantId: string, at: number, samples: ReadonlyArray<WaitingSample>) => {
  const sampledAt = statement`${timestamptz(at)}`
  return statement`
WITH added AS MATERIALIZED (
  SELECT * FROM ${given("a", samples, { client: textArray(samples.map(clientOf)), destinationId: uuidArray, waiting: int8Array })}
),
minutes AS (${insertSamples(schema, tenantId, "minutes", sampledAt)})
${insertSamples(schema, tenantId, "hours", sampledAt)}`
}

export const statisticsRow = row({
  destinationId: optional(uuid),
  at: float8,
  deliveries: int8,
  failures: int8,
  latencyMillis: int8,
  maxLatencyMillis: int8,
  waiting: optional(int8)
})

/** The waiting entries of a step are the most of its samples; those of several partitions are added up. */
export const readSteps = (schema: Statement, tenantId: string, { from, of, resolution, stepMillis, to }: StatisticsRange) => {
  const own = tenant(tenantId)
  const [client, destinationIds] = "client" in of ? [of.client, totals] : [noClient, of.destinationIds]
  const steps = statement`
  SELECT s.destination_id, floor(extract(epoch FROM s.at) * 1000 / ${float8(stepMillis)}) * ${float8(stepMillis)} AS start,
         sum(s.deliveries)::int8 AS deliveries, sum(s.failures)::int8 AS failures, sum(s.latency_millis)::int8 AS latency_millis,
         max(s.max_latency_millis) AS max_latency_millis, max(s.waiting) AS waiting
  FROM ${schema}.${raw(tables[resolution])} AS s
  WHERE s.tenant_id = ${own} AND s.client = ${text(client)} AND s.destination_id = ANY (${uuidArray(destinationIds)}) AND s.at >= ${timestamptz(from)} AND s.at < ${timestamptz(to)}
  GROUP BY s.destination_id, start`
  if (!("client" in of)) return statement`SELECT t.destination_id, t.start::float8, t.deliveries, t.failures, t.latency_millis, t.max_latency_millis, t.waiting FROM (${steps}) AS t`
  return statement`
SELECT NULL::uuid AS destination_id, t.start::float8, sum(t.deliveries)::int8, sum(t.failures)::int8, sum(t.latency_millis)::int8, max(t.max_latency_millis), sum(t.waiting)::int8
FROM (${steps}) AS t GROUP BY t.start`
}

export const prune = (schema: Statement, tenantId: string, resolution: Resolution, before: number) => {
  const which = statement`at < ${timestamptz(before)} ORDER BY at LIMIT ${pruneSize}`
  return pruneRows(schema, tenantId, { table: tables[resolution], key: ["client", "destination_id", "at"], which })
}
