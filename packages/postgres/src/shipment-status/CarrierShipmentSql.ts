/**
 * SQL statements for shipments on an account that belong to a carrier. Both may have any number of others, so the statements step from one list to the
 * other, each by an index: the next shipment of the account, the carrier's first from there on, and so forth. The shorter list decides how many steps there are.
 */
import type { RangeRequest } from "@waybill/core/shipment-status"
import { int8, textArray, timestamptz } from "../client/SqlRow.ts"
import { raw, type Statement, statement, tenant } from "../client/SqlStatement.ts"

/** `after`: the columns of the place where the search begins. `condition`: of rows `a`. */
interface Search {
  readonly accounts: ReadonlyArray<string>
  readonly columns: string
  readonly after: string
  readonly condition: string
}

/**
 * The first row of accounts or numbers. It is compared and sorted with its account, so that no index but the one that begins with it will do: by the
 * index of shipments, those of all accounts would be read up to the next of this one.
 */
const first = (schema: Statement, tenantId: string, { accounts, after, columns, condition }: Search) => statement`(
    SELECT a.* FROM unnest(${textArray(accounts)}) AS g (account) CROSS JOIN LATERAL (
      SELECT a.account, ${raw(columns)} FROM ${schema}.shipment_accounts AS a
      WHERE a.tenant_id = ${tenant(tenantId)} AND (a.account, ${raw(columns)}) >= (g.account, ${raw(after)}) AND ${raw(condition)}
      ORDER BY a.account, ${raw(columns)} LIMIT 1
    ) AS a
    WHERE a.account = g.account
    ORDER BY ${raw(columns)} LIMIT 1
  )`

export const accountKnownTo = (schema: Statement, tenantId: string, account: string, carrier: ReadonlyArray<string>) => {
  const from = (accounts: ReadonlyArray<string>, after: string) => first(schema, tenantId, { accounts, columns: "a.shipment_id", after, condition: "true" })
  return statement`
WITH RECURSIVE step AS (
  SELECT ''::text COLLATE "C" AS shipment_id, false AS found
  UNION ALL
  SELECT own.shipment_id, own.shipment_id = named.shipment_id
  FROM step AS p
  CROSS JOIN LATERAL ${from([account], "p.shipment_id")} AS named
  CROSS JOIN LATERAL ${from(carrier, "named.shipment_id")} AS own
  WHERE NOT p.found
)
SELECT EXISTS (SELECT FROM step WHERE found) AS known`
}

export type PickupRange = Pick<RangeRequest, "account" | "from" | "limit" | "to">

/** `picked (pickup_at, shipment_id)`, of WITH RECURSIVE: the first of a range. All accounts of a shipment have its pickup time. */
export const pickedUpOfCarrier = (schema: Statement, tenantId: string, { account, from, limit, to }: PickupRange, carrier: ReadonlyArray<string>) => {
  const firstFrom = (accounts: ReadonlyArray<string>, place: string, condition: string) =>
    first(schema, tenantId, { accounts, columns: "a.pickup_at, a.shipment_id", after: `${place}.pickup_at, ${place}.shipment_id`, condition: `a.pickup_at IS NOT NULL ${condition}` })
  return statement`step AS (
  SELECT ${timestamptz(from)} AS pickup_at, ''::text COLLATE "C" AS shipment_id, false AS found, 0 AS before
  UNION ALL
  SELECT own.pickup_at, own.shipment_id, own.shipment_id = named.shipment_id, p.before + p.found::int
  FROM step AS p
  CROSS JOIN LATERAL ${firstFrom([account], "p", "AND NOT (p.found AND a.shipment_id = p.shipment_id)")} AS named
  CROSS JOIN LATERAL ${firstFrom(carrier, "named", "")} AS own
  WHERE p.before + p.found::int < ${int8(limit)} AND own.pickup_at <= ${timestamptz(to)}
),
picked AS (
  SELECT s.pickup_at, s.shipment_id FROM step AS s WHERE s.found
)`
}
