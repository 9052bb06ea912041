/** The stored bytes that entries and deliveries refer to. */
import type { PayloadSource } from "./PayloadSource.ts"

/** What the columns of a source are read from. */
export const payloadRows = (schema: string, { rows, table }: PayloadSource): string => rows === undefined ? `${schema}.${table}` : `(${rows(schema)})`

/** `order_id`, `traceparent` and `body` of what `ref` refers to in the source `source`: the same number means something else in another. */
export const payloadOf = (schema: string, sources: ReadonlyArray<PayloadSource>, source: string, ref: string): string =>
  sources.map((each) => `(
    SELECT x.${each.orderId} AS order_id, x.traceparent, x.body
    FROM ${payloadRows(schema, each)} AS x
    WHERE x.tenant_id = $1 AND x.${each.ref} = ${ref} AND ${source} = '${each.source}'
    OFFSET 0
  )`).join(" UNION ALL ")

/** The body of a delivery `d (refs)` of a destination `l (source)`: the bytes in order, joined by commas. */
export const bodyOf = (schema: string, sources: ReadonlyArray<PayloadSource>): string => `
  SELECT string_agg(x.body, ',' ORDER BY r.place) AS body
  FROM unnest(d.refs) WITH ORDINALITY AS r (ref, place)
  CROSS JOIN LATERAL (${payloadOf(schema, sources, "l.source", "r.ref")}) AS x`
