/** Timeouts for the store calls of a worker, because a response after the lease is useless. */
import { Effect } from "effect"
import { StorageError } from "../shared/StorageError.ts"
import type { DeliveryStore } from "./DeliveryStore.ts"

/** Minimum timeout, because a busy store needs time even if leases are short. */
const shortestMillis = 5_000

/**
 * Limits every call to half a lease, so that a renewal after a timed-out call is still in time. Without it, a connection to a
 * vanished server would block the worker forever, and its leases would expire.
 */
export const withTimeouts = (store: DeliveryStore["Service"], leaseMillis: number): DeliveryStore["Service"] => {
  const millis = Math.max(shortestMillis, leaseMillis / 2)
  const inTime = <A>(operation: string, answer: Effect.Effect<A, StorageError>): Effect.Effect<A, StorageError> =>
    Effect.timeoutOrElse(answer, {
      duration: millis,
      orElse: () => Effect.fail(new StorageError({ operation: `DeliveryStore.${operation}`, cause: `No response within ${millis / 1000} seconds.` }))
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
