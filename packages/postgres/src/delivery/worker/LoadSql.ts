/** The statement that loads destinations for their owner. */
import { type DestinationSigning, waitingPerDestination } from "@waybill/core/delivery"
import { bool, byteaArray, float8, float8Array, int4, int8, only, optional, row, text, timestamptzArray, uuidArray } from "../../client/SqlRow.ts"
import { ofAnyLength, raw, type Statement, statement, tenant } from "../../client/SqlStatement.ts"
import { settingsColumns, settingsRow } from "../DestinationSql.ts"
import { destinationOf, goesFirst, unfinishedKeys } from "../LookupSql.ts"
import { endsOfVersions, secretUsableBy } from "../secrets/SecretSql.ts"

export const loadedRow = row({
  ...settingsColumns,
  envelopeOpen: text,
  envelopeClose: text,
  signing: only<DestinationSigning>(text),
  version: int8,
  isActive: bool,
  breakerFailures: int4,
  breakerOpenUntil: optional(float8),
  rateMark: optional(float8),
  sealed: optional(byteaArray),
  signsUntil: optional(timestamptzArray),
  bodySignature: optional(bool),
  secretRefused: optional(bool),
  waitingIds: uuidArray,
  waitingDue: float8Array,
  holdsBack: optional(bool),
  now: float8
})

/** One delivery more than returned, to see whether there are more. */
export const load = (schema: Statement, tenantId: string, destinationIds: ReadonlyArray<string>) => {
  const own = tenant(tenantId)
  return statement`
SELECT ${settingsRow.columns("l")}, l.envelope_open, l.envelope_close, l.signing, l.version, l.state = 'active' AS is_active,
       l.breaker_failures, l.breaker_open_until, l.rate_mark, s.sealed, s.signs_until, s.body_signature, s.refused AS secret_refused,
       w.ids AS waiting_ids, w.due AS waiting_due, h.holds_back, (extract(epoch FROM now()) * 1000)::float8 AS now
FROM unnest(${ofAnyLength(uuidArray(destinationIds))}) AS g (destination_id)
${destinationOf(schema, tenantId, "g.destination_id", raw("AND l.state <> 'closed'"))}
LEFT JOIN LATERAL (
  SELECT s.sealed, ${endsOfVersions(raw("s."))}, s.body_signature, ${raw(secretUsableBy(schema.text, "s", "l.client"))} IS NOT TRUE AS refused
  FROM ${schema}.secrets AS s
  WHERE s.tenant_id = ${own} AND s.hmac_secret_id = l.hmac_secret_id AND cardinality(s.sealed) > 0
  LIMIT 1
) AS s ON true
CROSS JOIN LATERAL (${unfinishedKeys(schema, tenantId, "l.destination_id")}) AS h
CROSS JOIN LATERAL (
  SELECT coalesce(array_agg(w.delivery_id), '{}') AS ids, coalesce(array_agg(w.due_at), '{}') AS due
  FROM (${waiting(schema, tenantId)}) AS w
) AS w`
}

/** The deliveries of a destination `l` that wait and go first, by due time: in the order of their index, then of their ids. */
const waiting = (schema: Statement, tenantId: string) => statement`
  SELECT w.delivery_id, floor(extract(epoch FROM w.due_at) * 1000)::float8 AS due_at
  FROM (
    SELECT u.delivery_id, u.due_at FROM ${schema}.deliveries AS u
    WHERE u.tenant_id = ${tenant(tenantId)} AND u.destination_id = l.destination_id AND u.state IN ('sending', 'waiting') AND u.due_at IS NOT NULL
      AND ${raw(goesFirst("h.keys"))}
    ORDER BY u.due_at
    LIMIT ${raw(String(waitingPerDestination + 1))}
  ) AS w
  ORDER BY w.due_at, w.delivery_id`
