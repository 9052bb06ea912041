/** Moves the documents of every tenant from the second place to the first, with the settings of this process. */
import { Tenants } from "@waybill/core"
import { DocumentContents, makeDocumentMove, type MovedFile, type DocumentMoveOutcome } from "@waybill/core/invoices"
import { ContentHashNode } from "@waybill/http"
import { StoragePostgres } from "@waybill/postgres"
import { Context, Effect, Layer } from "effect"
import type { ServerConfig } from "../../config/ServerConfig.ts"
import type { DocumentsPlace } from "../../config/Variables.ts"
import { openDatabase, poolLayer } from "../../database/Database.ts"
import { placeLayer } from "../../serve/Documents.ts"

export interface MoveTotals extends Readonly<Record<DocumentMoveOutcome, number>> {
  /** Of moved files. */
  readonly bytes: number
  /** Former contents that are not removed yet. */
  readonly left: number
}

interface MoveProgress extends MovedFile {
  readonly tenantId: string
  /** Files that were looked at, this one included, of so many. */
  readonly done: number
  readonly of: number
}

const none: MoveTotals = { moved: 0, there: 0, deleted: 0, missing: 0, damaged: 0, bytes: 0, left: 0 }

/** `olderThanMillis`: former contents are removed when they were moved so long ago. */
export const moveDocuments = Effect.fnUntraced(function*(
  config: ServerConfig,
  from: DocumentsPlace,
  olderThanMillis: number,
  report: (progress: MoveProgress) => Effect.Effect<void>
) {
  const url = yield* openDatabase(config)
  const storage = StoragePostgres.layer({ schema: config.schema, migrate: false, listen: false }).pipe(Layer.provide(poolLayer(config, url)))
  const contentsIn = (place: DocumentsPlace) => Effect.map(Layer.build(placeLayer(place, config.s3Endpoint)), Context.get(DocumentContents))
  return yield* Effect.gen(function*() {
    const move = yield* makeDocumentMove({ source: yield* contentsIn(from), target: yield* contentsIn(config.documents) })
    const tenants = yield* (yield* Tenants).list
    const counts = yield* Effect.forEach(tenants, ({ tenantId }) => move.count(tenantId))
    const of = counts.reduce((sum, count) => sum + count, 0)
    let done = 0
    let totals = none
    for (const { tenantId } of tenants) {
      yield* move.files(tenantId, (moved) => {
        const { file: { size }, outcome } = moved
        done += 1
        totals = { ...totals, [outcome]: totals[outcome] + 1, bytes: totals.bytes + (outcome === "moved" ? size : 0) }
        return report({ ...moved, tenantId, done, of: Math.max(of, done) })
      })
      totals = { ...totals, left: totals.left + (yield* move.clear(tenantId, olderThanMillis)) }
    }
    return totals
  }).pipe(Effect.provide(Tenants.layer.pipe(Layer.provideMerge(Layer.merge(storage, ContentHashNode.layer)))))
})
