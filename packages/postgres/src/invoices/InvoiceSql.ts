/** SQL statements for invoices and documents. */
import type { InvoiceViewer } from "@waybill/core"
import { type BulkValue, textArray } from "../client/PgBulk.ts"

/** Collects parameters and returns their placeholders. */
export const parameters = (tenantId: string) => {
  const values: Array<BulkValue> = [tenantId]
  return { values, add: (value: BulkValue) => `$${values.push(value)}` }
}

export type Parameters = ReturnType<typeof parameters>

/** One condition for each given filter. */
export const matching = (p: Parameters, filters: Readonly<Record<string, string | undefined>>): string =>
  Object.entries(filters).map(([column, value]) => value === undefined ? "" : `AND t.${column} = ${p.add(value)}`).join(" ")

/** The rows of one carrier, by the rule of `isOfCarrier`: a missing number is not a different number. */
export const ofCarrier = (p: Parameters, { dot, mc }: { readonly dot: string | undefined; readonly mc: string | undefined }): string => {
  if (dot === undefined || mc === undefined) return matching(p, { dot, mc })
  const [ownDot, ownMc] = [p.add(dot), p.add(mc)]
  return `AND ((t.dot = ${ownDot} AND t.mc IN (${ownMc}, '')) OR (t.mc = ${ownMc} AND t.dot = ''))`
}

/**
 * The rows of a table `t (dot, mc, shipment_id, …)` that a viewer may see. `named` selects rows that name one of the accounts
 * directly; accounts of the row's shipment see it as well.
 */
export const seenBy = (
  schema: string,
  p: Parameters,
  viewer: InvoiceViewer,
  named: (accounts: string) => string
): string => {
  switch (viewer._tag) {
    case "All":
      return ""
    case "Carrier":
      return ofCarrier(p, viewer)
    case "Accounts": {
      const accounts = `${p.add(textArray(viewer.accounts))}::text[]`
      return `AND (
        ${named(accounts)}
        OR t.shipment_id IN (
          SELECT sa.shipment_id FROM ${schema}.shipment_accounts AS sa WHERE sa.tenant_id = $1 AND sa.account = ANY (${accounts})
        )
      )`
    }
  }
}

/** Serialises writers of one invoice, whether it exists or not. $2: DOT, $3: MC, $4: uniqueID. */
export const lockInvoice = "SELECT pg_advisory_xact_lock(hashtext('waybill invoice ' || $1 || ' ' || $2 || ' ' || $3), hashtext($4))::text AS held"

export const invoiceColumns = "t.unique_id, t.dot, t.mc, t.shipment_id, t.invoice_number, t.accounts, t.body"

export const putInvoice = (schema: string) => `
WITH stored AS (
  INSERT INTO ${schema}.invoices (tenant_id, unique_id, dot, mc, shipment_id, invoice_number, accounts, body)
  VALUES ($1, $2, $3, $4, $5, $6, $7::text[], $8)
  ON CONFLICT (tenant_id, unique_id, dot, mc) DO UPDATE
  SET shipment_id = EXCLUDED.shipment_id, invoice_number = EXCLUDED.invoice_number, accounts = EXCLUDED.accounts,
      body = EXCLUDED.body, written_at = clock_timestamp()
),
dropped AS (
  DELETE FROM ${schema}.invoice_accounts
  WHERE tenant_id = $1 AND account <> ALL ($7::text[]) AND unique_id = $2 AND dot = $3 AND mc = $4
    AND account = ANY (ARRAY(
      SELECT unnest(i.accounts) FROM ${schema}.invoices AS i WHERE i.tenant_id = $1 AND i.unique_id = $2 AND i.dot = $3 AND i.mc = $4
    ))
)
INSERT INTO ${schema}.invoice_accounts (tenant_id, account, unique_id, dot, mc)
SELECT DISTINCT $1::text, account, $2::text, $3::text, $4::text FROM unnest($7::text[]) AS account
ON CONFLICT DO NOTHING`

export const removeInvoice = (schema: string) => `
WITH removed AS (
  DELETE FROM ${schema}.invoices WHERE tenant_id = $1 AND unique_id = $2 AND dot = $3 AND mc = $4
  RETURNING accounts
)
DELETE FROM ${schema}.invoice_accounts AS a USING removed
WHERE a.tenant_id = $1 AND a.account = ANY (removed.accounts) AND a.unique_id = $2 AND a.dot = $3 AND a.mc = $4`

