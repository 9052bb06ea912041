/** Which documents support which invoice, on Postgres. */
import { StorageError } from "@waybill/core"
import { type DocumentRecord, DocumentStore } from "@waybill/core/invoices"
import { Effect, Layer } from "effect"
import { PgClient } from "../client/PgClient.ts"
import { type Decoded, int8, uuid } from "../client/SqlRow.ts"
import { makeLookup } from "../shared/Lookups.ts"
import { WaybillSchema } from "../shared/Schema.ts"
import * as statements from "./DocumentSql.ts"

export const layer = Layer.effect(
  DocumentStore,
  Effect.gen(function*() {
    const sql = yield* PgClient
    const { identifier: schema } = yield* WaybillSchema
    const lookup = yield* makeLookup

    const select = (...[tenantId, viewer, filter, range]: Tail<Parameters<typeof statements.selectRecords>>) =>
      Effect.map(lookup((sql) => sql.rows(statements.recordRow, statements.selectRecords(schema, tenantId, viewer, filter, range))), (rows) => rows.map(recordOf))

    return DocumentStore.of({
      add: (tenantId, record) => sql.run(statements.addDocuments(schema, tenantId, record)).pipe(StorageError.refail("DocumentStore.add")),
      find: (tenantId, viewer, invoiceNumber) =>
        select(
          tenantId,
          viewer,
          { invoiceNumber, dot: undefined, mc: undefined, documentTypes: undefined },
          { after: undefined, limit: 1, newestFirst: true }
        ).pipe(Effect.map(([record]) => record), StorageError.refail("DocumentStore.find")),
      list: (tenantId, viewer, filter, range) =>
        StorageError.refail("DocumentStore.list")(select(tenantId, viewer, filter, { ...range, newestFirst: false })),
      storedBytes: (tenantId) =>
        sql.rows(int8, statements.storedBytes(schema, tenantId)).pipe(
          Effect.map(([bytes]) => bytes ?? 0),
          StorageError.refail("DocumentStore.storedBytes")
        ),
      changeStoredBytes: (tenantId, by) =>
        sql.one(int8, statements.changeStoredBytes(schema, tenantId, by)).pipe(StorageError.refail("DocumentStore.changeStoredBytes")),
      discard: (tenantId, contentId) => sql.run(statements.discardContent(schema, tenantId, contentId)).pipe(StorageError.refail("DocumentStore.discard")),
      moveContent: (tenantId, record, contents) =>
        sql.rows(uuid, statements.moveContent(schema, tenantId, record, contents)).pipe(
          Effect.map((rows) => rows.length > 0),
          StorageError.refail("DocumentStore.moveContent")
        ),
      claimDiscarded: (tenantId, olderThanMillis, limit) =>
        sql.rows(uuid, statements.claimDiscarded(schema, tenantId, olderThanMillis, limit)).pipe(StorageError.refail("DocumentStore.claimDiscarded")),
      forgetDiscarded: (tenantId, contentIds) =>
        sql.run(statements.forgetDiscarded(schema, tenantId, contentIds)).pipe(StorageError.refail("DocumentStore.forgetDiscarded")),
      countDiscarded: (tenantId) => sql.one(int8, statements.countDiscarded(schema, tenantId)).pipe(StorageError.refail("DocumentStore.countDiscarded")),
      remove: (tenantId, carrier, invoiceNumber, fileIds) =>
        sql.rows(statements.fileRow, statements.removeDocuments(schema, tenantId, carrier, invoiceNumber, fileIds)).pipe(
          Effect.map((rows) => rows.toSorted((a, b) => a.fileNo - b.fileNo).map(({ fileNo: _, ...file }) => file)),
          StorageError.refail("DocumentStore.remove")
        )
    })
  })
)

type Tail<A extends ReadonlyArray<unknown>> = A extends readonly [unknown, ...infer Rest] ? Rest : never

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
