/** Destinations, entries and deliveries on Postgres: what operators see and do. */
import {
  type AttemptRecord,
  type CarryingDelivery,
  type DeliveryDetail,
  type DeliveryQuery,
  type DeliveryQueue,
  type DeliveryState,
  type DeliverySummary,
  type EntryKeys,
  type DestinationOverview,
  type DestinationQuery,
  StorageError,
  type WhenDead
} from "@waybill/core"
import { Effect, Option } from "effect"
import { type BulkValue, textArray, timestamptzArray } from "../client/PgBulk.ts"
import type { PgClient } from "../client/PgClient.ts"
import { statusOf } from "../shared/DestinationStatus.ts"
import { carryingDeliveries, destinationOverviews, listDeliveries, newestBound, summaryColumns } from "./DeliveryLogSql.ts"
import { joinedBody, lockDestination } from "./DeliveryQueueSql.ts"
import type { PayloadSource } from "./PayloadSource.ts"

type Log = Pick<DeliveryQueue["Service"], "destinations" | "list" | "carrying" | "find" | "retry" | "recover" | "prune" | "depth">

/** Waiting entries that are counted one by one; beyond it the planner's estimate serves. */
const countedEntries = 50_000

/** Settled deliveries removed in one statement. */
const pruneSize = 2000

