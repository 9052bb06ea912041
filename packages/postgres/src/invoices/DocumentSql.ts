/** SQL statements for documents. */
import type { DocumentFilter, DocumentRecord, InvoiceCarrier, InvoiceViewer } from "@waybill/core/invoices"
import { float8, int8, int8Array, row, text, textArray, uuid, uuidArray } from "../client/SqlRow.ts"
import { concat, nothing, type Statement, statement, tenant, value } from "../client/SqlStatement.ts"
import { addBytes, type ByteCount, sumBytes } from "../shared/ByteCountSql.ts"
import { given } from "../shared/GivenRows.ts"
import { documents } from "../shared/InvoiceAccountsSql.ts"
import { firstSeen, matching, seenBy } from "./InvoiceSql.ts"

/** The files of a record are arrays of the same length. */
export const recordRow = row({
  invoiceNumber: text,
  dot: text,
  mc: text,
  shipmentId: text,
  accounts: textArray,
  doc: text,
  fileIds: textArray,
  documentTypes: textArray,
  contentIds: textArray,
  sizes: textArray,
  sha256s: textArray,
  mediaTypes: textArray
})

interface DocumentRange {
  readonly after: { readonly invoiceNumber: string; readonly carrier: InvoiceCarrier } | undefined
  readonly limit: number
  readonly newestFirst: boolean
}

/**
 * Records that have a file, with their files. In one statement: before a second one the record could change owner and get files that
 * this viewer may not see.
 */
export const selectRecords = (
  schema: Statement,
  tenantId: string,
  viewer: InvoiceViewer,
  { documentTypes, dot, invoiceNumber, mc }: DocumentFilter,
  { after, limit, newestFirst }: DocumentRange
) => {
  const ofTypes = documentTypes === undefined ? nothing : statement`AND f.document_type = ANY (${textArray(documentTypes)})`
  // OFFSET keeps it a lookup for each record: a join may read all files of the tenant
  const hasFile = statement`AND EXISTS (
      SELECT FROM ${schema}.document_files AS f
      WHERE f.tenant_id = ${tenant(tenantId)} AND f.invoice_number = t.invoice_number AND f.dot = t.dot AND f.mc = t.mc ${ofTypes}
      OFFSET 0
    )`
  const most = int8(limit)
  const range = concat([
    matching({ dot, mc }),
    after === undefined ? nothing : statement`AND (t.invoice_number, t.dot, t.mc) > (${after.invoiceNumber}, ${after.carrier.dot}, ${after.carrier.mc})`,
    hasFile
  ])
  // few carriers have the same number, and it has an index
  const from = (invoiceNumber === undefined ? firstSeen(schema, tenantId, documents, viewer, range, most) : undefined)
    ?? statement`${schema}.document_records AS t
  WHERE t.tenant_id = ${tenant(tenantId)} ${seenBy(schema, tenantId, viewer)} ${matching({ invoice_number: invoiceNumber })} ${range}`
  const order = newestFirst ? statement`t.written_at DESC, t.invoice_number, t.dot, t.mc` : statement`t.invoice_number, t.dot, t.mc`
  return statement`
SELECT t.invoice_number, t.dot, t.mc, t.shipment_id, t.accounts, t.doc,
       f.file_ids, f.document_types, f.content_ids, f.sizes, f.sha256s, f.media_types
FROM (
  SELECT t.* FROM ${from}
  ORDER BY ${order}
  LIMIT ${most}
) AS t
CROSS JOIN LATERAL (
  SELECT array_agg(f.file_id ORDER BY f.file_no) AS file_ids,
         array_agg(f.document_type ORDER BY f.file_no) AS document_types,
         array_agg(f.content_id::text ORDER BY f.file_no) AS content_ids,
         array_agg(f.size::text ORDER BY f.file_no) AS sizes,
         array_agg(f.sha256 ORDER BY f.file_no) AS sha256s,
         array_agg(f.media_type ORDER BY f.file_no) AS media_types
  FROM ${schema}.document_files AS f
  WHERE f.tenant_id = ${tenant(tenantId)} AND f.invoice_number = t.invoice_number AND f.dot = t.dot AND f.mc = t.mc ${ofTypes}
) AS f
ORDER BY ${order}`
}

const fileColumns = { fileId: textArray, documentType: textArray, contentId: uuidArray, size: int8Array, sha256: textArray, mediaType: textArray }

export const addDocuments = (schema: Statement, tenantId: string, { carrier, files, ...record }: DocumentRecord) => {
  const [invoiceNumber, dot, mc] = [value(record.invoiceNumber), value(carrier.dot), value(carrier.mc)]
  return statement`
WITH stored AS (
  INSERT INTO ${schema}.document_records (tenant_id, invoice_number, dot, mc, shipment_id, accounts, doc)
  VALUES (${tenant(tenantId)}, ${invoiceNumber}, ${dot}, ${mc}, ${record.shipmentId}, ${textArray(record.accounts)}, ${record.doc})
  ON CONFLICT (tenant_id, invoice_number, dot, mc) DO UPDATE
  SET shipment_id = EXCLUDED.shipment_id, accounts = EXCLUDED.accounts, doc = EXCLUDED.doc, written_at = EXCLUDED.written_at
)
INSERT INTO ${schema}.document_files (tenant_id, invoice_number, dot, mc, file_id, document_type, content_id, size, sha256, media_type)
SELECT ${tenant(tenantId)}, ${invoiceNumber}, ${dot}, ${mc}, f.file_id, f.document_type, f.content_id, f.size, f.sha256, f.media_type
FROM ${given("f", files, fileColumns, "place")}
ORDER BY f.place`
}

