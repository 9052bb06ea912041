/** Keeps document contents in an external store (directory, S3) consistent with database transactions, as far as possible. */
import { HostTransaction, LineLimiter, StorageError, Transaction } from "@waybill/core"
import { DocumentContents } from "@waybill/core/invoices"
import { Context, Effect, Exit, Layer } from "effect"
import { randomUUID } from "node:crypto"

/** Only such ids may become part of a path or a key. */
export const isContentId = (contentId: string): boolean => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(contentId)

/** Bytes per read. */
export const chunkBytes = 256 * 1024

/** A call of the store, which is named in its failure. `signal` aborts when the call is interrupted. */
export const attempt = <A>(operation: string, call: (signal: AbortSignal) => Promise<A>): Effect.Effect<A, StorageError> =>
  Effect.tryPromise({ try: call, catch: (cause) => new StorageError({ operation: `DocumentContents.${operation}`, cause }) })

/** `keep` was called for a content that its tenant has not written, or that was removed. */
export const contentNotThere = (contentId: string) =>
  Effect.fail(new StorageError({ operation: "DocumentContents.keep", cause: new Error(`Content ${contentId} is not there.`) }))

/** Contents that were stored or deleted in this fiber's transaction. */
interface PendingChanges {
  isWorkDone: boolean
  readonly kept: Array<TenantContents>
  readonly removed: Array<TenantContents>
}

interface TenantContents {
  readonly tenantId: string
  readonly contentIds: ReadonlyArray<string>
}

/**
 * If the work of the transaction fails, the contents that it stored are deleted. If the transaction succeeds, the contents that it removed are deleted.
 * A crash in between leaves unused bytes, never a document without its bytes. So does a failure after the work: the transaction may have committed.
 */
export const externalDocumentContents = <E, R>(
  contents: Layer.Layer<DocumentContents, E, R>
): Layer.Layer<DocumentContents | Transaction, E, R | Transaction> => Layer.provide(transactional, contents)

const transactional = Layer.effectContext(Effect.gen(function*() {
  const external = yield* DocumentContents
  const database = yield* Transaction
  const lines = new LineLimiter()
  // of this store alone: a process may have two
  const CurrentTransaction = Context.Reference<PendingChanges | undefined>(`@waybill/http/invoices/ExternalDocumentContents/${randomUUID()}`, {
    defaultValue: () => undefined
  })

  const removeAll = (named: ReadonlyArray<TenantContents>) =>
    Effect.forEach(named, ({ contentIds, tenantId }) =>
      Effect.catch(external.remove(tenantId, contentIds), (error) =>
        lines.log("Document contents not deleted", Effect.logWarning("Document contents not deleted, unused bytes remain in the store.", error))), { discard: true })

  const complete = (pending: PendingChanges, outer: PendingChanges | undefined, exit: Exit.Exit<unknown, unknown>) =>
    Effect.flatMap(HostTransaction, (host) => {
      if (!pending.isWorkDone) return removeAll(pending.kept)
      outer?.kept.push(...pending.kept)
      // the answer to the commit was lost, or the caller left meanwhile
      if (Exit.isFailure(exit)) return Effect.void
      outer?.removed.push(...pending.removed)
      // in a host's transaction the outcome is unknown here: keep unused bytes rather than lose bytes of a document
      return outer === undefined && host === undefined ? removeAll(pending.removed) : Effect.void
    })

  const transaction = Transaction.of({
    handle: database.handle,
    run: (effect) =>
      Effect.flatMap(CurrentTransaction, (outer) => {
        const pending: PendingChanges = { isWorkDone: false, kept: [], removed: [] }
        const work = Effect.tap(Effect.provideService(effect, CurrentTransaction, pending), () => Effect.sync(() => void (pending.isWorkDone = true)))
        return Effect.onExit(database.run(work), (exit) => complete(pending, outer, exit))
      })
  })

  const transactionalContents = DocumentContents.of({
    ...external,
    keep: (tenantId, contentIds) =>
      Effect.flatMap(CurrentTransaction, (pending) => {
        // Recorded first, because keeping may fail half way.
        pending?.kept.push({ tenantId, contentIds })
        return external.keep(tenantId, contentIds)
      }),
    remove: (tenantId, contentIds) =>
      Effect.flatMap(CurrentTransaction, (pending) =>
        pending === undefined
          ? external.remove(tenantId, contentIds)
          : Effect.sync(() => void pending.removed.push({ tenantId, contentIds })))
  })

  return Context.make(DocumentContents, transactionalContents).pipe(Context.add(Transaction, transaction))
}))
