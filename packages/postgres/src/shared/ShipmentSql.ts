/**
 * SQL statements for the parts of a shipment that all areas share: its lock, its accounts, and who may see it. Their values may be SQL,
 * because functions of the database have the same statements.
 */
import { bool, int8, row, text, textArray } from "../client/SqlRow.ts"
import { type Expression, raw, type Statement, statement } from "../client/SqlStatement.ts"

/** One element for each shipment, but for the tenant and the writer. */
export interface ShipmentClaims {
  readonly tenant: Expression
  readonly shipmentIds: Expression
  /** How many event numbers to allocate, and the highest that a sender gave itself. */
  readonly needed: Expression
  readonly highest: Expression
  /** Array literals; null keeps the stored ones. */
  readonly accounts: Expression
  readonly carriers: Expression
  readonly written: Expression
  /**
   * The DOT and MC numbers of a writer that is one of several carriers; else null. A shipment that it writes first belongs to its
   * carrier; only writers without numbers can change the carrier of an existing shipment.
   */
  readonly writer: Expression
  /** Whether there is no such writer. No parameter, because Citus gives `DO UPDATE` none. */
  readonly anyCarrier: Statement
}

export const lockedRow = row({ shipmentId: text, first: int8, reassigned: bool, invoiced: bool, own: bool })

/**
 * Locks each shipment's row until the transaction ends, in a common order, and allocates its event numbers.
 * The counter of a new row is highest given + needed; of an existing row the greater of that and its own + needed. Returns for each
 * shipment whether its accounts or its carrier changed, whether these may decide who sees an invoice, and whether the writer may write to it.
 */
export const lockShipments = (
  schema: Statement,
  { accounts, anyCarrier, carriers, highest, needed, shipmentIds, tenant, writer, written }: ShipmentClaims
) => statement`
WITH locked AS (
INSERT INTO ${schema}.shipments AS s (tenant_id, shipment_id, accounts, last_sequence, allocated, carrier, written, reassigned)
SELECT ${tenant}, r.shipment_id, r.accounts::text[], r.highest + r.needed, r.needed, r.carrier::text[], r.written, r.accounts IS NOT NULL OR r.carrier IS NOT NULL
FROM unnest(${shipmentIds}, ${needed}, ${highest}, ${accounts}, ${carriers}, ${written}) AS r (shipment_id, needed, highest, accounts, carrier, written)
ORDER BY r.shipment_id COLLATE "C"
ON CONFLICT (tenant_id, shipment_id) DO UPDATE
SET last_sequence = greatest(EXCLUDED.last_sequence, s.last_sequence + EXCLUDED.allocated),
    allocated = EXCLUDED.allocated,
    reassigned = (EXCLUDED.accounts IS NOT NULL AND EXCLUDED.accounts IS DISTINCT FROM s.accounts)
      OR (EXCLUDED.carrier IS NOT NULL AND (${anyCarrier} OR NOT s.written) AND EXCLUDED.carrier IS DISTINCT FROM s.carrier),
    accounts = coalesce(EXCLUDED.accounts, s.accounts),
    carrier = CASE WHEN ${anyCarrier} OR NOT s.written THEN coalesce(EXCLUDED.carrier, s.carrier) ELSE s.carrier END,
    written = s.written OR EXCLUDED.written
RETURNING shipment_id, last_sequence - allocated + 1 AS first, reassigned, invoiced, carrier
)
SELECT l.shipment_id, l.first, l.reassigned, l.invoiced, ${anyCarrier} OR coalesce(l.carrier && ${writer}, false) AS own FROM locked AS l`

/** Accounts and carriers find shipments by this table, once they were named. The accounts of a call replace the stored ones. */
export const replaceAccounts = (schema: Statement, tenant: Expression, shipmentIds: Expression) => statement`
WITH given AS MATERIALIZED (
  SELECT s.shipment_id, s.accounts || s.carrier AS accounts
  FROM ${schema}.shipments AS s
  WHERE s.tenant_id = ${tenant} AND s.shipment_id = ANY (${shipmentIds})
),
dropped AS (
  DELETE FROM ${schema}.shipment_accounts AS sa
  USING given AS g
  WHERE sa.tenant_id = ${tenant} AND sa.shipment_id = g.shipment_id AND sa.shipment_id = ANY (${shipmentIds}) AND sa.account <> ALL (g.accounts)
)
INSERT INTO ${schema}.shipment_accounts (tenant_id, account, shipment_id, pickup_at)
SELECT ${tenant}, account, g.shipment_id, s.pickup_at
FROM given AS g
LEFT JOIN LATERAL (
  SELECT s.pickup_at FROM ${schema}.shipment_statuses AS s
  WHERE s.tenant_id = ${tenant} AND s.shipment_id = g.shipment_id AND s.covered
  OFFSET 0
) AS s ON true
CROSS JOIN unnest(g.accounts) AS account
ON CONFLICT DO NOTHING`

export const carrierRow = row({ shipmentId: text, carrier: textArray })

