/** Who may be sent what: the conditions that takes and drops apply. */
import type { PayloadSource } from "./PayloadSource.ts"

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
 * answer, or where its client sees everything. The rows of a destination come with the entries of a key in a row, `opens` says which is the first.
 */
export const seenOnce = (schema: string, sources: ReadonlyArray<PayloadSource>, destination: string): string =>
  bySource(`${destination}.source`, sources, (each) =>
    each.judged === "by key"
      ? `CASE WHEN q.opens AND NOT ${destination}.sees_all THEN ${each.visibleByAccounts!(schema, `${destination}.client`, "q.key", `${destination}.accounts`)} END`
      : each.visible(schema, `${destination}.client`, "q.key", "q.ref"))

/** Whether a client may see one entry, given by its key and ref. */
export const mayBeSent = (schema: string, sources: ReadonlyArray<PayloadSource>, of: { readonly source: string; readonly client: string; readonly entry: string }): string =>
  bySource(of.source, sources, (each) => each.visible(schema, of.client, `${of.entry}.key`, `${of.entry}.ref`))

/** Whether a frozen delivery `delivery (keys, refs)` of `destination (source, client)` holds something that its client may no longer see. */
export const holdsUnseen = (schema: string, sources: ReadonlyArray<PayloadSource>, destination: string, delivery: string): string =>
  bySource(`${destination}.source`, sources, (each) => `EXISTS (
      SELECT FROM unnest(${delivery}.${each.judged === "by key" ? "keys" : "refs"}) AS r (${each.judged === "by key" ? "key" : "ref"})
      WHERE NOT ${each.visible(schema, `${destination}.client`, each.judged === "by key" ? "r.key" : "''", each.judged === "by key" ? "0" : "r.ref")}
      OFFSET 0
    )`)
