/** The take: consumes signals, freezes waiting entries as deliveries in flight, and returns their bytes. */
import type { TakeRequest } from "@waybill/core"
import { bool, bytea, float8, int4, int4Array, int8, optional, row, text, textArray, uuid, uuidArray } from "../client/SqlRow.ts"
import { nothing, raw, type Statement, statement } from "../client/SqlStatement.ts"
import { frozenBatches, newFlights, sentAgain } from "./FreezeSql.ts"
import { fenced } from "./PartitionSql.ts"
import type { PayloadSource } from "./PayloadSource.ts"
import { bodyOf } from "./PayloadSql.ts"
import { foundDestinations, heardSignals, keysInFlight, pickedEntries, type Taking, takingOf, wantedDestinations } from "./PickSql.ts"

const columns = {
  /** What the row tells of. */
  kind: int4,
  now: optional(float8),
  owned: optional(int4Array),
  signalled: optional(uuidArray),
  signalKeys: optional(textArray),
  more: optional(bool),
  destinationId: optional(uuid),
  version: optional(int8),
  sends: optional(bool),
  lastKey: optional(text),
  blocked: optional(bool),
  unseenKeys: optional(textArray),
  ordinal: optional(int4),
  deliveryId: optional(uuid),
  sentAt: optional(float8),
  attempt: optional(int4),
  tries: optional(int4),
  events: optional(int4),
  traceparent: optional(text),
  body: optional(bytea)
}

export const takenRow = row(columns)

export const kinds = { take: 0, destination: 1, fresh: 2, again: 3, unseen: 4 } as const

const names = Object.keys(columns) as ReadonlyArray<keyof typeof columns>

/** A SELECT list with all columns of the answer; those that a kind of rows does not have are NULL. */
const answer = (kind: keyof typeof kinds, given: Partial<Record<keyof typeof columns, string>>): Statement =>
  raw(names.map((name) => {
    const { hints: [type] } = columns[name]
    return `${name === "kind" ? kinds[kind] : given[name] ?? `NULL::${type}`} AS ${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`
  }).join(", "))

const epoch = (instant: string) => `floor(extract(epoch FROM ${instant}) * 1000)::float8`

const whole = { now: epoch("now()"), owned: "ARRAY(SELECT f.partition FROM fence AS f)" }

const takeAnswer = statement`SELECT ${answer("take", whole)}`

const heardAnswer = statement`
SELECT ${answer("take", { ...whole, signalled: "coalesce(h.destination_ids, '{}')", signalKeys: "coalesce(h.keys, '{}')", more: "(SELECT count(*) FROM signals) > h.count" })}
FROM (SELECT array_agg(h.destination_id) AS destination_ids, array_agg(h.key) AS keys, count(*) AS count FROM heard AS h) AS h`

const destinationAnswer = answer("destination", {
  destinationId: "g.destination_id",
  version: "g.version",
  sends: "g.sends",
  lastKey: "g.last_key",
  more: "g.more",
  blocked: "g.torn OR coalesce(g.next_key = g.key, false) OR coalesce(g.blocked, false)",
  unseenKeys: "g.unseen_keys"
})

const freshAnswer = answer("fresh", {
  destinationId: "f.destination_id",
  ordinal: "f.ordinal",
  lastKey: "f.last_key",
  events: "cardinality(f.refs)",
  traceparent: "f.traceparent",
  body: "f.body"
})

const againAnswer = answer("again", {
  destinationId: "d.destination_id",
  deliveryId: "d.delivery_id",
  sentAt: epoch("d.sent_at"),
  attempt: "d.attempt",
  tries: "d.tries",
  lastKey: "(SELECT max(k.key) FROM unnest(d.keys) AS k (key))",
  events: "cardinality(d.refs)",
  traceparent: "d.traceparent",
  body: "x.body"
})

const unseenAnswer = answer("unseen", { destinationId: "r.destination_id", deliveryId: "r.delivery_id" })

/**
 * One statement, so that nothing can come between: it consumes signals, takes entries out of destinations, writes one flight for each partition, and
 * answers the bytes. It waits for the disk; what it answers may be sent at once.
 */
