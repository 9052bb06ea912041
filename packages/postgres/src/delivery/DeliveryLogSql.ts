/** The statements behind what operators see of destinations and deliveries. */
import { type DeliveryState, overviewAttempts, overviewCount } from "@waybill/core"

export const summaryColumns = "d.delivery_id, d.destination_id, d.state, d.sent_at, d.settled_at, d.due_at, cardinality(d.refs) AS events, d.attempts, d.reason"

/** States by the index that finds the deliveries of a destination in them. */
export const stateGroups = {
  inFlight: "IN ('sending', 'waiting')",
  dead: "= 'dead'",
  settled: "IN ('delivered', 'cancelled', 'dismissed')"
} as const

const counted = (rows: string): string => `(SELECT count(*) FROM (SELECT ${rows} LIMIT ${overviewCount}) AS counted)`

/** The newest of a destination in these states. Those of no order are few: they are fetched first, for fear of a walk through all others. */
const newestIn = (schema: string, group: keyof typeof stateGroups): string => {
  const rows = `SELECT d.delivery_id, d.attempts FROM ${schema}.deliveries AS d
     WHERE d.tenant_id = $1 AND d.destination_id = l.destination_id AND d.state ${stateGroups[group]}`
  return `(SELECT d.delivery_id, d.attempts FROM (${rows}${group === "inFlight" ? ` LIMIT ${overviewCount}` : ""}) AS d
     ORDER BY d.delivery_id DESC LIMIT ${overviewAttempts})`
}

/**
 * $2: states, $3: after, $4: limit. What is counted is never read further than it is shown. A destination that was told of something new is
 * due now, unless somebody holds it.
 */
export const destinationOverviews = (schema: string, ofClient: boolean) => `
SELECT l.destination_id, l.source, l.endpoint_url, l.state, l.state_reason, l.state_since, l.breaker_failures, l.breaker_open_until,
       CASE
         WHEN l.state <> 'active' THEN NULL
         WHEN l.leased_until > now() THEN l.due_at
         WHEN EXISTS (SELECT FROM ${schema}.delivery_arrivals AS a WHERE a.tenant_id = $1 AND a.destination_id = l.destination_id) THEN least(l.due_at, now())
         ELSE l.due_at
       END AS due_at,
       ${counted(`FROM ${schema}.delivery_entries AS e WHERE e.tenant_id = $1 AND e.destination_id = l.destination_id`)} AS waiting,
       ${counted(`FROM ${schema}.deliveries AS d WHERE d.tenant_id = $1 AND d.destination_id = l.destination_id AND d.state ${stateGroups.inFlight}`)} AS in_flight,
       ${counted(`FROM ${schema}.deliveries AS d WHERE d.tenant_id = $1 AND d.destination_id = l.destination_id AND d.state ${stateGroups.dead}`)} AS dead,
       (SELECT d.attempts[cardinality(d.attempts)]
        FROM (${newestIn(schema, "inFlight")} UNION ALL ${newestIn(schema, "dead")} UNION ALL ${newestIn(schema, "settled")}) AS d
        WHERE cardinality(d.attempts) > 0
        ORDER BY d.delivery_id DESC
        LIMIT 1) AS last_attempt,
       (extract(epoch FROM now()) * 1000)::float8 AS now,
       l.paused_by, l.client, l.hmac_secret_id, l.when_dead, l.held, l.rate_mark, l.dropped,
       ARRAY[l.max_attempts, l.initial_backoff_seconds, l.max_backoff_seconds, l.batch_max_size, l.rate_limit_per_minute] AS policy,
       (SELECT min(e.queued_at) FROM (
          SELECT e.queued_at FROM ${schema}.delivery_entries AS e WHERE e.tenant_id = $1 AND e.destination_id = l.destination_id LIMIT ${overviewCount}
        ) AS e) AS oldest
FROM (
  SELECT l.*
  FROM unnest($2::text[]) AS s (state)
  CROSS JOIN LATERAL (
    SELECT l.* FROM ${schema}.delivery_destinations AS l
    WHERE l.tenant_id = $1 AND l.state = s.state AND l.state <> 'closed' AND l.destination_id > $3::uuid${ofClient ? " AND l.client = $5" : ""}
    ORDER BY l.destination_id
    LIMIT $4::int8
  ) AS l
  ORDER BY l.destination_id
  LIMIT $4::int8
) AS l
ORDER BY l.destination_id`

