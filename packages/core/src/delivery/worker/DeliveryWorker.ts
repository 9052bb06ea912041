/** Delivers waiting entries. Any number of workers share the partitions. */
import { Context, Effect, Layer } from "effect"
import type { StorageError } from "../../shared/StoragePort.ts"
import { UniqueIds } from "../../shared/UniqueIds.ts"
import { DeliveryOptions } from "../DeliveryOptions.ts"
import { DeliveryEngine } from "./DeliveryEngine.ts"
import { DeliveryStore } from "../DeliveryStore.ts"
import { Hmac } from "../secrets/Hmac.ts"
import { Sealer } from "../secrets/Sealer.ts"
import { makeSigningKeys } from "../secrets/SigningKeys.ts"
import { AttemptObserver } from "../statistics/StatisticsRecorder.ts"
import { Wakeups } from "../Wakeups.ts"
import { WebhookSender } from "../WebhookSender.ts"

/** The delivery worker of this process. */
export class DeliveryWorker extends Context.Service<DeliveryWorker, {
  /**
   * Delivers until interrupted. Then takes nothing more, waits up to `drainMillis` for attempts in flight, writes their
   * outcomes, releases its partitions and ends.
   */
  readonly run: Effect.Effect<void>
  /**
   * Sends due deliveries and returns the number of attempts; for cron, serverless and tests. Fails with the first failure of a tenant, after the others were served. For outcomes of a
   * destination that another transaction has locked, it waits up to `drainMillis`. Without them the next call sends their deliveries again.
   */
  readonly drain: Effect.Effect<number, StorageError>
  /** Like `drain`, but after so many milliseconds it takes no more and ends, as `run` does when it is interrupted. */
  readonly drainFor: (millis: number) => Effect.Effect<number, StorageError>
}>()("@waybill/core/delivery/DeliveryWorker") {
  static readonly layer = Layer.effect(DeliveryWorker, Effect.gen(function*() {
    const { flush, observe } = yield* AttemptObserver
    const services = {
      store: yield* DeliveryStore,
      sender: yield* WebhookSender,
      hmac: yield* Hmac,
      wakeups: yield* Wakeups,
      ids: yield* UniqueIds,
      options: yield* DeliveryOptions,
      keysOf: makeSigningKeys(yield* Sealer),
      observe
    }
    const engine = Effect.zipWith(services.ids.next, Effect.context<never>(), (workerId, context) => new DeliveryEngine(services, workerId, context))
    // the process may be frozen or ended after a drain, so nothing may be left in memory
    const drainFor = (millis: number) => Effect.tap(Effect.flatMap(engine, (worker) => worker.drain(millis)), () => flush)
    return DeliveryWorker.of({ run: Effect.flatMap(engine, ({ run }) => run), drain: drainFor(Infinity), drainFor })
  }))
}
