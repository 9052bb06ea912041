/** A delivery queue whose calls can be made to fail, before the write or after it with a lost answer. */
import { DeliveryQueue, StorageError } from "@waybill/core"
import { Context, Effect, Layer } from "effect"

/** Calls a worker makes. */
export type QueueCall = "tenantsDue" | "claim" | "freeze" | "settle" | "heartbeat"

/**
 * - `before`: the store was not reached.
 * - `after`: the store ran the call, but the connection broke before the answer.
 */
export type Fault = "before" | "after"

export class QueueFaults extends Context.Service<QueueFaults, {
  /** Makes this number of calls fail; `Infinity`: all calls until `heal`. */
  readonly break: (call: QueueCall, fault: Fault, times?: number) => Effect.Effect<void>
  readonly heal: Effect.Effect<void>
}>()("@waybill/testkit/delivery/QueueFaults") {}

export const FaultyQueue = {
  /** Wraps the queue in the context. */
  layer: Layer.effectContext(Effect.gen(function*() {
    const queue = yield* DeliveryQueue
    const faults = new Map<QueueCall, { readonly fault: Fault; left: number }>()

    const faulty = <A>(call: QueueCall, effect: Effect.Effect<A, StorageError>): Effect.Effect<A, StorageError> =>
      Effect.suspend(() => {
        const planned = faults.get(call)
        if (planned === undefined || planned.left === 0) return effect
        planned.left -= 1
        const broken = Effect.fail(new StorageError({ operation: `DeliveryQueue.${call}`, cause: `connection lost ${planned.fault} the write` }))
        return planned.fault === "before" ? broken : Effect.andThen(effect, broken)
      })

    return Context.make(DeliveryQueue, {
      ...queue,
      tenantsDue: (limit) => faulty("tenantsDue", queue.tenantsDue(limit)),
      claim: (request) => faulty("claim", queue.claim(request)),
      freeze: (tenantId, destinations) => faulty("freeze", queue.freeze(tenantId, destinations)),
      settle: (tenantId, outcomes) => faulty("settle", queue.settle(tenantId, outcomes)),
      heartbeat: (tenantId, leases, leaseMillis) => faulty("heartbeat", queue.heartbeat(tenantId, leases, leaseMillis))
    }).pipe(Context.add(QueueFaults, {
      break: (call, fault, times = 1) => Effect.sync(() => void faults.set(call, { fault, left: times })),
      heal: Effect.sync(() => faults.clear())
    }))
  }))
}