export const makeDeliveryLog = (sql: PgClient, schema: string, sources: ReadonlyArray<PayloadSource>): Log => {
  const destinations = (tenantId: string, { after, client, limit, state }: DestinationQuery) =>
    sql.bulk(destinationOverviews(schema, client !== undefined), [
      tenantId,
      textArray(state === undefined ? openStates : [state]),
      after ?? firstIdAt(0),
      limit,
      ...(client === undefined ? [] : [client])
    ]).pipe(
      Effect.map((rows) => ({ now: (rows[0]?.[13] as number | undefined) ?? 0, destinations: rows.map(overviewOf) })),
      StorageError.refail("DeliveryQueue.destinations")
    )

  const list = (tenantId: string, query: DeliveryQuery) => {
    const values: Array<BulkValue> = [tenantId, query.limit]
    const when = (value: BulkValue | undefined, condition: (parameter: string) => string) =>
      value === undefined ? "" : ` AND ${condition(`$${values.push(value)}`)}`
    const { since } = query
    const where = [
      when(query.destinationId, (destinationId) => `d.destination_id = ${destinationId}::uuid`),
      when(query.after, (after) => `d.delivery_id ${query.order === "newest" ? "<" : ">"} ${after}::uuid`),
      // by the id, where an index ends the search; by the instant, which decides
      when(since === undefined ? undefined : firstIdAt(since), (first) => `d.delivery_id >= ${first}::uuid`),
      when(since === undefined ? undefined : timestamptzArray([since]), (instant) => `d.sent_at >= (${instant}::timestamptz[])[1]`)
    ].join("")
    const client = query.client === undefined ? undefined : `$${values.push(query.client)}`
    const direction = query.order === "newest" ? "DESC" : "ASC"
    return sql.bulk(listDeliveries(schema, { direction, client, isOfDestination: query.destinationId !== undefined, state: query.state, where }), values).pipe(
      Effect.map((rows) => rows.map(summaryOf)),
      StorageError.refail("DeliveryQueue.list")
    )
  }

  const carrying = Effect.fnUntraced(function*(
    tenantId: string,
    keys: ReadonlyArray<EntryKeys>,
    { limit, newest }: { readonly newest: number; readonly limit: number }
  ) {
    const pairs = keys.flatMap(({ keys, sources }) => sources.flatMap((source) => keys.map((key) => ({ source, key }))))
    const [last, older] = yield* sql.bulk(newestBound(schema), [tenantId, newest])
    const rows = yield* sql.bulk(carryingDeliveries(schema), [
      tenantId,
      textArray(pairs.map((each) => each.source)),
      textArray(pairs.map((each) => each.key)),
      older === undefined ? firstIdAt(0) : last![0] as string,
      limit
    ])
    return {
      deliveries: rows.map((row): CarryingDelivery => ({ ...summaryOf(row), source: row[9] as string })),
      since: older === undefined ? undefined : last![1] as number
    }
  }, StorageError.refail("DeliveryQueue.carrying"))

  const find = (tenantId: string, deliveryId: string) =>
    sql.bulk(
      `SELECT ${summaryColumns}, l.endpoint_url, l.envelope_open, l.envelope_close,
              (${joinedBody(schema, sources)}) AS body
       FROM ${schema}.deliveries AS d
       JOIN ${schema}.delivery_destinations AS l ON l.tenant_id = d.tenant_id AND l.destination_id = d.destination_id
       WHERE d.tenant_id = $1 AND d.delivery_id = $2::uuid`,
      [tenantId, deliveryId]
    ).pipe(
      Effect.map(([row]) => row === undefined ? Option.none<DeliveryDetail>() : Option.some(detailOf(row))),
      StorageError.refail("DeliveryQueue.find")
    )

  /** Whether all of `d.refs` still have their bytes. What was delivered does not keep them: sent again without them it would hold up its shipments. */
  const isWhole = `(
           SELECT count(x.found) = cardinality(d.refs)
           FROM unnest(d.refs) AS r (ref)
           CROSS JOIN LATERAL (
             SELECT l.source FROM ${schema}.delivery_destinations AS l WHERE l.tenant_id = $1 AND l.destination_id = d.destination_id
             OFFSET 0
           ) AS o
           LEFT JOIN LATERAL (${sources.map((each) => `(
             SELECT 1 AS found FROM ${schema}.${each.table} AS x WHERE x.tenant_id = $1 AND x.${each.ref} = r.ref AND o.source = '${each.source}'
             OFFSET 0
           )`).join(" UNION ALL ")}) AS x ON true
         )`

  const retry = (tenantId: string, deliveryId: string) =>
    sql.bulk(
      `WITH destination AS (
         SELECT l.destination_id FROM ${schema}.deliveries AS d
         JOIN ${schema}.delivery_destinations AS l ON l.tenant_id = $1 AND l.destination_id = d.destination_id AND l.state <> 'closed'
         WHERE d.tenant_id = $1 AND d.delivery_id = $2::uuid
         FOR UPDATE OF l
       ),
       before AS (
         -- after the destination, in everybody's order
         SELECT state, destination_id FROM ${schema}.deliveries
         WHERE tenant_id = $1 AND delivery_id = $2::uuid AND (SELECT count(*) FROM destination) >= 0
         FOR UPDATE
       ),
       again AS (
         UPDATE ${schema}.deliveries AS d
         SET state = 'waiting', due_at = now(), settled_at = NULL, tries = 0
         FROM before AS b
         JOIN destination AS l ON l.destination_id = b.destination_id
         WHERE d.tenant_id = $1 AND d.delivery_id = $2::uuid AND b.state IN ('waiting', 'dead', 'delivered', 'dismissed')
           AND ${isWhole}
         RETURNING d.destination_id
       ),
       told AS (
         INSERT INTO ${schema}.delivery_arrivals (tenant_id, destination_id) SELECT $1::text, destination_id FROM again
       )
       SELECT CASE WHEN EXISTS (SELECT FROM again) OR b.state = 'sending' THEN b.state ELSE 'cancelled' END AS state
       FROM before AS b`,
      [tenantId, deliveryId]
    ).pipe(
      Effect.map(([row]) => row === undefined ? Option.none<DeliveryState>() : Option.some(row[0] as DeliveryState)),
      StorageError.refail("DeliveryQueue.retry")
    )

  /** A statement of its own, after the lock: it sees what died in a statement that the lock had to wait for. */
  const recover = (tenantId: string, destinationId: string, since: number) =>
    sql.withTransaction(Effect.andThen(sql.bulk(lockDestination(schema), [tenantId, destinationId], ["uuid"]), sql.bulk(
      `WITH destination AS (
         SELECT destination_id FROM ${schema}.delivery_destinations WHERE tenant_id = $1 AND destination_id = $2::uuid AND state <> 'closed'
       ),
       again AS (
         UPDATE ${schema}.deliveries AS d
         SET state = 'waiting', due_at = now(), settled_at = NULL, tries = 0
         FROM destination AS l
         WHERE d.tenant_id = $1 AND d.destination_id = l.destination_id AND d.state = 'dead' AND d.settled_at >= ($3::timestamptz[])[1]
         RETURNING d.destination_id
       ),
       told AS (
         INSERT INTO ${schema}.delivery_arrivals (tenant_id, destination_id) SELECT DISTINCT $1::text, destination_id FROM again
       )
       SELECT count(*) AS recovered FROM again`,
      [tenantId, destinationId, timestamptzArray([since])]
    ))).pipe(Effect.map(([row]) => row![0] as number), StorageError.refail("DeliveryQueue.recover"))

  const prune = (tenantId: string, settledBefore: number) =>
    sql.bulk(
      `WITH old AS (
         SELECT delivery_id FROM ${schema}.deliveries
         WHERE tenant_id = $1 AND delivery_id < $2::uuid AND state IN ('delivered', 'dead', 'dismissed', 'cancelled')
           AND settled_at < ($3::timestamptz[])[1]
         ORDER BY delivery_id
         LIMIT ${pruneSize}
         FOR UPDATE SKIP LOCKED
       ),
       gone AS (
         DELETE FROM ${schema}.deliveries AS d USING old AS o
         WHERE d.tenant_id = $1 AND d.delivery_id = o.delivery_id
         RETURNING 1
       )
       SELECT count(*) AS pruned FROM gone`,
      [tenantId, firstIdAt(settledBefore), timestamptzArray([settledBefore])]
    ).pipe(Effect.map(([row]) => row![0] as number), StorageError.refail("DeliveryQueue.prune"))

  const depth = sql.bulk(
    `SELECT (SELECT CASE WHEN n < ${countedEntries} THEN n
                         ELSE greatest(n, (SELECT reltuples FROM pg_class WHERE oid = '${schema}.delivery_entries'::regclass)) END
             FROM (SELECT count(*) AS n FROM (SELECT FROM ${schema}.delivery_entries LIMIT ${countedEntries}) AS counted) AS few)::int8 AS entries,
            (SELECT count(*) FROM ${schema}.deliveries WHERE state IN ('sending', 'waiting')) AS unsettled,
            (SELECT count(*) FROM ${schema}.deliveries WHERE state = 'dead') AS dead,
            (SELECT coalesce(extract(epoch FROM now() - min(due_at)) * 1000, 0)::float8 FROM ${schema}.delivery_destinations
             WHERE state = 'active' AND due_at <= now()) AS lag`,
    []
  ).pipe(
    Effect.map(([row]) => {
      const [waitingEntries, unsettled, dead, lagMillis] = row as [number, number, number, number]
      return { waitingEntries, unsettled, dead, lagMillis }
    }),
    StorageError.refail("DeliveryQueue.depth")
  )

  return { destinations, list, carrying, find, retry, recover, prune, depth }
}

