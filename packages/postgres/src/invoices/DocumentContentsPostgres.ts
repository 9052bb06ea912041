/** Contents of documents on Postgres, stored as rows of chunks. */
import { DocumentContents, StorageError } from "@waybill/core"
import { Effect, Layer } from "effect"
import { randomUUID } from "node:crypto"
import { isUuid } from "../access/AccessStorePostgres.ts"
import { timestamptzArray, uuidArray } from "../client/PgBulk.ts"
import { PgClient } from "../client/PgClient.ts"
import { WaybillSchema } from "../shared/Schema.ts"

/** A multiple of three, so that each chunk can be encoded as base64 separately. */
const chunkBytes = 192 * 1024

const swept = new Error("Document content was removed before its upload finished, because the upload took longer than the sweep allows. Upload it again.")

export const layer = Layer.effect(
  DocumentContents,
  Effect.gen(function*() {
    const sql = yield* PgClient
    const { quoted: schema } = yield* WaybillSchema

    /** Fails if the content was swept: a chunk written after the sweep would never be removed. */
    const insertChunk = (tenantId: string, contentId: string, chunk: number, bytes: Uint8Array) =>
      sql.bulk(
        `INSERT INTO ${schema}.document_chunks (tenant_id, content_id, chunk, bytes)
         SELECT $1, c.content_id, $3::int4, $4 FROM ${schema}.document_contents AS c WHERE c.tenant_id = $1 AND c.content_id = $2::uuid
         RETURNING chunk`,
        [tenantId, contentId, chunk, bytes]
      ).pipe(Effect.filterOrFail((rows) => rows.length === 1, () => swept))

    /** Removes the contents that match `condition`, with their chunks. */
    const removeWhere = (tenantId: string, contentIds: ReadonlyArray<string>, condition: string) =>
      sql.bulk(
        `WITH removed AS (
           DELETE FROM ${schema}.document_contents
           WHERE tenant_id = $1 AND content_id = ANY ($2::uuid[]) AND ${condition}
           RETURNING content_id
         )
         DELETE FROM ${schema}.document_chunks AS h USING removed WHERE h.tenant_id = $1 AND h.content_id = removed.content_id`,
        [tenantId, uuidArray(contentIds)]
      )

    const open = Effect.fnUntraced(function*(tenantId: string) {
      const contentId = randomUUID()
      yield* Effect.acquireRelease(
        sql.bulk(`INSERT INTO ${schema}.document_contents (tenant_id, content_id) VALUES ($1, $2::uuid)`, [tenantId, contentId]),
        // a content that cannot be removed now is swept later
        () => Effect.ignore(removeWhere(tenantId, [contentId], "NOT kept"))
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

    return DocumentContents.of({
      open: (tenantId) => StorageError.refail("DocumentContents.open")(open(tenantId)),
      keep: (tenantId, contentIds) =>
        sql.bulk(
          `UPDATE ${schema}.document_contents SET kept = true WHERE tenant_id = $1 AND content_id = ANY ($2::uuid[]) RETURNING content_id`,
          [tenantId, uuidArray(contentIds)],
          ["uuid"]
        ).pipe(
          Effect.filterOrFail((rows) => rows.length === new Set(contentIds).size, () => swept),
          Effect.asVoid, StorageError.refail("DocumentContents.keep")
        ),
      read: (tenantId, contentId, chunk) =>
        !isUuid(contentId) ? Effect.succeed(undefined) : sql.bulk(
          `SELECT h.bytes
           FROM ${schema}.document_contents AS c
           JOIN ${schema}.document_chunks AS h ON h.tenant_id = $1 AND h.content_id = c.content_id AND h.chunk = $3::int4
           WHERE c.tenant_id = $1 AND c.content_id = $2::uuid AND c.kept`,
          [tenantId, contentId, chunk],
          ["bytea"]
        ).pipe(Effect.map(([row]) => row?.[0] as Uint8Array | undefined), StorageError.refail("DocumentContents.read")),
      remove: (tenantId, contentIds) =>
        removeWhere(tenantId, contentIds, "true").pipe(Effect.asVoid, StorageError.refail("DocumentContents.remove")),
      sweep: (tenantId, writtenBefore) =>
        sql.bulk(
          `WITH removed AS (
             DELETE FROM ${schema}.document_contents
             WHERE tenant_id = $1 AND NOT kept AND written_at < ($2::timestamptz[])[1]
             RETURNING content_id
           ),
           chunks AS (
             DELETE FROM ${schema}.document_chunks AS h USING removed WHERE h.tenant_id = $1 AND h.content_id = removed.content_id
           )
           SELECT count(*) AS swept FROM removed`,
          [tenantId, timestamptzArray([writtenBefore])],
          ["int8"]
        ).pipe(Effect.map(([row]) => row![0] as number), StorageError.refail("DocumentContents.sweep"))
    })
  })
)