/** `where` narrows further and names no state. $2 is the limit. Of one destination each state is found by an index of its own. */
export const listDeliveries = (
  schema: string,
  { direction, client, isOfDestination, state, where }: {
    readonly direction: "ASC" | "DESC"
    /** The parameter that names a client. */
    readonly client: string | undefined
    readonly isOfDestination: boolean
    readonly state: DeliveryState | undefined
    readonly where: string
  }
): string => {
  if (client !== undefined) return listOfClient(schema, { direction, client, state, where })
  const inOrder = (rows: string) => `SELECT d.* FROM ${rows} ORDER BY d.delivery_id ${direction} LIMIT $2::int8`
  const select = (condition: string) => inOrder(`${schema}.deliveries AS d WHERE d.tenant_id = $1${condition}${where}`)
  // no index has these in order, and they are few: OFFSET 0 keeps the planner from looking for them among all others
  const unsettled = inOrder(`(SELECT d.* FROM ${schema}.deliveries AS d WHERE d.tenant_id = $1 AND d.state ${stateGroups.inFlight}${where} OFFSET 0) AS d`)
  // the state stands in the text, so that the planner can tell which index has it
  const rows = state !== undefined
    ? select(` AND d.state = '${state}'`)
    : isOfDestination
    ? [unsettled, ...[stateGroups.dead, stateGroups.settled].map((group) => select(` AND d.state ${group}`))].map((branch) => `(${branch})`).join(" UNION ALL ")
    : select("")
  return `SELECT ${summaryColumns} FROM (${rows}) AS d ORDER BY d.delivery_id ${direction} LIMIT $2::int8`
}

/** Each destination of the client gives its first ones, each state by an index of its own: what others were sent is not walked through. */
const listOfClient = (
  schema: string,
  { client, direction, state, where }: {
    readonly direction: "ASC" | "DESC"
    readonly client: string
    readonly state: DeliveryState | undefined
    readonly where: string
  }
): string => {
  const groups = state === undefined ? [stateGroups.inFlight, stateGroups.dead, stateGroups.settled] : [`= '${state}'`]
  return `
SELECT ${summaryColumns}
FROM ${schema}.delivery_destinations AS l
CROSS JOIN LATERAL (
  ${groups.map((states) => `(
    SELECT d.* FROM (
      SELECT d.* FROM ${schema}.deliveries AS d WHERE d.tenant_id = $1 AND d.destination_id = l.destination_id AND d.state ${states}${where}
      ${states === stateGroups.inFlight ? "OFFSET 0" : ""}
    ) AS d
    ORDER BY d.delivery_id ${direction}
    LIMIT $2::int8
  )`).join(" UNION ALL ")}
) AS d
WHERE l.tenant_id = $1 AND l.client = ${client} AND l.state <> 'closed'
ORDER BY d.delivery_id ${direction}
LIMIT $2::int8`
}

/** The last of the tenant's newest $2 deliveries, and, when there is an older one, that one after it. */
export const newestBound = (schema: string) => `
SELECT d.delivery_id, d.sent_at FROM ${schema}.deliveries AS d
WHERE d.tenant_id = $1
ORDER BY d.delivery_id DESC
LIMIT 2 OFFSET $2::int8 - 1`

/** $2 and $3: pairs of source and key; $4: the oldest delivery to look at; $5: limit. */
export const carryingDeliveries = (schema: string) => `
SELECT ${summaryColumns}, l.source
FROM ${schema}.deliveries AS d
JOIN ${schema}.delivery_destinations AS l ON l.tenant_id = d.tenant_id AND l.destination_id = d.destination_id
WHERE d.tenant_id = $1 AND d.delivery_id >= $4::uuid AND d.keys && $3::text[]
  AND EXISTS (SELECT FROM unnest($2::text[], $3::text[]) AS g (source, key) WHERE g.source = l.source AND g.key = ANY (d.keys))
ORDER BY d.delivery_id DESC
LIMIT $5::int8`
