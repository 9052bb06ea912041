/** SQL statements for the parts of a shipment that all areas share: its lock, its accounts, and who may see it. */

/**
 * Locks each shipment's row until the transaction ends, in a common order, and allocates its event numbers.
 * The counter of a new row is highest given + needed; of an existing row the greater of that and its own + needed. Returns for each
 * shipment whether its accounts or its carrier changed, and whether the writer may write to it.
 *
 * $8: the DOT and MC numbers of a writer that is one of several carriers. A shipment that it writes first belongs to its carrier; only
 * writers without numbers can change the carrier of an existing shipment.
 */
export const lockShipments = (schema: string) => `
INSERT INTO ${schema}.shipments AS s (tenant_id, shipment_id, accounts, last_sequence, allocated, carrier, written, reassigned)
SELECT $1, r.shipment_id, r.accounts::text[], r.highest + r.needed, r.needed, r.carrier::text[], r.written, r.accounts IS NOT NULL OR r.carrier IS NOT NULL
FROM unnest($2::text[], $3::int4[], $4::int8[], $5::text[], $6::text[], $7::bool[]) AS r (shipment_id, needed, highest, accounts, carrier, written)
ORDER BY r.shipment_id COLLATE "C"
ON CONFLICT (tenant_id, shipment_id) DO UPDATE
SET last_sequence = greatest(EXCLUDED.last_sequence, s.last_sequence + EXCLUDED.allocated),
    allocated = EXCLUDED.allocated,
    reassigned = (EXCLUDED.accounts IS NOT NULL AND EXCLUDED.accounts IS DISTINCT FROM s.accounts)
      OR (EXCLUDED.carrier IS NOT NULL AND ($8::text[] IS NULL OR NOT s.written) AND EXCLUDED.carrier IS DISTINCT FROM s.carrier),
    accounts = coalesce(EXCLUDED.accounts, s.accounts),
    carrier = CASE WHEN $8::text[] IS NULL OR NOT s.written THEN coalesce(EXCLUDED.carrier, s.carrier) ELSE s.carrier END,
    written = s.written OR EXCLUDED.written
RETURNING shipment_id, last_sequence - allocated + 1 AS first, reassigned, $8::text[] IS NULL OR coalesce(carrier && $8::text[], false) AS own`

/** Accounts and carriers find shipments by this table. The accounts of a call replace the stored ones. */
export const replaceAccounts = (schema: string) => `
WITH given AS MATERIALIZED (
  SELECT s.shipment_id, coalesce(s.accounts, '{}') || coalesce(s.carrier, '{}') AS accounts
  FROM ${schema}.shipments AS s
  WHERE s.tenant_id = $1 AND s.shipment_id = ANY ($2::text[])
),
dropped AS (
  DELETE FROM ${schema}.shipment_accounts AS sa
  USING given AS g
  WHERE sa.tenant_id = $1 AND sa.shipment_id = g.shipment_id AND sa.shipment_id = ANY ($2::text[]) AND sa.account <> ALL (g.accounts)
)
INSERT INTO ${schema}.shipment_accounts (tenant_id, account, shipment_id, pickup_at)
SELECT $1, account, g.shipment_id, s.pickup_at
FROM given AS g
LEFT JOIN LATERAL (
  SELECT s.pickup_at FROM ${schema}.shipment_statuses AS s
  WHERE s.tenant_id = $1 AND s.shipment_id = g.shipment_id AND s.covered
  OFFSET 0
) AS s ON true
CROSS JOIN unnest(g.accounts) AS account
ON CONFLICT DO NOTHING`

/** The carriers of shipments that have been written. */
export const carriersOf = (schema: string) => `
SELECT s.shipment_id, coalesce(s.carrier, '{}') AS carrier
FROM ${schema}.shipments AS s
WHERE s.tenant_id = $1 AND s.shipment_id = ANY ($2::text[]) AND s.written`

/** Whether a shipment belongs to a carrier with one of these numbers. One lookup by the full key for each number. */
export const ofCarrier = (schema: string, shipmentId: string, carrier: string) =>
  `EXISTS (SELECT FROM ${schema}.shipment_accounts AS own WHERE own.tenant_id = $1 AND own.account = ANY (${carrier}::text[]) AND own.shipment_id = ${shipmentId})`

/** The shipments of a relation `ships (shipment_id)` that have a status. */
export const withStatus = (schema: string) => `
SELECT s.shipment_id FROM ships AS s
CROSS JOIN LATERAL (
  SELECT 1 FROM ${schema}.shipment_statuses AS t WHERE t.tenant_id = $1 AND t.shipment_id = s.shipment_id
  OFFSET 0
) AS status`

/** Clients that may see the shipments in a relation `ships (shipment_id)`, as `viewers (shipment_id, client)`. One lookup per shipment, account and carrier number. */
export const viewers = (schema: string) => `
viewers AS MATERIALIZED (
  SELECT s.shipment_id, ca.client
  FROM ships AS s
  CROSS JOIN LATERAL (
    SELECT unnest(sh.accounts || sh.carrier) AS account
    FROM ${schema}.shipments AS sh
    WHERE sh.tenant_id = $1 AND sh.shipment_id = s.shipment_id
    OFFSET 0
  ) AS a
  CROSS JOIN LATERAL (
    SELECT ca.client FROM ${schema}.client_accounts AS ca
    WHERE ca.tenant_id = $1 AND ca.account = a.account
    OFFSET 0
  ) AS ca
  UNION
  SELECT s.shipment_id, c.client
  FROM ships AS s CROSS JOIN ${schema}.clients AS c
  WHERE c.tenant_id = $1 AND c.sees_all
)`

/** Whether a client has one of a shipment's accounts: one lookup for the shipment, one for each of its accounts and carrier numbers. */
export const accountsSee = (schema: string, client: string, shipmentId: string): string => `EXISTS (
    SELECT FROM (
      SELECT unnest(sh.accounts || sh.carrier) AS account FROM ${schema}.shipments AS sh WHERE sh.tenant_id = $1 AND sh.shipment_id = ${shipmentId}
      OFFSET 0
    ) AS a
    CROSS JOIN LATERAL (
      SELECT FROM ${schema}.client_accounts AS ca WHERE ca.tenant_id = $1 AND ca.account = a.account AND ca.client = ${client}
      OFFSET 0
    ) AS ca
    OFFSET 0
  )`

/** Whether a client may see a shipment with its current credentials: one lookup for a client that sees everything, otherwise also those of `accountsSee`. */
export const clientSees = (schema: string, client: string, shipmentId: string): string => `(
  EXISTS (SELECT FROM ${schema}.clients AS c WHERE c.tenant_id = $1 AND c.client = ${client} AND c.sees_all OFFSET 0)
  OR ${accountsSee(schema, client, shipmentId)}
)`
