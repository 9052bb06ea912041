/** Removes a deleted tenant: marks it first, so that its calls are refused and nothing is sent, then deletes its data in background steps. */
import { Clock, Context, Effect, Layer } from "effect"
import { TenantNotFound } from "../access/AccessErrors.ts"
import { AccessStore } from "../access/AccessStore.ts"
import { DocumentContents } from "../invoices/DocumentContents.ts"
import { DocumentStore } from "../invoices/DocumentStore.ts"
import type { StorageError } from "../shared/StoragePort.ts"
import { TenantSweep } from "../shared/TenantSweep.ts"

const sweepMillis = 15_000

/** Rows per statement. */
const stepSize = 1_000

const noFilter = { documentTypes: undefined, dot: undefined, invoiceNumber: undefined, mc: undefined }

/** Records whose documents a step removes. Their contents may be in a store that takes a second for each. */
const recordsPerStep = 10

/** Former contents of moved documents that a step removes. */
const contentsPerStep = 100

/** How long a deleted tenant's id stays reserved, because calls and transactions that began before the deletion may still write. */
const graceMillis = 60_000

/** Deletes tenants: at once for callers, their data in the background. */
export class TenantRemoval extends Context.Service<TenantRemoval, {
  /** Refuses the tenant's calls like those of an unknown tenant, and stops sending. Background work deletes its data. */
  readonly remove: (tenantId: string) => Effect.Effect<void, TenantNotFound | StorageError>
  /** Deletes data of deleted tenants. Returns the number of tenants that are completely removed. */
  readonly sweep: Effect.Effect<number, StorageError>
  /** Sweeps until interrupted. */
  readonly run: Effect.Effect<never>
}>()("@waybill/core/operator/TenantRemoval") {
  static readonly layer = Layer.effect(TenantRemoval, Effect.gen(function*() {
    const access = yield* AccessStore
    const documents = yield* DocumentStore
    const contents = yield* DocumentContents

    /** Deletes contents before their records: without a record, a content cannot be found. Returns whether there were any records. */
    const removeDocuments = Effect.fnUntraced(function*(tenantId: string) {
      const records = yield* documents.list(tenantId, { _tag: "All" }, noFilter, { after: undefined, limit: recordsPerStep })
      for (const { carrier, files, invoiceNumber } of records) {
        yield* contents.remove(tenantId, files.map(({ contentId }) => contentId))
        yield* documents.remove(tenantId, carrier, invoiceNumber, files.map(({ fileId }) => fileId))
      }
      return records.length > 0
    })

    /** Removes what a move of documents has left behind. Returns whether there was any. */
    const removeDiscarded = Effect.fnUntraced(function*(tenantId: string) {
      const contentIds = yield* documents.claimDiscarded(tenantId, 0, contentsPerStep)
      yield* contents.remove(tenantId, contentIds)
      yield* documents.forgetDiscarded(tenantId, contentIds)
      return contentIds.length > 0
    })

    /** Tenants whose documents are removed, and whose other data is being removed. */
    const withoutDocuments = new Set<string>()

    const step = Effect.fnUntraced(function*(tenantId: string) {
      if (!withoutDocuments.has(tenantId)) {
        if ((yield* removeDocuments(tenantId)) || (yield* removeDiscarded(tenantId))) return { done: 0, more: true }
        if ((yield* contents.sweep(tenantId, yield* Clock.currentTimeMillis)) > 0) return { done: 0, more: true }
        withoutDocuments.add(tenantId)
      }
      if ((yield* access.purgeTenant(tenantId, stepSize)) > 0) return { done: 0, more: true }
      // calls that began before the deletion may have written others
      withoutDocuments.delete(tenantId)
      return { done: (yield* access.dropTenant(tenantId, graceMillis)) ? 1 : 0, more: false }
    })

    const sweep = new TenantSweep("Tenant not removed", { tenants: access.deletedTenants, step, stepMillis: 60_000 })

    return TenantRemoval.of({
      remove: Effect.fn("TenantRemoval.remove")(function*(tenantId: string) {
        if (!(yield* access.deleteTenant(tenantId))) return yield* new TenantNotFound({ tenantId })
      }),
      sweep: Effect.withSpan(sweep.sweep, "TenantRemoval.sweep"),
      run: sweep.run(Effect.succeed(sweepMillis))
    })
  }))
}
