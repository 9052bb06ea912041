/** SQL statements that drop entries. They run after `lockFence`, in its transaction. */
import { purgeStep, withdrawnReason } from "@waybill/core/delivery"
import { type Decoded, int8, int8Array, row, text, textArray, uuid, uuidArray } from "../../client/SqlRow.ts"
import { nothing, ofAnyLength, raw, type Statement, statement, tenant } from "../../client/SqlStatement.ts"
import { holdsUnsendable, mayBeSent } from "../DeliveryGateSql.ts"
import { cancelRetries } from "../DestinationSql.ts"
import { countDrops, recordDrops } from "../DropRecordsSql.ts"
import { deliveryIn, destinationOf } from "../LookupSql.ts"
import type { PayloadSource } from "../PayloadSource.ts"
import { payloadRows } from "../PayloadSql.ts"

const step = raw(String(purgeStep))

export const goneRow = row({ destinationId: uuid, ref: int8 })

/**
 * Entries of a closed destination, up to a step, which are not counted as dropped; and what a takeover made wait in it while it was closed. A publisher whose transaction
 * was open for long may have queued entries for one that is removed already.
 */
export const dropClosed = (schema: Statement, tenantId: string, closed: string) => {
  const [own, destinationId] = [tenant(tenantId), uuid(closed)]
  const entries = statement`FROM ${schema}.delivery_entries AS e
  WHERE e.tenant_id = ${own} AND e.destination_id = (SELECT l.destination_id FROM closed AS l)`
  return statement`
WITH closed AS MATERIALIZED (
  SELECT ${destinationId} AS destination_id
  WHERE NOT EXISTS (SELECT FROM ${schema}.delivery_destinations AS l WHERE l.tenant_id = ${own} AND l.destination_id = ${destinationId} AND l.state <> 'closed')
),
${cancelRetries(schema, tenantId, raw("(SELECT l.destination_id FROM closed AS l)"), nothing)},
stretch AS MATERIALIZED (
  SELECT e.key, e.sequence, e.ref ${entries} ORDER BY e.key, e.sequence, e.ref LIMIT ${step}
),
last AS MATERIALIZED (
  SELECT s.key, s.sequence, s.ref FROM stretch AS s ORDER BY s.key DESC, s.sequence DESC, s.ref DESC LIMIT 1
)
DELETE ${entries} AND (e.key, e.sequence, e.ref) <= (SELECT l.key, l.sequence, l.ref FROM last AS l)
RETURNING e.destination_id, e.ref`
}

export const unseenRow = row({ key: text, sequence: int8, ref: int8 })

/** Entries of some keys that the destination's client may no longer see, or that are no longer stored, up to a step. Both are checked again: entries that may be sent again stay. */
export const unseenEntries = (schema: Statement, sources: ReadonlyArray<PayloadSource>, tenantId: string, destinationId: string, keys: ReadonlyArray<string>) => {
  const own = tenant(tenantId)
  return statement`
SELECT e.key, e.sequence, e.ref
FROM (
  SELECT l.destination_id, l.source, l.client FROM ${schema}.delivery_destinations AS l
  WHERE l.tenant_id = ${own} AND l.destination_id = ${uuid(destinationId)} AND l.state <> 'closed'
  LIMIT 1
) AS l
CROSS JOIN LATERAL (
  SELECT e.key, e.sequence, e.ref FROM ${schema}.delivery_entries AS e
  WHERE e.tenant_id = ${own} AND e.destination_id = l.destination_id AND e.key = ANY (${textArray(keys)})
  OFFSET 0
) AS e
WHERE ${raw(mayBeSent(schema.text, sources, { source: "l.source", client: "l.client", entry: "e" }))} IS FALSE
LIMIT ${step}`
}