export const take = (schema: Statement, sources: ReadonlyArray<PayloadSource>, request: TakeRequest): Statement => {
  const taking = takingOf(schema, sources, request)
  return statement`
WITH ${fenced(schema, request.tenantId, request.owned)}${taking.hears ? statement`,${heardSignals(taking)}` : nothing}${taking.anything ? entriesTaken(taking) : nothing}
${taking.hears ? heardAnswer : takeAnswer}
${taking.anything ? statement`UNION ALL ${destinationAnswers(taking)}
UNION ALL
SELECT ${freshAnswer} FROM fresh AS f` : nothing}
${taking.again ? againAnswers(taking) : nothing}`
}

const entriesTaken = (taking: Taking) => statement`,${wantedDestinations(taking)},
${taking.flown ? statement`${keysInFlight(taking)},` : nothing}${foundDestinations(taking)},
${taking.again ? statement`${sentAgain(taking)},` : nothing}${pickedEntries(taking)},${frozenBatches(taking)},${newFlights(taking)}`

/** A destination whose held keys were passed over is looked at again: how far, and whether any of them was there. */
const destinationAnswers = ({ lookAt, schema, tenantId }: Taking) => statement`
SELECT ${destinationAnswer}
FROM (
  SELECT g.*, e.blocked, l.last_key,
         CASE
           WHEN g.next_key > l.last_key THEN true
           WHEN g.next_key IS NULL AND g.batches > 0 AND NOT g.torn AND coalesce(e.looked, g.looked) < ${lookAt}::int4 OR NOT g.sends THEN false
           ELSE EXISTS (
             SELECT FROM ${schema}.delivery_entries AS e
             WHERE e.tenant_id = ${tenantId} AND e.destination_id = g.destination_id AND e.key > coalesce(l.last_key, '')
             OFFSET 0
           )
         END AS more
  FROM (
    SELECT p.place, p.destination_id, p.version, p.sends, p.after, p.batches,
           max(p.key) FILTER (WHERE p.batch < p.batches) AS key, min(p.key) FILTER (WHERE p.batch >= p.batches) AS next_key,
           count(p.key) AS looked, coalesce(bool_or((p.torn OR p.followed) AND p.batch < p.batches), false) AS torn,
           array_agg(p.key) FILTER (WHERE p.seen IS FALSE) AS unseen_keys, (array_agg(p.held) FILTER (WHERE p.held IS NOT NULL))[1] AS held
    FROM picked AS p
    GROUP BY p.place, p.destination_id, p.version, p.sends, p.after, p.batches
  ) AS g
  LEFT JOIN LATERAL (
    SELECT count(*) AS looked, max(e.key) AS key, bool_or(g.held ? e.key AND (g.next_key IS NULL OR e.key <= g.key)) AS blocked
    FROM (
      SELECT e.key FROM ${schema}.delivery_entries AS e
      WHERE e.tenant_id = ${tenantId} AND e.destination_id = g.destination_id AND e.key > coalesce(g.after, '')
      ORDER BY e.key, e.sequence, e.ref
      LIMIT CASE WHEN g.held IS NOT NULL AND g.batches > 0 AND g.sends THEN ${lookAt}::int4 ELSE 0 END
    ) AS e
    HAVING count(*) > 0
  ) AS e ON true
  CROSS JOIN LATERAL (SELECT coalesce(CASE WHEN g.next_key IS NULL THEN e.key END, g.key, g.after) AS last_key) AS l
) AS g`

const againAnswers = ({ schema, sources, tenantId }: Taking) => statement`
UNION ALL
SELECT ${againAnswer} FROM again AS d
CROSS JOIN LATERAL (
  SELECT l.source FROM ${schema}.delivery_destinations AS l WHERE l.tenant_id = ${tenantId} AND l.destination_id = d.destination_id
  LIMIT 1
) AS l
CROSS JOIN LATERAL (${raw(bodyOf(schema.text, sources))}) AS x
UNION ALL
SELECT ${unseenAnswer} FROM repeated AS r WHERE r.unseen`