/** The carriers of shipments that have been written. */
export const carriersOf = (schema: Statement, tenant: Expression, shipmentIds: Expression) => statement`
SELECT s.shipment_id, coalesce(s.carrier, '{}') AS carrier
FROM ${schema}.shipments AS s
WHERE s.tenant_id = ${tenant} AND s.shipment_id = ANY (${shipmentIds}) AND s.written`

/** Whether a shipment belongs to a carrier with one of these numbers. One lookup by the full key for each number. */
export const ofCarrier = (schema: Statement, tenant: Expression, shipmentId: Expression, carrier: Expression) =>
  statement`EXISTS (SELECT FROM ${schema}.shipment_accounts AS own WHERE own.tenant_id = ${tenant} AND own.account = ANY (${carrier}) AND own.shipment_id = ${shipmentId})`

/** The shipments of a relation `ships (shipment_id)` that have a status. */
export const withStatus = (schema: Statement, tenant: Expression) => statement`
SELECT t.shipment_id FROM ${schema}.shipment_statuses AS t
WHERE t.tenant_id = ${tenant} AND t.shipment_id = ANY (ARRAY(SELECT shipment_id FROM ships))`

/** Clients that may see the shipments in a relation `ships (shipment_id)`, as `viewers (shipment_id, client)`. One lookup per shipment, account and carrier number. */
export const viewers = (schema: Statement, tenant: Expression) => statement`
viewers AS MATERIALIZED (
  SELECT a.shipment_id, ca.client
  FROM (
    SELECT sh.shipment_id, unnest(sh.accounts || sh.carrier) AS account
    FROM ${schema}.shipments AS sh
    WHERE sh.tenant_id = ${tenant} AND sh.shipment_id = ANY (ARRAY(SELECT shipment_id FROM ships))
    OFFSET 0
  ) AS a
  CROSS JOIN LATERAL (
    SELECT ca.client FROM ${schema}.client_accounts AS ca
    WHERE ca.tenant_id = ${tenant} AND ca.account = a.account
    OFFSET 0
  ) AS ca
  UNION
  SELECT s.shipment_id, c.client
  FROM ships AS s CROSS JOIN ${schema}.clients AS c
  WHERE c.tenant_id = ${tenant} AND c.sees_all
)`

/** Whether a client has one of a shipment's accounts: one lookup for the shipment, one for each of its accounts and carrier numbers. */
const accountsSee = (schema: Statement, tenant: Expression, client: Expression, shipmentId: Expression) => statement`EXISTS (
    SELECT FROM (
      SELECT unnest(sh.accounts || sh.carrier) AS account FROM ${schema}.shipments AS sh WHERE sh.tenant_id = ${tenant} AND sh.shipment_id = ${shipmentId}
      OFFSET 0
    ) AS a
    CROSS JOIN LATERAL (
      SELECT FROM ${schema}.client_accounts AS ca WHERE ca.tenant_id = ${tenant} AND ca.account = a.account AND ca.client = ${client}
      OFFSET 0
    ) AS ca
    OFFSET 0
  )`

/** Whether a client may see a shipment with its current credentials: one lookup for a client that sees everything, otherwise also those of `accountsSee`. */
export const clientSees = (schema: Statement, tenant: Expression, client: Expression, shipmentId: Expression) => statement`(
  EXISTS (SELECT FROM ${schema}.clients AS c WHERE c.tenant_id = ${tenant} AND c.client = ${client} AND c.sees_all OFFSET 0)
  OR ${accountsSee(schema, tenant, client, shipmentId)}
)`

/** A client with more accounts is looked up by the accounts of each shipment: a scan for each account would cost more, most of all before Postgres 17. */
const fewAccounts = 2

/** The accounts of a client; null if they are not few. Like the conditions below, a text of the delivery queue's, with the tenant as `$1`. */
export const fewAccountsOf = (schema: string, client: string): string => `
  SELECT CASE WHEN count(*) <= ${fewAccounts} THEN coalesce(array_agg(ca.account), '{}') END AS accounts
  FROM (SELECT ca.account FROM ${schema}.client_accounts AS ca WHERE ca.tenant_id = $1 AND ca.client = ${client} ORDER BY ca.origin LIMIT ${fewAccounts + 1}) AS ca`

/**
 * Those of an array of shipments that a client with few accounts sees by them: one scan of `shipment_accounts` for each account, where its shipments are side by side.
 */
export const seenByAccounts = (schema: string, accounts: string, shipmentIds: string): string => `
  SELECT sa.shipment_id
  FROM unnest(${accounts}) AS a (account)
  CROSS JOIN LATERAL (
    SELECT sa.shipment_id FROM ${schema}.shipment_accounts AS sa
    WHERE sa.tenant_id = $1 AND sa.account = a.account AND sa.shipment_id = ANY (${shipmentIds})
    OFFSET 0
  ) AS sa`

export const clientSeesText = (schema: string, client: string, shipmentId: string): string =>
  clientSees(raw(schema), raw("$1"), raw(client), raw(shipmentId)).text