export const countFiles = (schema: Statement, tenantId: string, { dot, mc }: InvoiceCarrier, invoiceNumber: string) =>
  statement`SELECT count(*) FROM ${schema}.document_files WHERE tenant_id = ${tenant(tenantId)} AND invoice_number = ${invoiceNumber} AND dot = ${dot} AND mc = ${mc}`

export const fileRow = row({ fileId: text, documentType: text, contentId: uuid, size: int8, sha256: text, mediaType: text, fileNo: int8 })

/** Removes all files of a record, or exactly the named ones: none if one of them does not exist. */
export const removeDocuments = (
  schema: Statement,
  tenantId: string,
  carrier: InvoiceCarrier,
  number: string,
  named: ReadonlyArray<string> | undefined
) => {
  const [invoiceNumber, dot, mc] = [value(number), value(carrier.dot), value(carrier.mc)]
  const fileIds = textArray(named)
  return statement`
WITH wanted AS MATERIALIZED (
  SELECT f.file_no, f.file_id FROM ${schema}.document_files AS f
  WHERE f.tenant_id = ${tenant(tenantId)} AND f.invoice_number = ${invoiceNumber} AND f.dot = ${dot} AND f.mc = ${mc}
    AND (${fileIds} IS NULL OR f.file_id = ANY (${fileIds}))
),
complete AS (
  SELECT NOT EXISTS (
    SELECT FROM unnest(${fileIds}) AS id WHERE id <> ALL (ARRAY(SELECT file_id FROM wanted))
  ) AS yes
)
DELETE FROM ${schema}.document_files AS f USING wanted AS w, complete AS c
WHERE c.yes AND f.tenant_id = ${tenant(tenantId)} AND f.invoice_number = ${invoiceNumber} AND f.dot = ${dot} AND f.mc = ${mc} AND f.file_no = w.file_no
RETURNING ${fileRow.columns("f")}`
}

const usageOf = (schema: Statement, tenantId: string): ByteCount => {
  const own = tenant(tenantId)
  return { table: statement`${schema}.document_usage`, columns: statement`tenant_id`, values: statement`${own}`, condition: statement`u.tenant_id = ${own}` }
}

export const storedBytes = (schema: Statement, tenantId: string) => sumBytes(usageOf(schema, tenantId))

/** Adds bytes, possibly negative, to the tenant's stored documents. A sum in the same statement would have them or not: Citus runs its parts one after the other. */
export const changeStoredBytes = (schema: Statement, tenantId: string, by: number) => statement`
WITH ${addBytes(usageOf(schema, tenantId), int8(by))}
SELECT FROM free_part`

export const discardContent = (schema: Statement, tenantId: string, contentId: string) => statement`
INSERT INTO ${schema}.document_discards (tenant_id, content_id) VALUES (${tenant(tenantId)}, ${uuid(contentId)}) ON CONFLICT DO NOTHING`

/** Returns a row if a file has the contents now. */
export const moveContent = (schema: Statement, tenantId: string, { carrier, invoiceNumber }: Pick<DocumentRecord, "carrier" | "invoiceNumber">, { from, to }: { readonly from: string; readonly to: string }) => {
  const [own, before, after] = [tenant(tenantId), uuid(from), uuid(to)]
  return statement`
WITH written AS MATERIALIZED (
  SELECT d.content_id FROM ${schema}.document_discards AS d WHERE d.tenant_id = ${own} AND d.content_id = ${after} AND NOT d.claimed FOR UPDATE
),
moved AS (
  UPDATE ${schema}.document_files AS f SET content_id = ${after}
  WHERE f.tenant_id = ${own} AND f.invoice_number = ${value(invoiceNumber)} AND f.dot = ${value(carrier.dot)} AND f.mc = ${value(carrier.mc)}
    AND f.content_id = ${before} AND EXISTS (SELECT FROM written)
  RETURNING 1
),
cleared AS (
  DELETE FROM ${schema}.document_discards AS d WHERE d.tenant_id = ${own} AND d.content_id = ${after} AND EXISTS (SELECT FROM moved)
)
INSERT INTO ${schema}.document_discards (tenant_id, content_id) SELECT ${own}, ${before} FROM moved LIMIT 1
ON CONFLICT (tenant_id, content_id) DO UPDATE SET discarded_at = EXCLUDED.discarded_at, claimed = false
RETURNING content_id`
}

export const claimDiscarded = (schema: Statement, tenantId: string, olderThanMillis: number, limit: number) => statement`
UPDATE ${schema}.document_discards AS d SET claimed = true
WHERE d.tenant_id = ${tenant(tenantId)} AND d.content_id = ANY (ARRAY(
  SELECT o.content_id FROM ${schema}.document_discards AS o
  WHERE o.tenant_id = ${tenant(tenantId)} AND (o.claimed OR o.discarded_at <= clock_timestamp() - ${float8(olderThanMillis)} * interval '1 ms')
  ORDER BY o.discarded_at LIMIT ${int8(limit)}
))
RETURNING d.content_id`

export const forgetDiscarded = (schema: Statement, tenantId: string, contentIds: ReadonlyArray<string>) => statement`
DELETE FROM ${schema}.document_discards WHERE tenant_id = ${tenant(tenantId)} AND content_id = ANY (${uuidArray(contentIds)}) AND claimed`

export const countDiscarded = (schema: Statement, tenantId: string) => statement`
SELECT count(*) AS count FROM ${schema}.document_discards WHERE tenant_id = ${tenant(tenantId)}`
