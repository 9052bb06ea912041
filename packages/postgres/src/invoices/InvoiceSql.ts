/** SQL statements for invoices. */
import type { InvoiceCarrier, InvoiceFilter, InvoiceHistoryEntry, InvoiceRow, InvoiceViewer } from "@waybill/core/invoices"
import type { BulkValue } from "../client/PgBulk.ts"
import { bytea, int8, only, row, text, textArray, timestamptz } from "../client/SqlRow.ts"
import { isolation } from "../shared/Isolation.ts"
import { invoices, type OfNumber, removeAccountsOf, type SeenRowKey, type SeenRows, seenByAccounts, seenByNumbers } from "../shared/InvoiceAccountsSql.ts"
import { type Between, isBetween } from "../shared/StoredSince.ts"
import { concat, nothing, raw, type Statement, type StatementPart, statement, tenant, value } from "../client/SqlStatement.ts"

/** One condition for each given filter. */
export const matching = (filters: Readonly<Record<string, BulkValue | undefined>>): Statement =>
  concat(Object.entries(filters).map(([column, value]) => value === undefined ? nothing : statement`AND t.${raw(column)} = ${value}`))

/** The rows of one carrier, by the rule of `isOfCarrier`: a missing number is not a different number. */
const ofCarrier = ({ dot, mc }: { readonly dot: string | undefined; readonly mc: string | undefined }): Statement => {
  if (dot === undefined || mc === undefined) return matching({ dot, mc })
  const ownMc = value(mc)
  return statement`AND ((t.dot = ${dot} AND t.mc IN (${ownMc}, '')) OR (t.mc = ${ownMc} AND t.dot = ''))`
}

/**
 * The rows of a table `t (accounts, dot, mc, shipment_id, …)` that a viewer may see. Accounts see rows that name them, and rows
 * of their shipments that name no account.
 */
export const seenBy = (schema: Statement, tenantId: string, viewer: InvoiceViewer): Statement => {
  switch (viewer._tag) {
    case "All":
      return nothing
    case "Carrier":
      return ofCarrier(viewer)
    case "Accounts": {
      const accounts = textArray(viewer.accounts)
      return statement`AND (
        t.accounts && ${accounts}
        OR (t.accounts = '{}' AND ${isOfShipment(schema, tenantId, accounts)})
      )`
    }
  }
}

/** Whether the shipment of a row is on one of the accounts: a lookup for each, where IN would read all shipments of the accounts. */
const isOfShipment = (schema: Statement, tenantId: string, accounts: StatementPart): Statement => statement`EXISTS (
  SELECT FROM ${schema}.shipment_accounts AS sa
  WHERE sa.tenant_id = ${tenant(tenantId)} AND sa.account = ANY (${accounts}) AND sa.shipment_id = t.shipment_id
  OFFSET 0
)`

/** Serialises writers of one invoice, whether it exists or not. */
export const lockInvoice = (tenantId: string, { dot, mc }: InvoiceCarrier, uniqueId: string) => statement`
SELECT pg_advisory_xact_lock(hashtext('waybill invoice ' || ${tenant(tenantId)} || ' ' || ${dot} || ' ' || ${mc}), hashtext(${uniqueId}))::text AS held, ${isolation}`

export const lockRow = row({ held: text, isolation: text })

export const invoiceRow = row({ uniqueId: text, dot: text, mc: text, shipmentId: text, invoiceNumber: text, accounts: textArray, body: bytea })

/** Runs under `lockInvoice`. */
export const selectInvoice = (schema: Statement, tenantId: string, { dot, mc }: InvoiceCarrier, uniqueId: string) => statement`
SELECT ${invoiceRow.columns("t")} FROM ${schema}.invoices AS t
WHERE t.tenant_id = ${tenant(tenantId)} AND t.unique_id = ${uniqueId} AND t.dot = ${dot} AND t.mc = ${mc}`

/** The newest invoice with this id that the viewer may see. */
export const findInvoice = (schema: Statement, tenantId: string, viewer: InvoiceViewer, uniqueId: string) => statement`
SELECT ${invoiceRow.columns("t")} FROM ${schema}.invoices AS t
WHERE t.tenant_id = ${tenant(tenantId)} AND t.unique_id = ${uniqueId} ${seenBy(schema, tenantId, viewer)}
ORDER BY t.written_at DESC, t.dot, t.mc
LIMIT 1`

