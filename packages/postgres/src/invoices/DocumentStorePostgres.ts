/** Which documents support which invoice, on Postgres. */
import { type DocumentRecord, DocumentStore } from "@waybill/core/invoices"
import { Effect } from "effect"
import { type Decoded, int8, uuid } from "../client/SqlRow.ts"
import { type Statement, tenant } from "../client/SqlStatement.ts"
import { documents, replaceAccountsOf } from "../shared/InvoiceAccountsSql.ts"
import { storeLayer } from "../shared/StoreLayer.ts"
import * as statements from "./DocumentSql.ts"
import { keyOf } from "./InvoiceSql.ts"
import { makeLockShipmentsOf } from "./InvoiceAccounts.ts"

export const layer = storeLayer(DocumentStore, ({ lookup, schema, sql }) => {
  const select = (statement: Statement) => Effect.map(lookup((sql) => sql.rows(statements.recordRow, statement)), (rows) => rows.map(recordOf))
  const lockShipments = makeLockShipmentsOf(sql, schema, documents)

  return {
    add: Effect.fnUntraced(function*(tenantId, record) {
      const key = keyOf(record.carrier, record.invoiceNumber)
      yield* lockShipments(tenantId, key, record.accounts.length === 0 ? [record.shipmentId] : [])
      yield* sql.run(statements.addDocuments(schema, tenantId, record))
      yield* sql.run(replaceAccountsOf(schema, tenant(tenantId), documents, key))
    }),
    find: (tenantId, viewer, invoiceNumber) =>
      Effect.map(
        select(statements.selectRecords(
          schema,
          tenantId,
          viewer,
          { invoiceNumber, dot: undefined, mc: undefined, documentTypes: undefined },
          { after: undefined, limit: 1, newestFirst: true }
        )),
        ([record]) => record
      ),
    list: (tenantId, viewer, filter, range) => select(statements.selectRecords(schema, tenantId, viewer, filter, { ...range, newestFirst: false })),
    countFiles: (tenantId, carrier, invoiceNumber) => sql.one(int8, statements.countFiles(schema, tenantId, carrier, invoiceNumber)),
    storedBytes: (tenantId) => sql.one(int8, statements.storedBytes(schema, tenantId)),
    changeStoredBytes: (tenantId, by) =>
      Effect.andThen(sql.run(statements.changeStoredBytes(schema, tenantId, by)), sql.one(int8, statements.storedBytes(schema, tenantId))),
    discard: (tenantId, contentId) => sql.run(statements.discardContent(schema, tenantId, contentId)),
    moveContent: (tenantId, record, contents) => Effect.map(sql.rows(uuid, statements.moveContent(schema, tenantId, record, contents)), (rows) => rows.length > 0),
    claimDiscarded: (tenantId, olderThanMillis, limit) => sql.rows(uuid, statements.claimDiscarded(schema, tenantId, olderThanMillis, limit)),
    forgetDiscarded: (tenantId, contentIds) => sql.run(statements.forgetDiscarded(schema, tenantId, contentIds)),
    countDiscarded: (tenantId) => sql.one(int8, statements.countDiscarded(schema, tenantId)),
    remove: (tenantId, carrier, invoiceNumber, fileIds) =>
      Effect.map(sql.rows(statements.fileRow, statements.removeDocuments(schema, tenantId, carrier, invoiceNumber, fileIds)), (rows) =>
        rows.toSorted((a, b) => a.fileNo - b.fileNo).map(({ fileNo: _, ...file }) => file))
  }
})

const recordOf = (
  { contentIds, documentTypes, dot, fileIds, mc, mediaTypes, sha256s, sizes, ...record }: Decoded<typeof statements.recordRow>
): DocumentRecord => ({
  ...record,
  carrier: { dot, mc },
  files: fileIds.map((fileId, at) => ({
    fileId,
    documentType: documentTypes[at]!,
    contentId: contentIds[at]!,
    size: Number(sizes[at]),
    sha256: sha256s[at]!,
    mediaType: mediaTypes[at]!
  }))
})
