/** The queue as a worker asks it: an answer that comes when leases have run out is none. */
import { Effect } from "effect"
import { StorageError } from "../shared/StorageError.ts"
import type { DeliveryQueue } from "./DeliveryQueue.ts"

/** A store that takes this long is busy, not gone, however short the leases are. */
const shortestMillis = 5_000

/**
 * Gives every call of a worker half a lease: a heartbeat still comes in time behind one that was given up. Without that, a
 * connection whose other end is gone without a word would keep a worker waiting for ever, with leases it cannot renew.
 */
export const answeringInTime = (queue: DeliveryQueue["Service"], leaseMillis: number): DeliveryQueue["Service"] => {
  const millis = Math.max(shortestMillis, leaseMillis / 2)
  const inTime = <A>(operation: string, answer: Effect.Effect<A, StorageError>): Effect.Effect<A, StorageError> =>
    Effect.timeoutOrElse(answer, {
      duration: millis,
      orElse: () => Effect.fail(new StorageError({ operation: `DeliveryQueue.${operation}`, cause: `No answer came in ${millis / 1000} seconds.` }))
    })
  return {
    ...queue,
    tenantsDue: (limit) => inTime("tenantsDue", queue.tenantsDue(limit)),
    claim: (request) => inTime("claim", queue.claim(request)),
    freeze: (tenantId, destinations) => inTime("freeze", queue.freeze(tenantId, destinations)),
    settle: (tenantId, outcomes) => inTime("settle", queue.settle(tenantId, outcomes)),
    heartbeat: (tenantId, leases, leaseMillis) => inTime("heartbeat", queue.heartbeat(tenantId, leases, leaseMillis))
  }
}
