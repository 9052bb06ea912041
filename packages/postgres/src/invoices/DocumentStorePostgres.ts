/** Which documents support which invoice, on Postgres. */
import { type DocumentFile, type DocumentFilter, type DocumentRecord, DocumentStore, type InvoiceCarrier, type InvoiceViewer, StorageError } from "@waybill/core"
import { Effect, Layer } from "effect"
import { int8Array, textArray, uuidArray } from "../client/PgBulk.ts"
import { PgClient } from "../client/PgClient.ts"
import { WaybillSchema } from "../shared/Schema.ts"
import * as statements from "./InvoiceSql.ts"

const recordColumns = ["text", "text", "text", "text", "text[]", "text", "text[]", "text[]", "text[]", "text[]", "text[]", "text[]"] as const
const fileColumns = ["text", "text", "uuid", "int8", "text", "text", "int8"] as const

interface Key {
  readonly invoiceNumber: string
  readonly carrier: InvoiceCarrier
}

export const layer = Layer.effect(
  DocumentStore,
  Effect.gen(function*() {
    const sql = yield* PgClient
    const { quoted: schema } = yield* WaybillSchema

    /** Records that have a file, with their files. */
    const select = Effect.fnUntraced(function*(
      tenantId: string,
      viewer: InvoiceViewer,
      filter: DocumentFilter,
      { after, limit, order }: { readonly after: Key | undefined; readonly limit: number; readonly order: string }
    ) {
      const p = statements.parameters(tenantId)
      const types = filter.documentTypes === undefined ? "" : `AND f.document_type = ANY (${p.add(textArray(filter.documentTypes))}::text[])`
      const seen = statements.seenBy(schema, p, viewer, (accounts) => `t.accounts && ${accounts}`)
      const where = statements.matching(p, { invoice_number: filter.invoiceNumber, dot: filter.dot, mc: filter.mc })
      const beyond = after === undefined
        ? ""
        : `AND (t.invoice_number, t.dot, t.mc) > (${p.add(after.invoiceNumber)}, ${p.add(after.carrier.dot)}, ${p.add(after.carrier.mc)})`
      // in one statement: before a second one the record could change owner and get files that this viewer may not see
      const rows = yield* sql.bulk(
        `SELECT t.invoice_number, t.dot, t.mc, t.shipment_id, t.accounts, t.doc,
                f.file_ids, f.document_types, f.content_ids, f.sizes, f.sha256s, f.media_types
         FROM (
           SELECT t.*
           FROM ${schema}.document_records AS t
           WHERE t.tenant_id = $1 ${seen} ${where} ${beyond}
             AND EXISTS (
               SELECT FROM ${schema}.document_files AS f
               WHERE f.tenant_id = $1 AND f.invoice_number = t.invoice_number AND f.dot = t.dot AND f.mc = t.mc ${types}
             )
           ORDER BY ${order}
           LIMIT ${p.add(limit)}::int8
         ) AS t
         CROSS JOIN LATERAL (
           SELECT array_agg(f.file_id ORDER BY f.file_no) AS file_ids,
                  array_agg(f.document_type ORDER BY f.file_no) AS document_types,
                  array_agg(f.content_id::text ORDER BY f.file_no) AS content_ids,
                  array_agg(f.size::text ORDER BY f.file_no) AS sizes,
                  array_agg(f.sha256 ORDER BY f.file_no) AS sha256s,
                  array_agg(f.media_type ORDER BY f.file_no) AS media_types
           FROM ${schema}.document_files AS f
           WHERE f.tenant_id = $1 AND f.invoice_number = t.invoice_number AND f.dot = t.dot AND f.mc = t.mc ${types}
         ) AS f
         ORDER BY ${order}`,
        p.values,
        recordColumns
      )
      return rows.map(recordOf)
    })

    const add = (tenantId: string, { accounts, carrier, doc, files, invoiceNumber, shipmentId }: DocumentRecord) =>
      sql.bulk(statements.addDocuments(schema), [
        tenantId,
        invoiceNumber,
        carrier.dot,
        carrier.mc,
        shipmentId,
        textArray(accounts),
        doc,
        textArray(files.map((each) => each.fileId)),
        textArray(files.map((each) => each.documentType)),
        uuidArray(files.map((each) => each.contentId)),
        int8Array(files.map((each) => each.size)),
        textArray(files.map((each) => each.sha256)),
        textArray(files.map((each) => each.mediaType))
      ])

    const byNumber = "t.invoice_number, t.dot, t.mc"

    return DocumentStore.of({
      add: (tenantId, record) => add(tenantId, record).pipe(Effect.asVoid, StorageError.refail("DocumentStore.add")),
      find: (tenantId, viewer, invoiceNumber) =>
        select(
          tenantId,
          viewer,
          { invoiceNumber, dot: undefined, mc: undefined, documentTypes: undefined },
          { after: undefined, limit: 1, order: `t.written_at DESC, ${byNumber}` }
        ).pipe(Effect.map(([record]) => record), StorageError.refail("DocumentStore.find")),
      list: (tenantId, viewer, filter, range) =>
        StorageError.refail("DocumentStore.list")(select(tenantId, viewer, filter, { ...range, order: byNumber })),
      storedBytes: (tenantId) =>
        sql.bulk(`SELECT bytes FROM ${schema}.document_usage WHERE tenant_id = $1`, [tenantId], ["int8"]).pipe(
          Effect.map(([row]) => (row?.[0] as number | undefined) ?? 0),
          StorageError.refail("DocumentStore.storedBytes")
        ),
      changeStoredBytes: (tenantId, by) =>
        sql.bulk(statements.changeStoredBytes(schema), [tenantId, by], ["int8"]).pipe(
          Effect.map(([row]) => row![0] as number),
          StorageError.refail("DocumentStore.changeStoredBytes")
        ),
      remove: (tenantId, { dot, mc }, invoiceNumber, fileIds) =>
        sql.bulk(
          statements.removeDocuments(schema),
          [tenantId, invoiceNumber, dot, mc, fileIds === undefined ? null : textArray(fileIds)],
          fileColumns
        ).pipe(
          Effect.map((rows) => [...rows].sort((a, b) => (a[6] as number) - (b[6] as number)).map(fileOf)),
          StorageError.refail("DocumentStore.remove")
        )
    })
  })
)

const recordOf = ([invoiceNumber, dot, mc, shipmentId, accounts, doc, ...files]: ReadonlyArray<unknown>): DocumentRecord => {
  const [fileIds, documentTypes, contentIds, sizes, sha256s, mediaTypes] = files as unknown as ReadonlyArray<ReadonlyArray<string>>
  return {
    invoiceNumber: invoiceNumber as string,
    carrier: { dot: dot as string, mc: mc as string },
    shipmentId: shipmentId as string,
    accounts: accounts as ReadonlyArray<string>,
    doc: doc as string,
    files: fileIds!.map((fileId, at) => ({
      fileId,
      documentType: documentTypes![at]!,
      contentId: contentIds![at]!,
      size: Number(sizes![at]),
      sha256: sha256s![at]!,
      mediaType: mediaTypes![at]!
    }))
  }
}

const fileOf = ([fileId, documentType, contentId, size, sha256, mediaType]: ReadonlyArray<unknown>): DocumentFile => ({
  fileId: fileId as string,
  documentType: documentType as string,
  contentId: contentId as string,
  size: size as number,
  sha256: sha256 as string,
  mediaType: mediaType as string
})