/** The first that a customer or a carrier may see. For `FROM`; undefined for others. */
export const firstSeen = (schema: Statement, tenantId: string, of: SeenRows, viewer: InvoiceViewer, condition: Statement, limit: StatementPart): Statement | undefined => {
  switch (viewer._tag) {
    case "All":
      return undefined
    case "Carrier":
      return seenByNumbers(schema, tenantId, of, numbersOf(viewer), condition, limit)
    case "Accounts":
      return seenByAccounts(schema, tenantId, of, viewer.accounts, condition, limit)
  }
}

/** By the rule of `ofCarrier`. */
const numbersOf = ({ dot, mc }: { readonly dot: string | undefined; readonly mc: string | undefined }): ReadonlyArray<OfNumber> => {
  const [isDot, isMc] = [raw("dot"), raw("mc")]
  if (dot === undefined) return [{ column: isMc, number: mc!, condition: nothing }]
  if (mc === undefined) return [{ column: isDot, number: dot, condition: nothing }]
  return [{ column: isDot, number: dot, condition: statement`AND t.mc IN (${mc}, '')` }, { column: isMc, number: mc, condition: raw("AND t.dot = ''") }]
}

interface InvoiceRange {
  readonly after: { readonly uniqueId: string; readonly carrier: InvoiceCarrier } | undefined
  readonly limit: number
}

export const listInvoices = (
  schema: Statement,
  tenantId: string,
  viewer: InvoiceViewer,
  { dot, invoiceNumber, mc, shipmentId, uniqueId }: InvoiceFilter,
  { after, limit }: InvoiceRange
) => {
  const most = int8(limit)
  const range = concat([
    matching({ dot, mc }),
    after === undefined ? nothing : statement`AND (t.unique_id, t.dot, t.mc) > (${after.uniqueId}, ${after.carrier.dot}, ${after.carrier.mc})`
  ])
  // each of these has few invoices, and an index
  const isNamed = uniqueId !== undefined || shipmentId !== undefined || invoiceNumber !== undefined
  const from = (isNamed ? undefined : firstSeen(schema, tenantId, invoices, viewer, range, most))
    ?? statement`${schema}.invoices AS t WHERE t.tenant_id = ${tenant(tenantId)} ${seenBy(schema, tenantId, viewer)}
  ${matching({ unique_id: uniqueId, shipment_id: shipmentId, invoice_number: invoiceNumber })} ${range}`
  return statement`
SELECT ${invoiceRow.columns("t")} FROM ${from}
ORDER BY t.unique_id, t.dot, t.mc
LIMIT ${most}`
}

/** Starts with what was written lately. */
export const invoicesSince = (schema: Statement, tenantId: string, viewer: InvoiceViewer, between: Between) => {
  const { after, limit } = between
  return statement`
SELECT ${invoiceRow.columns("t")} FROM ${schema}.invoices AS t
WHERE t.tenant_id = ${tenant(tenantId)} AND ${isBetween(raw("t.xid"), raw("t.written_at"), between)} ${seenBy(schema, tenantId, viewer)}
  ${after === undefined ? nothing : statement`AND (t.unique_id, t.dot, t.mc) > (${after[0]!}, ${after[1]!}, ${after[2]!})`}
ORDER BY t.unique_id, t.dot, t.mc
LIMIT ${int8(limit)}`
}

export const keyOf = ({ dot, mc }: InvoiceCarrier, uniqueId: string): SeenRowKey => ({ id: value(uniqueId), dot: value(dot), mc: value(mc) })

export const putInvoice = (schema: Statement, tenantId: string, { accounts, body, carrier, invoiceNumber, shipmentId, uniqueId }: InvoiceRow) => statement`
INSERT INTO ${schema}.invoices (tenant_id, unique_id, dot, mc, shipment_id, invoice_number, accounts, body)
VALUES (${tenant(tenantId)}, ${uniqueId}, ${carrier.dot}, ${carrier.mc}, ${shipmentId}, ${invoiceNumber}, ${textArray(accounts)}, ${body})
ON CONFLICT (tenant_id, unique_id, dot, mc) DO UPDATE
SET shipment_id = EXCLUDED.shipment_id, invoice_number = EXCLUDED.invoice_number, accounts = EXCLUDED.accounts,
    body = EXCLUDED.body, written_at = EXCLUDED.written_at, xid = EXCLUDED.xid`

