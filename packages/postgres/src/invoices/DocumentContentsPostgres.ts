/** Contents of documents on Postgres, stored as rows of chunks. */
import { StorageError } from "@waybill/core"
import { DocumentContents } from "@waybill/core/invoices"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { isUuid } from "../access/AccessStorePostgres.ts"
import { bytea, int4, int8, timestamptz, uuid, uuidArray } from "../client/SqlRow.ts"
import { raw, type Statement, statement, tenant } from "../client/SqlStatement.ts"
import { storeLayer } from "../shared/StoreLayer.ts"

/** A multiple of three, so that each chunk can be encoded as base64 separately. */
const chunkBytes = 192 * 1024

/** Contents of up to 25 MiB that one statement removes. */
const sweptAtOnce = raw("100")

const swept = new Error("Document content was removed before its upload finished, because the upload took longer than the sweep allows. Upload it again.")

export const layer = storeLayer(DocumentContents, ({ schema, sql }) => {
  /** Fails if the content was swept: a chunk written after the sweep would never be removed. */
  const insertChunk = (tenantId: string, contentId: string, chunk: number, bytes: Uint8Array) =>
    sql.rows(
      int4,
      statement`
INSERT INTO ${schema}.document_chunks (tenant_id, content_id, chunk, bytes)
SELECT ${tenant(tenantId)}, c.content_id, ${int4(chunk)}, ${bytes} FROM ${schema}.document_contents AS c
WHERE c.tenant_id = ${tenant(tenantId)} AND c.content_id = ${uuid(contentId)}
RETURNING chunk`
    ).pipe(Effect.filterOrFail((rows) => rows.length === 1, () => swept))

  /** Removes the contents that match `condition`, with their chunks. */
  const removeWhere = (tenantId: string, contentIds: ReadonlyArray<string>, condition: Statement) =>
    sql.run(statement`
WITH removed AS (
  DELETE FROM ${schema}.document_contents
  WHERE tenant_id = ${tenant(tenantId)} AND content_id = ANY (${uuidArray(contentIds)}) AND ${condition}
  RETURNING content_id
)
DELETE FROM ${schema}.document_chunks AS h USING removed WHERE h.tenant_id = ${tenant(tenantId)} AND h.content_id = removed.content_id`)

  const open = Effect.fnUntraced(function*(tenantId: string) {
    const contentId = randomUUID()
    yield* Effect.acquireRelease(
      sql.run(statement`INSERT INTO ${schema}.document_contents (tenant_id, content_id) VALUES (${tenant(tenantId)}, ${uuid(contentId)})`),
      // a content that cannot be removed now is swept later
      () => Effect.ignore(removeWhere(tenantId, [contentId], statement`NOT kept`))
    )
    let buffered: Array<Uint8Array> = []
    let length = 0
    let chunk = 0
    const flush = Effect.suspend(() => {
      if (length === 0) return Effect.void
      const bytes = Buffer.concat(buffered, length)
      buffered = []
      length = 0
      return Effect.asVoid(insertChunk(tenantId, contentId, chunk++, bytes))
    })
    const write = Effect.fnUntraced(function*(bytes: Uint8Array) {
      for (let from = 0; from < bytes.length;) {
        const part = bytes.subarray(from, from + chunkBytes - length)
        // the caller may reuse its buffer
        buffered.push(Uint8Array.from(part))
        length += part.length
        from += part.length
        if (length === chunkBytes) yield* flush
      }
    })
    return {
      contentId,
      write: (bytes: Uint8Array) => StorageError.refail("DocumentContents.write")(write(bytes)),
      finish: StorageError.refail("DocumentContents.finish")(flush)
    }
  })

  return {
    open,
    keep: (tenantId, contentIds) =>
      sql.rows(
        uuid,
        statement`
UPDATE ${schema}.document_contents SET kept = true
WHERE tenant_id = ${tenant(tenantId)} AND content_id = ANY (${uuidArray(contentIds)}) RETURNING content_id`
      ).pipe(
        Effect.filterOrFail((rows) => rows.length === new Set(contentIds).size, () => new StorageError({ operation: "DocumentContents.keep", cause: swept })),
        Effect.asVoid
      ),
    read: (tenantId, contentId, chunk) =>
      !isUuid(contentId) ? Effect.succeed(undefined) : sql.rows(
        bytea,
        statement`
SELECT h.bytes
FROM ${schema}.document_contents AS c
JOIN ${schema}.document_chunks AS h ON h.tenant_id = ${tenant(tenantId)} AND h.content_id = c.content_id AND h.chunk = ${int4(chunk)}
WHERE c.tenant_id = ${tenant(tenantId)} AND c.content_id = ${uuid(contentId)} AND c.kept`
      ).pipe(Effect.map(([bytes]) => bytes)),
    remove: (tenantId, contentIds) => removeWhere(tenantId, contentIds.filter(isUuid), statement`true`),
    sweep: (tenantId, writtenBefore) =>
      sql.one(
        int8,
        statement`
WITH old AS (
  SELECT content_id FROM ${schema}.document_contents
  WHERE tenant_id = ${tenant(tenantId)} AND NOT kept AND written_at < ${timestamptz(writtenBefore)}
  LIMIT ${sweptAtOnce}
  FOR UPDATE SKIP LOCKED
),
removed AS (
  DELETE FROM ${schema}.document_contents AS c USING old WHERE c.tenant_id = ${tenant(tenantId)} AND c.content_id = old.content_id
  RETURNING c.content_id
),
chunks AS (
  DELETE FROM ${schema}.document_chunks AS h USING removed WHERE h.tenant_id = ${tenant(tenantId)} AND h.content_id = removed.content_id
)
SELECT count(*) AS swept FROM removed`
      )
  }
})
