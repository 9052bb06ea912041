/** Removes a deleted tenant: marks it first, so that its calls are refused and nothing is sent, then deletes its data in background steps. */
import { Context, Effect, Layer } from "effect"
import * as Clock from "effect/Clock"
import { TenantNotFound } from "../access/AccessErrors.ts"
import { AccessStore } from "../access/AccessStore.ts"
import { DocumentContents } from "../invoices/DocumentContents.ts"
import { DocumentStore } from "../invoices/DocumentStore.ts"
import type { StorageError } from "../shared/StorageError.ts"
import { sweepEvery } from "../shared/Sweeps.ts"

const sweepMillis = 15_000

/** Rows per statement. */
const stepSize = 1_000

const noFilter = { documentTypes: undefined, dot: undefined, invoiceNumber: undefined, mc: undefined }

const recordsPerStep = 100

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
  static readonly layer = Layer.effect(
    TenantRemoval,
    Effect.gen(function*() {
      const access = yield* AccessStore
      const documents = yield* DocumentStore
      const contents = yield* DocumentContents

      /** Deletes contents before their records: without a record, a content cannot be found. */
      const removeDocuments = Effect.fnUntraced(function*(tenantId: string) {
        for (;;) {
          const records = yield* documents.list(tenantId, { _tag: "All" }, noFilter, { after: undefined, limit: recordsPerStep })
          if (records.length === 0) break
          for (const { carrier, files, invoiceNumber } of records) {
            yield* contents.remove(tenantId, files.map(({ contentId }) => contentId))
            yield* documents.remove(tenantId, carrier, invoiceNumber, files.map(({ fileId }) => fileId))
          }
          yield* Effect.yieldNow
        }
        yield* contents.sweep(tenantId, yield* Clock.currentTimeMillis)
      })

      const sweepTenant = Effect.fnUntraced(function*(tenantId: string) {
        yield* removeDocuments(tenantId)
        while ((yield* access.purgeTenant(tenantId, stepSize)) > 0) yield* Effect.yieldNow
        return yield* access.dropTenant(tenantId, graceMillis)
      })

      const sweep = Effect.gen(function*() {
        const completed = yield* Effect.forEach(yield* access.deletedTenants, sweepTenant)
        return completed.filter(Boolean).length
      }).pipe(Effect.withSpan("TenantRemoval.sweep"))

      return TenantRemoval.of({
        remove: Effect.fn("TenantRemoval.remove")(function*(tenantId: string) {
          if (!(yield* access.deleteTenant(tenantId))) return yield* new TenantNotFound({ tenantId })
        }),
        sweep,
        run: sweepEvery(sweepMillis, sweep, "Tenant removal failed. The next sweep tries again.")
      })
    })
  )
}
