/** The store as a worker asks it: an answer that comes when leases have run out is none. */
import { Effect } from "effect"
import { StorageError } from "../shared/StorageError.ts"
import type { DeliveryStore } from "./DeliveryStore.ts"

/** A store that takes this long is busy, not gone, however short the leases are. */
const shortestMillis = 5_000

/**
 * Gives every call of a worker half a lease: a renewal still comes in time behind one that was given up. Without that, a
 * connection whose other end is gone without a word would keep a worker waiting for ever, with leases it cannot renew.
 */
export const answeringInTime = (store: DeliveryStore["Service"], leaseMillis: number): DeliveryStore["Service"] => {
  const millis = Math.max(shortestMillis, leaseMillis / 2)
  const inTime = <A>(operation: string, answer: Effect.Effect<A, StorageError>): Effect.Effect<A, StorageError> =>
    Effect.timeoutOrElse(answer, {
      duration: millis,
      orElse: () => Effect.fail(new StorageError({ operation: `DeliveryStore.${operation}`, cause: `No answer came in ${millis / 1000} seconds.` }))
    })
  return {
    renew: (worker) => inTime("renew", store.renew(worker)),
    look: (workerId, limit) => inTime("look", store.look(workerId, limit)),
    acquire: (worker, tenantId, partitions) => inTime("acquire", store.acquire(worker, tenantId, partitions)),
    load: (tenantId, destinationIds) => inTime("load", store.load(tenantId, destinationIds)),
    take: (request) => inTime("take", store.take(request)),
    reclaim: (tenantId, owned, flight) => inTime("reclaim", store.reclaim(tenantId, owned, flight)),
    settle: (request) => inTime("settle", store.settle(request)),
    drop: (request) => inTime("drop", store.drop(request)),
    release: (tenantId, partitions, rateMarks) => inTime("release", store.release(tenantId, partitions, rateMarks))
  }
}
