/** A database in memory: transactions are serialised, and undone when they fail. */
import { Context, Effect, Exit, Layer, Semaphore } from "effect"
import * as Clock from "effect/Clock"
import { Journal } from "./Journal.ts"

/** The transaction of a fiber. Fibers forked inside belong to it until it ends. */
class CurrentTransaction extends Context.Reference<{ open: boolean } | undefined>("@waybill/testkit/shared/CurrentTransaction", {
  defaultValue: () => undefined
}) {}

export class MemoryDatabase extends Context.Service<MemoryDatabase, {
  /** The journal of all changes. */
  readonly journal: Journal
  /** Registers how a table removes a tenant; the function returns whether there were rows. */
  readonly onPurge: (forget: (tenantId: string) => boolean) => void
  /** Removes a tenant from every registered table. Cannot be undone. Returns the number of tables with rows of it. */
  readonly purge: (tenantId: string) => number
  /** One store operation: part of the caller's transaction, or its own transaction. `now` is the store's clock. */
  readonly operate: <A>(work: (now: number) => A) => Effect.Effect<A>
  /** Runs operations in one transaction. Inside another transaction it is a savepoint: a failure undoes only this part. */
  readonly transact: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}>()("@waybill/testkit/shared/MemoryDatabase") {
  static readonly layer = Layer.sync(MemoryDatabase, () => {
    const journal = new Journal()
    const forgetters: Array<(tenantId: string) => boolean> = []
    const turn = Semaphore.makeUnsafe(1)

    const undoing = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.suspend(() => {
        const mark = journal.mark
        return Effect.onExit(effect, (exit) =>
          Effect.sync(() => {
            if (Exit.isFailure(exit)) journal.rewindTo(mark)
          }))
      })

    const outermost = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      turn.withPermits(1)(Effect.suspend(() => {
        const transaction = { open: true }
        return undoing(Effect.provideService(effect, CurrentTransaction, transaction)).pipe(
          Effect.onExit(() =>
            Effect.sync(() => {
              transaction.open = false
              journal.forget()
            })
          )
        )
      }))

    return MemoryDatabase.of({
      journal,
      onPurge: (forget) => void forgetters.push(forget),
      purge: (tenantId) => forgetters.filter((forget) => forget(tenantId)).length,
      transact: (effect) => Effect.flatMap(CurrentTransaction, (current) => current?.open === true ? undoing(effect) : outermost(effect)),
      operate: (work) => {
        const operation = Effect.map(Clock.currentTimeMillis, work)
        return Effect.flatMap(CurrentTransaction, (current) => current?.open === true ? undoing(operation) : outermost(operation))
      }
    })
  })
}

/** Registers rows that can remove a tenant, and returns them. */
export const purged = <Rows extends { readonly forgetTenant: (tenantId: string) => boolean }>(
  onPurge: MemoryDatabase["Service"]["onPurge"],
  rows: Rows
): Rows => {
  onPurge((tenantId) => rows.forgetTenant(tenantId))
  return rows
}
