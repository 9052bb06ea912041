/** Contents of documents in memory. */
import { StorageError } from "@waybill/core"
import { type ContentWriter, DocumentContents } from "@waybill/core/invoices"
import { Effect } from "effect"
import { storeLayer } from "../shared/StoreLayer.ts"
import { type ContentRow, InvoiceTables } from "./InvoiceTables.ts"

const chunkBytes = 64 * 1024

export const layer = storeLayer(DocumentContents, { rows: InvoiceTables }, ({ journal, operate, rows }) => {
  const drop = (tenantId: string, contentId: string, keptToo: boolean): number => {
    const { contents } = rows.of(tenantId)
    const row = contents.get(contentId)
    if (row === undefined || (row.kept && !keptToo)) return 0
    journal.drop(contents, contentId)
    return 1
  }

  const open = Effect.fnUntraced(function*(tenantId: string) {
    const contentId = globalThis.crypto.randomUUID()
    const row = yield* Effect.acquireRelease(
      operate((now): ContentRow => {
        const opened: ContentRow = { chunks: [], kept: false, writtenAt: now }
        journal.put(rows.of(tenantId).contents, contentId, opened)
        return opened
      }),
      () => operate(() => drop(tenantId, contentId, false))
    )
    // it is invisible until it is kept, so a rollback has nothing to undo
    const buffer = new Uint8Array(chunkBytes)
    let length = 0
    const flush = (): void => {
      if (length > 0) row.chunks.push(buffer.slice(0, length))
      length = 0
    }
    const write = (bytes: Uint8Array): void => {
      for (let from = 0; from < bytes.length;) {
        const part = bytes.subarray(from, from + chunkBytes - length)
        buffer.set(part, length)
        length += part.length
        from += part.length
        if (length === chunkBytes) flush()
      }
    }
    return { contentId, write: (chunk) => Effect.sync(() => write(chunk)), finish: Effect.sync(flush) } satisfies ContentWriter
  })

  return {
    open,
    keep: (tenantId, contentIds) =>
      operate(() => {
        const { contents } = rows.of(tenantId)
        for (const contentId of contentIds) {
          const row = contents.get(contentId)
          if (row === undefined) throw new Error(`Content ${contentId} is no longer there.`)
          journal.set(row, "kept", true)
        }
      }).pipe(Effect.catchDefect((cause) => Effect.fail(new StorageError({ operation: "DocumentContents.keep", cause })))),
    read: (tenantId, contentId, chunk) =>
      operate(() => {
        const row = rows.of(tenantId).contents.get(contentId)
        return row?.kept === true ? row.chunks[chunk] : undefined
      }),
    remove: (tenantId, contentIds) =>
      operate(() => {
        for (const contentId of contentIds) drop(tenantId, contentId, true)
      }),
    sweep: (tenantId, writtenBefore) =>
      operate(() => {
        const old = [...rows.of(tenantId).contents].filter(([, row]) => !row.kept && row.writtenAt < writtenBefore)
        return old.reduce((swept, [contentId]) => swept + drop(tenantId, contentId, false), 0)
      })
  }
})