/** The smallest id that can have been given out at an instant: UUID version 7 begins with its milliseconds. */
const firstIdAt = (millis: number): string => {
  const hex = Math.max(0, Math.min(millis, 2 ** 48 - 1)).toString(16).padStart(12, "0")
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

type Row = ReadonlyArray<unknown>

const openStates = ["active", "paused", "inactive"]

const overviewOf = (row: Row): DestinationOverview => {
  const [destinationId, source, endpointUrl, state, reason, since] = row as [string, string, string, string, string | null, number]
  const [failures, openUntil, dueAt, waiting, inFlight, dead, last] = row.slice(6) as [number, number | null, number | null, number, number, number, string | null]
  const [pausedBy, client, hmacSecretId, whenDead, held, rateMark, dropped] =
    row.slice(14) as [string | null, string, string, WhenDead, boolean, number | null, number]
  const [maxAttempts, initialBackoffSeconds, maxBackoffSeconds, batchMaxSize, rateLimitPerMinute] = row[21] as [number, number, number, number, number]
  return {
    destinationId,
    client,
    source,
    endpointUrl,
    hmacSecretId,
    policy: { maxAttempts, initialBackoffSeconds, maxBackoffSeconds, batchMaxSize, rateLimitPerMinute },
    whenDead,
    status: statusOf([state, reason, since, pausedBy]),
    held,
    breaker: { failures, openUntil: openUntil ?? undefined },
    rateMark: rateMark ?? undefined,
    waiting,
    oldestWaitingAt: (row[22] as number | null) ?? undefined,
    inFlight,
    dead,
    dropped,
    dueAt: dueAt ?? undefined,
    lastAttempt: last === null ? undefined : JSON.parse(last) as AttemptRecord
  }
}

const summaryOf = ([deliveryId, destinationId, state, sentAt, settledAt, dueAt, events, attempts, reason]: Row): DeliverySummary => ({
  deliveryId: deliveryId as string,
  destinationId: destinationId as string,
  state: state as DeliveryState,
  createdAt: sentAt as number,
  settledAt: (settledAt as number | null) ?? undefined,
  dueAt: (dueAt as number | null) ?? undefined,
  events: events as number,
  attempts: (attempts as ReadonlyArray<string>).map((record): AttemptRecord => JSON.parse(record)),
  reason: (reason as string | null) ?? undefined
})

const detailOf = (row: Row): DeliveryDetail => {
  const summary = summaryOf(row)
  return {
    ...summary,
    sentAt: summary.createdAt,
    endpointUrl: row[9] as string,
    envelope: { open: row[10] as string, close: row[11] as string },
    payloads: row[12] === null ? [] : [row[12] as Uint8Array]
  }
}
