/** The store of a schedule: real ports over some adapter, on the world's clock. */
import {
  type AccessStore,
  DeliveryQueue,
  type SecretStore,
  type StorageError,
  type Transaction,
  type TransitEventStore,
  type TransitSubscriptionStore
} from "@waybill/core"
import { type Context, Context as Contexts, Effect, type Exit, Option, Exit as Exits } from "effect"
import * as Clock from "effect/Clock"
import type { LedgerDelivery } from "./Ledger.ts"
import type { World } from "./World.ts"

/** What a schedule needs of an adapter. Its every instant must come from Effect's `Clock`. */
export type SimulatedPorts = Transaction | AccessStore | SecretStore | DeliveryQueue | TransitEventStore | TransitSubscriptionStore

const nanos = (millis: number): bigint => BigInt(Math.floor(millis)) * 1_000_000n

export class SimulatedStore {
  readonly queue: DeliveryQueue["Service"]
  private readonly world: World
  private readonly context: Context.Context<SimulatedPorts>
  private pending: Array<{ readonly tenantId: string; readonly delivery: LedgerDelivery }> = []

  constructor(world: World, ports: Context.Context<SimulatedPorts>) {
    this.world = world
    this.context = Contexts.add(ports, Clock.Clock, storeClock(world)) as Context.Context<SimulatedPorts>
    this.queue = Contexts.get(ports, DeliveryQueue)
  }

  /** Runs one operation now; resolves when it needed to wait. */
  run<A, E>(effect: Effect.Effect<A, E, SimulatedPorts>, then: (exit: Exit.Exit<A, E>) => void): void | Promise<void> {
    const fiber = Effect.runForkWith(this.context)(effect)
    const exit = fiber.pollUnsafe()
    if (exit === undefined) {
      return new Promise((resolve) => {
        fiber.addObserver((late) => {
          then(late)
          resolve(this.settle())
        })
      })
    }
    then(exit)
    return this.settle()
  }

  /** Has the store's own view of these deliveries compared with what it must be, before anything else happens. */
  compare(tenantId: string, deliveries: ReadonlyArray<LedgerDelivery>): void {
    for (const delivery of deliveries) this.pending.push({ tenantId, delivery })
  }

  private settle(): void | Promise<void> {
    const next = this.pending.pop()
    if (next === undefined) return undefined
    const { delivery, tenantId } = next
    return this.run(this.queue.find(tenantId, delivery.id) as Effect.Effect<Effect.Success<ReturnType<DeliveryQueue["Service"]["find"]>>, StorageError>, (exit) => {
      if (!Exits.isSuccess(exit)) return
      const state = Option.getOrUndefined(exit.value)?.state
      if (state !== delivery.state) {
        this.world.violate("A lease that was lost changes nothing, and one that holds everything", `${delivery.id} is ${state} in the store, not ${delivery.state}`)
      }
    })
  }
}

const storeClock = (world: World): Clock.Clock => ({
  currentTimeMillisUnsafe: () => world.storeNow,
  currentTimeMillis: Effect.sync(() => world.storeNow),
  currentTimeNanosUnsafe: () => nanos(world.storeNow),
  currentTimeNanos: Effect.sync(() => nanos(world.storeNow)),
  monotonicTimeNanosUnsafe: () => nanos(world.now),
  monotonicTimeNanos: Effect.sync(() => nanos(world.now)),
  // a store's own sleep is real: schedules wait for it
  sleep: (duration) => Effect.promise(() => new Promise((resolve) => setTimeout(resolve, Number(duration))))
})
