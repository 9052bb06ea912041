/** SQL statements for destinations, as subscriptions see them. A change raises the version and leaves a signal for the owner. */
import type { DestinationSettings, DestinationState, PausedBy, WhenDead } from "@waybill/core/delivery"
import { type Decoded, int4, int8, only, optional, row, text, timestamptz, uuid } from "../client/SqlRow.ts"
import { nothing, raw, type Statement, statement, type StatementPart, tenant } from "../client/SqlStatement.ts"
import { signalChanged } from "./DeliveryEntrySql.ts"

export const countColumn = int8

export const settingsColumns = {
  destinationId: uuid,
  client: text,
  source: text,
  endpointUrl: text,
  hmacSecretId: text,
  maxAttempts: int4,
  initialBackoffSeconds: int4,
  maxBackoffSeconds: int4,
  batchMaxSize: int4,
  rateLimitPerMinute: int4,
  whenDead: only<WhenDead>(text)
}

export const settingsRow = row(settingsColumns)

/** A row with `settingsColumns`, and its policy in one member. */
export const withPolicy = <Read extends Decoded<typeof settingsRow>>({ batchMaxSize, initialBackoffSeconds, maxAttempts, maxBackoffSeconds, rateLimitPerMinute, ...rest }: Read) =>
  ({ ...rest, policy: { maxAttempts, initialBackoffSeconds, maxBackoffSeconds, batchMaxSize, rateLimitPerMinute } })

/** `name (destination_id)`, part of a WITH RECURSIVE: the destinations with such rows `r` in their order, one step in an index for each. */
export const destinationsWith = (name: string, rows: Statement, after: StatementPart = beforeAll) => statement`${raw(name)} AS (
  (SELECT r.destination_id FROM ${rows} AND r.destination_id > ${after} ORDER BY r.destination_id LIMIT 1)
  UNION ALL
  SELECT n.destination_id FROM ${raw(name)} AS p
  CROSS JOIN LATERAL (SELECT r.destination_id FROM ${rows} AND r.destination_id > p.destination_id ORDER BY r.destination_id LIMIT 1) AS n
)`

const beforeAll = raw("'00000000-0000-0000-0000-000000000000'::uuid")

export const statusRow = row({ state: only<DestinationState>(text), reason: optional(text), since: timestamptz, pausedBy: optional(only<PausedBy>(text)) })

/** Returns how many destinations of the source the client has. */
export const openDestination = (schema: Statement, tenantId: string, destination: DestinationSettings) => {
  const { envelope, policy } = destination
  const [client, source, state] = [text(destination.client), text(destination.source), text(destination.state)]
  return statement`
WITH destination AS (
  INSERT INTO ${schema}.delivery_destinations
    (tenant_id, destination_id, client, source, endpoint_url, hmac_secret_id, max_attempts, initial_backoff_seconds, max_backoff_seconds,
     batch_max_size, rate_limit_per_minute, envelope_open, envelope_close, signing, when_dead, state, paused_by)
  VALUES (${tenant(tenantId)}, ${uuid(destination.destinationId)}, ${client}, ${source}, ${destination.endpointUrl}, ${destination.hmacSecretId},
    ${policy.maxAttempts}, ${policy.initialBackoffSeconds}, ${policy.maxBackoffSeconds}, ${policy.batchMaxSize}, ${policy.rateLimitPerMinute},
    ${envelope.open}, ${envelope.close}, ${destination.signing}, ${destination.whenDead}, ${state}, CASE WHEN ${state} = 'paused' THEN 'client' END)
)
INSERT INTO ${schema}.delivery_destination_counts AS c (tenant_id, client, source, live)
VALUES (${tenant(tenantId)}, ${client}, ${source}, 1)
ON CONFLICT (tenant_id, client, source) DO UPDATE SET live = c.live + 1
RETURNING live`
}

export const countDestinations = (schema: Statement, tenantId: string) => statement`
SELECT coalesce(sum(live), 0)::int8 AS live FROM ${schema}.delivery_destination_counts WHERE tenant_id = ${tenant(tenantId)}`

/** The tenant's own row of the counts has no client and counts nothing: it is the lock of calls that are near the tenant's quota. */
export const lockDestinationCounts = (schema: Statement, tenantId: string) => statement`
INSERT INTO ${schema}.delivery_destination_counts AS c (tenant_id, client, source, live)
VALUES (${tenant(tenantId)}, '', '', 0)
ON CONFLICT (tenant_id, client, source) DO UPDATE SET live = 0
RETURNING live`