/** Entries are named by their keys, not by where they are: Citus refuses that in a statement that records them, too. */
export const dropUnseen = (schema: Statement, tenantId: string, destinationId: string, unseen: ReadonlyArray<Decoded<typeof unseenRow>>) => {
  const [own, destination] = [tenant(tenantId), uuid(destinationId)]
  const [keys, sequences] = [textArray(unseen.map(({ key }) => key)), int8Array(unseen.map(({ sequence }) => sequence))]
  return statement`
WITH named AS MATERIALIZED (
  SELECT n.key, n.sequence, n.ref, 1 AS one
  FROM unnest(${ofAnyLength(keys)}, ${sequences}, ${int8Array(unseen.map(({ ref }) => ref))}) AS n (key, sequence, ref)
),
gone AS (
  DELETE FROM ${schema}.delivery_entries AS e USING named AS n
  WHERE e.tenant_id = ${own} AND e.destination_id = ${destination} AND e.key = n.key AND e.sequence = n.sequence AND e.ref = n.ref AND n.one = 1
  RETURNING e.destination_id, e.key, e.sequence, e.ref
),
recorded AS (${recordDrops(schema, tenantId, "not_visible")}),
removed AS (
  SELECT g.destination_id, count(*) AS entries FROM gone AS g GROUP BY g.destination_id
),
counted AS (${countDrops(schema, tenantId)})
SELECT g.destination_id, g.ref FROM gone AS g`
}

/**
 * Cancels waiting deliveries of these destinations with entries that their client may no longer see, or that are no longer stored, and lets their entries wait again:
 * those that may not be sent are dropped. Their places are still free, for a delivery that waits holds back what comes behind it.
 */
export const withdraw = (schema: Statement, sources: ReadonlyArray<PayloadSource>, tenantId: string, destinations: ReadonlyArray<string>, deliveryIds: ReadonlyArray<string>) => {
  const own = tenant(tenantId)
  return statement`
WITH named AS MATERIALIZED (
  SELECT d.delivery_id, d.keys, d.refs, l.source, l.client
  FROM unnest(${uuidArray(deliveryIds)}) AS g (delivery_id)
  ${deliveryIn(schema, tenantId, "waiting")}
  ${destinationOf(schema, tenantId, "d.destination_id", raw("AND l.state <> 'closed'"))}
  WHERE d.destination_id = ANY (${uuidArray(destinations)})
),
unsendable AS MATERIALIZED (
  SELECT n.delivery_id FROM named AS n WHERE ${raw(holdsUnsendable(schema.text, sources, "n", "n"))}
),
ended AS (
  UPDATE ${schema}.deliveries AS d SET state = 'cancelled', due_at = NULL, settled_at = now(), reason = ${text(withdrawnReason)}
  WHERE d.tenant_id = ${own} AND d.delivery_id = ANY (ARRAY(SELECT u.delivery_id FROM unsendable AS u)) AND coalesce(d.state, '') = 'waiting'
  RETURNING d.destination_id, d.refs
)
INSERT INTO ${schema}.delivery_entries (tenant_id, destination_id, key, sequence, ref, size)
SELECT ${own}, e.destination_id, p.key, p.sequence, r.ref, p.size
FROM ended AS e
${destinationOf(schema, tenantId, "e.destination_id")}
CROSS JOIN LATERAL unnest(e.refs) AS r (ref)
CROSS JOIN LATERAL (${raw(placesOf(schema.text, sources))}) AS p
ON CONFLICT DO NOTHING`
}

/** Key, place and size of what `r.ref` refers to in the source of the destination `l`. */
const placesOf = (schema: string, sources: ReadonlyArray<PayloadSource>): string =>
  sources.map((each) => `(
    SELECT x.${each.key} AS key, x.${each.sequence} AS sequence, octet_length(x.body) AS size
    FROM ${payloadRows(schema, each)} AS x
    WHERE x.tenant_id = $1 AND x.${each.ref} = r.ref AND l.source = '${each.source}'
    LIMIT 1
  )`).join(" UNION ALL ")