/** The list of a viewer with accounts starts from the invoices addressed to these accounts, so its cost does not depend on the tenant's other invoices. */
export const addressedTo = (schema: string, accounts: string) => `(
  SELECT a.unique_id, a.dot, a.mc FROM ${schema}.invoice_accounts AS a WHERE a.tenant_id = $1 AND a.account = ANY (${accounts})
  UNION
  SELECT i.unique_id, i.dot, i.mc
  FROM ${schema}.shipment_accounts AS sa
  JOIN ${schema}.invoices AS i ON i.tenant_id = $1 AND i.shipment_id = sa.shipment_id
  WHERE sa.tenant_id = $1 AND sa.account = ANY (${accounts})
)`

/** History of the invoices and document records that name a shipment, newest first. A document record has the id `#<invoice number>`. $3: maximum entries, $4: maximum bytes. */
export const historyOfShipment = (schema: string) => `
WITH named AS (
  SELECT i.unique_id, i.dot, i.mc FROM ${schema}.invoices AS i WHERE i.tenant_id = $1 AND i.shipment_id = $2
  UNION ALL
  SELECT '#' || r.invoice_number, r.dot, r.mc FROM ${schema}.document_records AS r WHERE r.tenant_id = $1 AND r.shipment_id = $2
)
SELECT h.unique_id, h.dot, h.mc, h.at, h.client, h.action, h.doc
FROM (
  SELECT h.*, sum(octet_length(h.doc)) OVER (ORDER BY h.at DESC, h.entry_no DESC) - octet_length(h.doc) AS newer_bytes
  FROM (
    SELECT h.*
    FROM named AS n
    CROSS JOIN LATERAL (
      SELECT h.* FROM ${schema}.invoice_history AS h
      WHERE h.tenant_id = $1 AND h.unique_id = n.unique_id AND h.dot = n.dot AND h.mc = n.mc
      ORDER BY h.entry_no DESC
      LIMIT $3::int8
    ) AS h
    ORDER BY h.at DESC, h.entry_no DESC
    LIMIT $3::int8
  ) AS h
) AS h
WHERE h.newer_bytes <= $4::int8
ORDER BY h.at DESC, h.entry_no DESC`

/** Adds $2 bytes, possibly negative, to the tenant's stored documents, and returns the sum. */
export const changeStoredBytes = (schema: string) => `
INSERT INTO ${schema}.document_usage AS u (tenant_id, bytes) VALUES ($1, $2::int8)
ON CONFLICT (tenant_id) DO UPDATE SET bytes = u.bytes + $2::int8
RETURNING bytes`

export const addDocuments = (schema: string) => `
WITH stored AS (
  INSERT INTO ${schema}.document_records (tenant_id, invoice_number, dot, mc, shipment_id, accounts, doc)
  VALUES ($1, $2, $3, $4, $5, $6::text[], $7)
  ON CONFLICT (tenant_id, invoice_number, dot, mc) DO UPDATE
  SET shipment_id = EXCLUDED.shipment_id, accounts = EXCLUDED.accounts, doc = EXCLUDED.doc, written_at = clock_timestamp()
)
INSERT INTO ${schema}.document_files (tenant_id, invoice_number, dot, mc, file_id, document_type, content_id, size, sha256, media_type)
SELECT $1, $2, $3, $4, f.file_id, f.document_type, f.content_id, f.size, f.sha256, f.media_type
FROM unnest($8::text[], $9::text[], $10::uuid[], $11::int8[], $12::text[], $13::text[]) WITH ORDINALITY
  AS f (file_id, document_type, content_id, size, sha256, media_type, place)
ORDER BY f.place`

/** Removes all, or exactly the named ones: none if one of them does not exist. */
export const removeDocuments = (schema: string) => `
WITH wanted AS MATERIALIZED (
  SELECT f.file_no, f.file_id FROM ${schema}.document_files AS f
  WHERE f.tenant_id = $1 AND f.invoice_number = $2 AND f.dot = $3 AND f.mc = $4 AND ($5::text[] IS NULL OR f.file_id = ANY ($5::text[]))
),
complete AS (
  SELECT $5::text[] IS NULL OR NOT EXISTS (SELECT FROM unnest($5::text[]) AS id WHERE id <> ALL (ARRAY(SELECT file_id FROM wanted))) AS yes
)
DELETE FROM ${schema}.document_files AS f USING wanted AS w, complete AS c
WHERE c.yes AND f.tenant_id = $1 AND f.invoice_number = $2 AND f.dot = $3 AND f.mc = $4 AND f.file_no = w.file_no
RETURNING f.file_id, f.document_type, f.content_id, f.size, f.sha256, f.media_type, f.file_no`