export const removeInvoice = (schema: Statement, tenantId: string, carrier: InvoiceCarrier, id: string) => {
  const key = keyOf(carrier, id)
  return statement`
WITH removed AS (
  DELETE FROM ${schema}.invoices WHERE tenant_id = ${tenant(tenantId)} AND unique_id = ${key.id} AND dot = ${key.dot} AND mc = ${key.mc}
)${removeAccountsOf(schema, tenant(tenantId), invoices, key)}`
}

export const addHistory = (
  schema: Statement,
  tenantId: string,
  { dot, mc }: InvoiceCarrier,
  uniqueId: string,
  { action, at, client, doc }: InvoiceHistoryEntry
) => statement`
INSERT INTO ${schema}.invoice_history (tenant_id, unique_id, dot, mc, at, client, action, doc)
VALUES (${tenant(tenantId)}, ${uniqueId}, ${dot}, ${mc}, ${timestamptz(at)}, ${client}, ${action}, ${doc})`

export const moveHistory = (schema: Statement, tenantId: string, uniqueId: string, from: InvoiceCarrier, to: InvoiceCarrier) => statement`
UPDATE ${schema}.invoice_history SET dot = ${to.dot}, mc = ${to.mc}
WHERE tenant_id = ${tenant(tenantId)} AND unique_id = ${uniqueId} AND dot = ${from.dot} AND mc = ${from.mc}`

const historyColumns = { at: timestamptz, client: text, action: only<InvoiceHistoryEntry["action"]>(text), doc: text }

export const historyRow = row(historyColumns)

/** Oldest first; without the entries that are older than so many bytes of newer ones. */
export const historyOfInvoice = (schema: Statement, tenantId: string, { dot, mc }: InvoiceCarrier, uniqueId: string, bytes: number) => statement`
SELECT ${historyRow.columns("h")}
FROM (
  SELECT h.*, sum(octet_length(h.doc)) OVER (ORDER BY h.entry_no DESC) - octet_length(h.doc) AS newer_bytes
  FROM ${schema}.invoice_history AS h
  WHERE h.tenant_id = ${tenant(tenantId)} AND h.unique_id = ${uniqueId} AND h.dot = ${dot} AND h.mc = ${mc}
) AS h
WHERE h.newer_bytes <= ${int8(bytes)}
ORDER BY h.entry_no`

export const shipmentHistoryRow = row({ uniqueId: text, dot: text, mc: text, ...historyColumns })

/** History of the invoices and document records that name a shipment, newest first. A document record has its invoice number behind a space as id. */
export const historyOfShipment = (
  schema: Statement,
  tenantId: string,
  id: string,
  most: { readonly entries: number; readonly bytes: number }
) => {
  const [shipmentId, entries] = [value(id), int8(most.entries)]
  return statement`
WITH named AS (
  SELECT i.unique_id, i.dot, i.mc FROM ${schema}.invoices AS i WHERE i.tenant_id = ${tenant(tenantId)} AND i.shipment_id = ${shipmentId}
  UNION ALL
  SELECT ' ' || r.invoice_number, r.dot, r.mc FROM ${schema}.document_records AS r
  WHERE r.tenant_id = ${tenant(tenantId)} AND r.shipment_id = ${shipmentId}
)
SELECT ${shipmentHistoryRow.columns("h")}
FROM (
  SELECT h.*, sum(octet_length(h.doc)) OVER (ORDER BY h.at DESC, h.entry_no DESC) - octet_length(h.doc) AS newer_bytes
  FROM (
    SELECT h.*
    FROM named AS n
    CROSS JOIN LATERAL (
      SELECT h.* FROM ${schema}.invoice_history AS h
      WHERE h.tenant_id = ${tenant(tenantId)} AND h.unique_id = n.unique_id AND h.dot = n.dot AND h.mc = n.mc
      ORDER BY h.entry_no DESC
      LIMIT ${entries}
    ) AS h
    ORDER BY h.at DESC, h.entry_no DESC
    LIMIT ${entries}
  ) AS h
) AS h
WHERE h.newer_bytes <= ${int8(most.bytes)}
ORDER BY h.at DESC, h.entry_no DESC`
}