/** A changed endpoint closes the breaker, which counted failures of the other one. */
export const changeDestination = (schema: Statement, tenantId: string, { destinationId, endpointUrl, hmacSecretId, policy, state }: DestinationSettings) => {
  const [url, next] = [text(endpointUrl), text(state)]
  return statement`
WITH changed AS (
  UPDATE ${schema}.delivery_destinations
  SET endpoint_url = ${url}, hmac_secret_id = ${hmacSecretId}, max_attempts = ${policy.maxAttempts},
      initial_backoff_seconds = ${policy.initialBackoffSeconds}, max_backoff_seconds = ${policy.maxBackoffSeconds},
      batch_max_size = ${policy.batchMaxSize}, rate_limit_per_minute = ${policy.rateLimitPerMinute},
      state_since = CASE WHEN state = ${next} THEN state_since ELSE clock.now END,
      state_reason = CASE WHEN state = ${next} THEN state_reason END,
      paused_by = CASE WHEN state = ${next} THEN paused_by WHEN ${next} = 'paused' THEN 'client' END,
      resumes_as = CASE WHEN state = ${next} THEN resumes_as END,
      breaker_failures = CASE WHEN endpoint_url = ${url} THEN breaker_failures ELSE 0 END,
      breaker_open_until = CASE WHEN endpoint_url = ${url} THEN breaker_open_until END,
      state = ${next}, version = version + 1
  FROM (SELECT now() AS now) AS clock
  WHERE tenant_id = ${tenant(tenantId)} AND destination_id = ${uuid(destinationId)} AND state <> 'closed'
  RETURNING destination_id
)
${signalChanged(schema, tenant(tenantId))}`
}

/** One signal for each open destination of the client, or of the tenant, in any state, because its owner may have found it without access. */
export const accessRestored = (schema: Statement, tenantId: string, client: string | undefined) => statement`
WITH changed AS (
  SELECT l.destination_id FROM ${schema}.delivery_destinations AS l
  WHERE l.tenant_id = ${tenant(tenantId)} AND l.state <> 'closed' ${client === undefined ? nothing : statement`AND l.client = ${client}`}
  ORDER BY l.destination_id
)
${signalChanged(schema, tenant(tenantId))}`

/**
 * A statement of its own before those that change several rows of a destination: operators' calls take turns, and the next statement sees
 * what the transactions that it waited for wrote. Outcomes are written to deliveries first and to the destination second, so no statement
 * behind this lock waits for a delivery that is `sending`.
 */
export const lockDestination = (schema: Statement, tenantId: string, destinationId: string) => lockDestinations(schema, tenantId, statement`= ${uuid(destinationId)}`)

/** The same for background work, unless another transaction has locked it: a host may keep its transaction open for long. */
export const lockFreeDestination = (schema: Statement, tenantId: string, destinationId: string) => statement`${lockDestination(schema, tenantId, destinationId)} SKIP LOCKED`

/** Locks those whose id fulfills a condition, in one order for all who do. */
export const lockDestinations = (schema: Statement, tenantId: string, condition: Statement) => statement`
SELECT l.destination_id FROM ${schema}.delivery_destinations AS l
WHERE l.tenant_id = ${tenant(tenantId)} AND l.destination_id ${condition}
ORDER BY l.destination_id
FOR NO KEY UPDATE`

/**
 * `cancelled (entries)`: cancels deliveries of a destination that wait for a retry, behind its lock. One that is locked nevertheless is in a take at this moment. A lock that waits
 * for the take would stay until the end of a host's transaction, although the delivery is then in flight, and nobody could take it over.
 */
export const cancelRetries = (schema: Statement, tenantId: string, destinationId: StatementPart, limit: Statement) => statement`retried AS MATERIALIZED (
  SELECT d.delivery_id FROM ${schema}.deliveries AS d
  WHERE d.tenant_id = ${tenant(tenantId)} AND d.destination_id = ${destinationId} AND d.state = 'waiting' ${limit}
  FOR UPDATE SKIP LOCKED
),
cancelled AS (
  UPDATE ${schema}.deliveries AS d
  SET state = 'cancelled', due_at = NULL, settled_at = now()
  WHERE d.tenant_id = ${tenant(tenantId)} AND d.delivery_id = ANY (ARRAY(SELECT delivery_id FROM retried))
  RETURNING cardinality(d.refs) AS entries
)`

/**
 * The closed row stays for operators who read its deliveries, until these are pruned. The owner removes the entries, also those that publishers still add. Records of
 * dropped entries explain open destinations only. They are written behind the destination's lock, so none is added.
 */
export const closeDestination = (schema: Statement, tenantId: string, closed: string) => {
  const [own, destinationId] = [tenant(tenantId), uuid(closed)]
  return statement`
WITH changed AS (
  UPDATE ${schema}.delivery_destinations
  SET state = 'closed', state_since = now(), version = version + 1
  WHERE tenant_id = ${own} AND destination_id = ${destinationId} AND state <> 'closed'
  RETURNING destination_id, client, source
),
uncounted AS (
  UPDATE ${schema}.delivery_destination_counts AS c SET live = c.live - 1
  WHERE c.tenant_id = ${own} AND c.client = (SELECT client FROM changed) AND c.source = (SELECT source FROM changed)
),
forgotten AS (
  DELETE FROM ${schema}.delivery_drops AS d WHERE d.tenant_id = ${own} AND d.destination_id = ${destinationId}
),
${cancelRetries(schema, tenantId, destinationId, nothing)}
${signalChanged(schema, tenant(tenantId))}`
}

export const destinationStatus = (schema: Statement, tenantId: string, destinationId: string) => statement`
SELECT state, state_reason, state_since, paused_by FROM ${schema}.delivery_destinations
WHERE tenant_id = ${tenant(tenantId)} AND destination_id = ${uuid(destinationId)} AND state <> 'closed'`
