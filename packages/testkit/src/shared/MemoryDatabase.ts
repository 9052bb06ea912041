/** A database in memory: transactions run one after the other, and are undone when they fail. */
import { Clock, Context, Effect, Exit, Layer, Semaphore } from "effect"
import { Journal } from "./Journal.ts"

interface Current {
  open: boolean
  /** The callback to run at the commit; `undefined` if it runs at once. */
  readonly atCommit: Array<() => void> | undefined
}

/** The transaction of a fiber. Fibers forked inside belong to it until it ends. */
class CurrentTransaction extends Context.Reference<Current | undefined>("@waybill/testkit/shared/CurrentTransaction", {
  defaultValue: () => undefined
}) {}

/** A transaction that its caller ends. Until then other callers read the state before it, and their writes wait. */
export interface OpenTransaction {
  /** Makes operations of an effect part of the transaction. */
  readonly join: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** The current position, for `rewindTo`. */
  readonly mark: () => number
  /** Undoes all changes since `mark`. */
  readonly rewindTo: (mark: number) => void
  readonly commit: Effect.Effect<void>
  readonly rollback: Effect.Effect<void>
}

export class MemoryDatabase extends Context.Service<MemoryDatabase, {
  /** The journal of all changes. */
  readonly journal: Journal
  /** Registers how a table removes a tenant; the function returns whether there were rows. */
  readonly onPurge: (forget: (tenantId: string) => boolean) => void
  /** Removes a tenant from every registered table. Cannot be undone. Returns the number of tables with rows of it. */
  readonly purge: (tenantId: string) => Effect.Effect<number>
  /** One store operation: part of the caller's transaction, or its own transaction. `now` is the store's clock. */
  readonly operate: <A>(work: (now: number) => A) => Effect.Effect<A>
  /** The same, as its own transaction whose commit does not wait for the disk. */
  readonly operateUnflushed: <A>(work: (now: number) => A) => Effect.Effect<A>
  /** Loses the newest transactions, at most so many, that were committed without waiting for the disk since the last other change, as in a crash of a database. Returns their number. */
  readonly crash: (newest?: number) => Effect.Effect<number>
  /** The open transaction of the caller. */
  readonly current: Effect.Effect<{ readonly open: boolean } | undefined>
  /** Runs operations in one transaction. Inside another transaction it is a savepoint: a failure undoes only this part. */
  readonly transact: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Runs `work` when the caller's transaction of `begin` commits; else at once. */
  readonly atCommit: (work: () => void) => Effect.Effect<void>
  /** Begins a transaction, after those that run. */
  readonly begin: Effect.Effect<OpenTransaction>
  /** Rolls back the open transaction of `begin`, if there is one. */
  readonly abandon: Effect.Effect<void>
}>()("@waybill/testkit/shared/MemoryDatabase") {
  static readonly layer = Layer.sync(MemoryDatabase, () => {
    const journal = new Journal()
    const forgetters: Array<(tenantId: string) => boolean> = []
    const turn = Semaphore.makeUnsafe(1)
    let begun: OpenTransaction | undefined

    const undoing = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.suspend(() => {
        const mark = journal.mark
        return Effect.onExit(effect, (exit) =>
          Effect.sync(() => {
            if (Exit.isFailure(exit)) journal.rewindTo(mark)
          }))
      })

    const outermost = <A, E, R>(effect: Effect.Effect<A, E, R>, isFlushed = true): Effect.Effect<A, E, R> =>
      turn.withPermits(1)(Effect.suspend(() => {
        const transaction: Current = { open: true, atCommit: undefined }
        return undoing(Effect.provideService(effect, CurrentTransaction, transaction)).pipe(
          Effect.onExit(() =>
            Effect.sync(() => {
              transaction.open = false
              journal.forget(isFlushed)
            })
          )
        )
      }))

    const begin = Effect.map(turn.take(1), () => {
      const atCommit: Array<() => void> = []
      const transaction: Current = { open: true, atCommit }
      const end = Effect.suspend(() => {
        if (!transaction.open) return Effect.void
        transaction.open = false
        begun = undefined
        journal.forget()
        for (const work of atCommit) work()
        return turn.release(1)
      })
      begun = {
        join: (effect) => undoing(Effect.provideService(effect, CurrentTransaction, transaction)),
        mark: () => journal.mark,
        rewindTo: (mark) => journal.rewindTo(mark),
        commit: end,
        rollback: Effect.suspend(() => {
          if (transaction.open) journal.rewindTo(0)
          atCommit.length = 0
          return end
        })
      }
      return begun
    })

    return MemoryDatabase.of({
      journal,
      onPurge: (forget) => void forgetters.push(forget),
      purge: (tenantId) => outermost(Effect.sync(() => forgetters.filter((forget) => forget(tenantId)).length)),
      current: CurrentTransaction,
      transact: (effect) => Effect.flatMap(CurrentTransaction, (current) => current?.open === true ? undoing(effect) : outermost(effect)),
      operate: (work) => {
        const operation = Effect.map(Clock.currentTimeMillis, work)
        return Effect.flatMap(CurrentTransaction, (current) => {
          if (current?.open === true) return undoing(operation)
          if (begun === undefined) return outermost(operation)
          return Effect.flatMap(Clock.currentTimeMillis, (now) => {
            const read = journal.readKept(() => work(now))
            return read === undefined ? outermost(operation) : Effect.succeed(read.answer)
          })
        })
      },
      operateUnflushed: (work) => outermost(Effect.map(Clock.currentTimeMillis, work), false),
      crash: (newest) => turn.withPermits(1)(Effect.sync(() => journal.lose(newest))),
      atCommit: (work) => Effect.map(CurrentTransaction, (current) => void (current?.open === true && current.atCommit !== undefined ? current.atCommit.push(work) : work())),
      begin,
      abandon: Effect.suspend(() => begun?.rollback ?? Effect.void)
    })
  })
}
