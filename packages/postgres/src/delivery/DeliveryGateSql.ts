/** Who may be sent what: the conditions that takes and drops apply. */
import { seenByAccounts } from "../shared/ShipmentSql.ts"
import type { PayloadSource } from "./PayloadSource.ts"
import { payloadOf } from "./PayloadSql.ts"

/** Whether the tenant may send. A tenant that is not registered may. */
export const tenantIsActive = (schema: string): string =>
  `(SELECT coalesce(bool_and(t.state = 'active'), true) FROM ${schema}.tenants AS t WHERE t.tenant_id = $1)`

/** Whether a client has access now, by any of its credential sources. */
export const clientIsLive = (schema: string, client: string): string => `EXISTS (
    SELECT FROM ${schema}.clients AS c WHERE c.tenant_id = $1 AND c.client = ${client} AND c.live_until > now()
    OFFSET 0
  )`

/** One row for a client: whether anything is sent to it now, and whether it sees all of its tenant's shipments. */
export const accessOf = (schema: string, client: string): string => `
  SELECT ${tenantIsActive(schema)} AND coalesce(bool_or(c.live_until > now()), false) AS admitted,
         coalesce(bool_or(c.sees_all), false) AS sees_all
  FROM ${schema}.clients AS c WHERE c.tenant_id = $1 AND c.client = ${client}
  OFFSET 0`

/** What holds for each source, by the source of a row; sources with the same condition share it. */
const bySource = (source: string, sources: ReadonlyArray<PayloadSource>, condition: (each: PayloadSource) => string): string => {
  const names = new Map<string, Array<string>>()
  for (const each of sources) names.set(condition(each), [...names.get(condition(each)) ?? [], `'${each.source}'`])
  return `CASE ${[...names].map(([holds, of]) => `WHEN ${source} IN (${of.join(", ")}) THEN ${holds}`).join("\n    ")} END`
}

/**
 * Whether the client of a destination may see an entry `q (key, ref)` of it: null where the entry before has the same key, and so the same
 * answer, where its client sees everything, and where `unseenKeys` has the answer. The rows of a destination come with the entries of a key in a row,
 * `opens` says which is the first.
 */
export const seenOnce = (schema: string, sources: ReadonlyArray<PayloadSource>, destination: string): string =>
  bySource(`${destination}.source`, sources, ({ judged, visible }) => {
    const condition = visible(schema, `${destination}.client`, "q.key", "q.ref")
    if (judged === "one by one") return condition
    return `CASE WHEN q.opens AND NOT ${destination}.sees_all ${judged === "by shipment" ? `AND ${destination}.accounts IS NULL ` : ""}THEN ${condition} END`
  })

/** Those of an array of shipments that the client of a destination may not see, as `keys`: null where there are none, and where it is answered by `seenOnce`. */
export const unseenKeys = (schema: string, sources: ReadonlyArray<PayloadSource>, destination: string, keys: string): string => {
  const names = sources.flatMap(({ judged, source }) => judged === "by shipment" ? [`'${source}'`] : [])
  if (names.length === 0) return "SELECT NULL::text[] AS keys"
  return `
  SELECT array_agg(k.key) AS keys
  FROM (
    SELECT unnest(${keys}) AS key
    EXCEPT
    ${seenByAccounts(schema, `${destination}.accounts`, keys)}
  ) AS k
  WHERE ${destination}.source IN (${names.join(", ")}) AND NOT ${destination}.sees_all AND ${destination}.accounts IS NOT NULL`
}

/** Whether a client may see one entry, given by its key and ref, and its bytes are stored: rows that somebody removed by hand hold up nothing else. */
export const mayBeSent = (schema: string, sources: ReadonlyArray<PayloadSource>, of: { readonly source: string; readonly client: string; readonly entry: string }): string =>
  `(${bySource(of.source, sources, (each) => each.visible(schema, of.client, `${of.entry}.key`, `${of.entry}.ref`))}
    AND EXISTS (SELECT FROM (${payloadOf(schema, sources, of.source, `${of.entry}.ref`)}) AS x WHERE x.body IS NOT NULL OFFSET 0))`

/** Whether a frozen delivery `delivery (keys, refs)` of `destination (source, client)` holds something that its client may no longer see, or that is no longer stored. */
export const holdsUnsendable = (schema: string, sources: ReadonlyArray<PayloadSource>, destination: string, delivery: string): string =>
  `(${bySource(`${destination}.source`, sources, (each) => `EXISTS (
      SELECT FROM unnest(${delivery}.${each.judged === "one by one" ? "refs" : "keys"}) AS r (${each.judged === "one by one" ? "ref" : "key"})
      WHERE NOT ${each.visible(schema, `${destination}.client`, each.judged === "one by one" ? "''" : "r.key", each.judged === "one by one" ? "r.ref" : "0")}
      OFFSET 0
    )`)}
    OR (
      SELECT count(x.body) FROM unnest(${delivery}.refs) AS r (ref) CROSS JOIN LATERAL (${payloadOf(schema, sources, `${destination}.source`, "r.ref")}) AS x
    ) < cardinality(${delivery}.refs))`
