/** Which documents support which invoice, on Postgres. */
import { type DocumentFile, type DocumentFilter, type DocumentRecord, DocumentStore, type InvoiceCarrier, type InvoiceViewer, StorageError } from "@waybill/core"
import { Effect, Layer } from "effect"
import { int8Array, textArray, uuidArray } from "../client/PgBulk.ts"
import { PgClient } from "../client/PgClient.ts"
import { WaybillSchema } from "../shared/Schema.ts"
import * as statements from "./InvoiceSql.ts"

const recordColumns = ["text", "text", "text", "text", "text[]", "text"] as const
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
      const rows = yield* sql.bulk(
        `SELECT t.invoice_number, t.dot, t.mc, t.shipment_id, t.accounts, t.doc
         FROM ${schema}.document_records AS t
         WHERE t.tenant_id = $1 ${seen} ${where} ${beyond}
           AND EXISTS (
             SELECT FROM ${schema}.document_files AS f
             WHERE f.tenant_id = $1 AND f.invoice_number = t.invoice_number AND f.dot = t.dot AND f.mc = t.mc ${types}
           )
         ORDER BY ${order}
         LIMIT ${p.add(limit)}::int8`,
        p.values,
        recordColumns
      )
      return yield* withFiles(tenantId, rows.map(recordOf), filter.documentTypes)
    })

    const withFiles = Effect.fnUntraced(function*(
      tenantId: string,
      records: ReadonlyArray<Omit<DocumentRecord, "files">>,
      types: ReadonlyArray<string> | undefined
    ) {
      if (records.length === 0) return []
      const rows = yield* sql.bulk(
        `SELECT k.place, f.file_id, f.document_type, f.content_id, f.size, f.sha256, f.media_type
         FROM unnest($2::text[], $3::text[], $4::text[]) WITH ORDINALITY AS k (invoice_number, dot, mc, place)
         JOIN ${schema}.document_files AS f
           ON f.tenant_id = $1 AND f.invoice_number = k.invoice_number AND f.dot = k.dot AND f.mc = k.mc
         WHERE $5::text[] IS NULL OR f.document_type = ANY ($5::text[])
         ORDER BY k.place, f.file_no`,
        [
          tenantId,
          textArray(records.map((each) => each.invoiceNumber)),
          textArray(records.map((each) => each.carrier.dot)),
          textArray(records.map((each) => each.carrier.mc)),
          types === undefined ? null : textArray(types)
        ],
        ["int8", "text", "text", "uuid", "int8", "text", "text"]
      )
      return records.map((record, at): DocumentRecord => ({
        ...record,
        files: rows.filter(([place]) => place === at + 1).map(([, ...file]) => fileOf(file))
      }))
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

const recordOf = ([invoiceNumber, dot, mc, shipmentId, accounts, doc]: ReadonlyArray<unknown>): Omit<DocumentRecord, "files"> => ({
  invoiceNumber: invoiceNumber as string,
  carrier: { dot: dot as string, mc: mc as string },
  shipmentId: shipmentId as string,
  accounts: accounts as ReadonlyArray<string>,
  doc: doc as string
})

const fileOf = ([fileId, documentType, contentId, size, sha256, mediaType]: ReadonlyArray<unknown>): DocumentFile => ({
  fileId: fileId as string,
  documentType: documentType as string,
  contentId: contentId as string,
  size: size as number,
  sha256: sha256 as string,
  mediaType: mediaType as string
})
