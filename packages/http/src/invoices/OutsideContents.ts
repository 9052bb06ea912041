/** Makes document contents outside of the database follow its transactions, as far as possible. */
import { DocumentContents, Transaction } from "@waybill/core"
import { Context, Effect, Exit, Layer } from "effect"

/** Changes of contents in this fiber's transaction. */
interface Pending {
  readonly kept: Array<Named>
  readonly removed: Array<Named>
}

interface Named {
  readonly tenantId: string
  readonly contentIds: ReadonlyArray<string>
}

class CurrentTransaction extends Context.Reference<Pending | undefined>("@waybill/http/invoices/OutsideContents/CurrentTransaction", {
  defaultValue: () => undefined
}) {}

/**
 * Whether the host holds the transaction. Its outcome is unknown here, so contents removed in it are not deleted:
 * unused bytes are better than documents without bytes.
 */
export class HeldByHost extends Context.Reference<boolean>("@waybill/http/invoices/OutsideContents/HeldByHost", { defaultValue: () => false }) {}

/**
 * Contents that were kept are deleted again when the transaction fails; removed contents are deleted after it succeeds.
 * A crash in between leaves unused bytes, never a document without its bytes.
 */
export const outsideOfTransactions = <E, R>(
  contents: Layer.Layer<DocumentContents, E, R>
): Layer.Layer<DocumentContents | Transaction, E, R | Transaction> => Layer.provide(follow, contents)

const follow = Layer.effectContext(Effect.gen(function*() {
  const outside = yield* DocumentContents
  const inside = yield* Transaction

  const removeAll = (named: ReadonlyArray<Named>) =>
    Effect.forEach(named, ({ contentIds, tenantId }) =>
      Effect.catch(outside.remove(tenantId, contentIds), (error) => Effect.logWarning("Document contents not deleted, unused bytes remain in the store.", error)), { discard: true })

  const conclude = (pending: Pending, outer: Pending | undefined, exit: Exit.Exit<unknown, unknown>) =>
    Effect.flatMap(HeldByHost, (held) => {
      if (Exit.isFailure(exit)) return removeAll(pending.kept)
      outer?.kept.push(...pending.kept)
      outer?.removed.push(...pending.removed)
      return outer === undefined && !held ? removeAll(pending.removed) : Effect.void
    })

  const transaction = Transaction.of({
    run: (effect) =>
      Effect.flatMap(CurrentTransaction, (outer) => {
        const pending: Pending = { kept: [], removed: [] }
        return Effect.onExit(inside.run(Effect.provideService(effect, CurrentTransaction, pending)), (exit) => conclude(pending, outer, exit))
      })
  })

  const following = DocumentContents.of({
    ...outside,
    keep: (tenantId, contentIds) =>
      Effect.flatMap(CurrentTransaction, (pending) => {
        // Recorded first, because keeping may fail half way.
        pending?.kept.push({ tenantId, contentIds })
        return outside.keep(tenantId, contentIds)
      }),
    remove: (tenantId, contentIds) =>
      Effect.flatMap(CurrentTransaction, (pending) =>
        pending === undefined
          ? outside.remove(tenantId, contentIds)
          : Effect.sync(() => void pending.removed.push({ tenantId, contentIds })))
  })

  return Context.make(DocumentContents, following).pipe(Context.add(Transaction, transaction))
}))
