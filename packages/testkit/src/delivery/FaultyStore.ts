/** A delivery store whose calls can be made to fail, before the write or after it with a lost answer. */
import { StorageError } from "@waybill/core"
import { DeliveryStore } from "@waybill/core/delivery"
import { Context, Effect, Layer } from "effect"

/** Calls of a delivery worker. */
export type StoreCall = keyof DeliveryStore["Service"]

/**
 * - `before`: the store was not reached.
 * - `after`: the store ran the call, but the connection broke before the answer.
 */
export type Fault = "before" | "after"

export class StoreFaults extends Context.Service<StoreFaults, {
  /** Makes this number of calls fail; `Infinity`: all calls until `heal`. */
  readonly break: (call: StoreCall, fault: Fault, times?: number) => Effect.Effect<void>
  readonly heal: Effect.Effect<void>
}>()("@waybill/testkit/delivery/StoreFaults") {}

export const FaultyStore = {
  /** Wraps the store in the context. */
  layer: Layer.effectContext(Effect.gen(function*() {
    const store = yield* DeliveryStore
    const faults = new Map<StoreCall, { readonly fault: Fault; left: number }>()

    const faulty = <Arguments extends ReadonlyArray<unknown>, A>(
      call: StoreCall,
      run: (...given: Arguments) => Effect.Effect<A, StorageError>
    ) =>
    (...given: Arguments): Effect.Effect<A, StorageError> =>
      Effect.suspend(() => {
        const planned = faults.get(call)
        if (planned === undefined || planned.left === 0) return run(...given)
        planned.left -= 1
        const broken = Effect.fail(new StorageError({ operation: `DeliveryStore.${call}`, cause: `connection lost ${planned.fault} the write` }))
        return planned.fault === "before" ? broken : Effect.andThen(run(...given), broken)
      })

    return Context.make(DeliveryStore, {
      renew: faulty("renew", store.renew),
      look: faulty("look", store.look),
      acquire: faulty("acquire", store.acquire),
      load: faulty("load", store.load),
      take: faulty("take", store.take),
      reclaim: faulty("reclaim", store.reclaim),
      settle: faulty("settle", store.settle),
      drop: faulty("drop", store.drop),
      release: faulty("release", store.release)
    }).pipe(Context.add(StoreFaults, {
      break: (call, fault, times = 1) => Effect.sync(() => void faults.set(call, { fault, left: times })),
      heal: Effect.sync(() => faults.clear())
    }))
  }))
}
