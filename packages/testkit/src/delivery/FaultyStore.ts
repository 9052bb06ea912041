/** A delivery store whose calls can be made to fail, before the write or after it with a lost answer. */
import { StorageError } from "@waybill/core"
import { DeliveryStore, wrapCalls } from "@waybill/core/delivery"
import { Context, Effect, Layer } from "effect"

/** Calls of a delivery worker. */
export type StoreCall = keyof DeliveryStore["Service"]

/**
 * - `before`: the store was not reached.
 * - `after`: the store ran the call, but the connection broke before the answer.
 */
export type Fault = "before" | "after"

/** Makes calls of the delivery store fail. */
export class StoreFaults extends Context.Service<StoreFaults, {
  /** Makes this number of calls fail; `Infinity`: all calls until `heal`. */
  readonly break: (call: StoreCall, fault: Fault, times?: number) => Effect.Effect<void>
  readonly heal: Effect.Effect<void>
}>()("@waybill/testkit/delivery/StoreFaults") {}

/** A delivery store whose calls fail as `StoreFaults` says. */
export const FaultyStore = {
  /** Wraps the store in the context. */
  layer: Layer.effectContext(Effect.gen(function*() {
    const store = yield* DeliveryStore
    const faults = new Map<StoreCall, { readonly fault: Fault; left: number }>()

    const faulty = wrapCalls(store, (call, answer) =>
      Effect.suspend(() => {
        const planned = faults.get(call)
        if (planned === undefined || planned.left === 0) return answer
        planned.left -= 1
        const broken = Effect.fail(new StorageError({ operation: `DeliveryStore.${call}`, cause: `connection lost ${planned.fault} the write` }))
        return planned.fault === "before" ? broken : Effect.andThen(answer, broken)
      }))

    return Context.make(DeliveryStore, faulty).pipe(Context.add(StoreFaults, {
      break: (call, fault, times = 1) => Effect.sync(() => void faults.set(call, { fault, left: times })),
      heal: Effect.sync(() => faults.clear())
    }))
  }))
}
