/** Lookups that come together are answered together: one statement for all that wait, instead of one each. */
import { Deferred, Effect, Exit } from "effect"
import type { StorageError } from "../shared/StorageError.ts"
import type { ShipmentStatusStore, StatusFound, StatusLookup } from "./ShipmentStatusStore.ts"

/** Statements of one tenant under way at the same time; what comes meanwhile gathers for the next. */
const maxUnderWay = 4

const maxLookupsPerStatement = 512

interface Waiting {
  readonly lookup: StatusLookup
  readonly found: Deferred.Deferred<StatusFound | undefined, StorageError>
}

interface TenantQueue {
  readonly waiting: Array<Waiting>
  underWay: number
}

export type FindOne = (tenantId: string, lookup: StatusLookup) => Effect.Effect<StatusFound | undefined, StorageError>

/** Statements run in fibers of their own, never in a caller's: one caller's transaction or interruption is nobody else's. */
export const lookupBatches = (store: ShipmentStatusStore["Service"]): Effect.Effect<FindOne> =>
  Effect.map(Effect.context<never>(), (context) => {
    const fork = Effect.runForkWith(context)
    const queues = new Map<string, TenantQueue>()

    const answer = Effect.fnUntraced(function*(tenantId: string, batch: ReadonlyArray<Waiting>) {
      const exit = yield* Effect.exit(store.find(tenantId, batch.map((each) => each.lookup)))
      batch.forEach(({ found }, at) => Deferred.doneUnsafe(found, Exit.map(exit, (answers) => answers[at])))
    })

    const drain = Effect.fnUntraced(function*(tenantId: string, queue: TenantQueue) {
      // whoever asks within this turn of the loop goes along
      yield* Effect.yieldNow
      while (queue.waiting.length > 0) yield* answer(tenantId, queue.waiting.splice(0, maxLookupsPerStatement))
      queue.underWay -= 1
      if (queue.underWay === 0) queues.delete(tenantId)
    })

    return (tenantId, lookup) =>
      Effect.suspend(() => {
        const found = Deferred.makeUnsafe<StatusFound | undefined, StorageError>()
        const queue = queues.get(tenantId) ?? { waiting: [], underWay: 0 }
        queues.set(tenantId, queue)
        queue.waiting.push({ lookup, found })
        // with nothing under way it starts at once; beside others only when more has gathered meanwhile
        if (queue.underWay === 0 || (queue.underWay < maxUnderWay && queue.waiting.length > 1)) {
          queue.underWay += 1
          fork(drain(tenantId, queue))
        }
        return Deferred.await(found)
      })
  })
