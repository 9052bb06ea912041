/** The store of a schedule: real ports over some adapter, on the world's clock. */
import {
  type AccessStore,
  type DeliveryControl,
  DeliveryQueue,
  type SecretStore,
  type StorageError,
  type Transaction,
  type TransitEventStore,
  type TransitSubscriptionStore
} from "@waybill/core"
import { type Context, Context as Contexts, Effect, type Exit, Option, Exit as Exits } from "effect"
import * as Clock from "effect/Clock"
import type { LedgerDelivery, LedgerLane } from "./Ledger.ts"
import type { SimulationContext } from "./SimulationContext.ts"

/** What a schedule needs of an adapter. Its every instant must come from Effect's `Clock`. */
export type SimulatedPorts = Transaction | AccessStore | SecretStore | DeliveryQueue | DeliveryControl | TransitEventStore | TransitSubscriptionStore

const nanos = (millis: number): bigint => BigInt(Math.floor(millis)) * 1_000_000n

export class SimulatedStore {
  readonly queue: DeliveryQueue["Service"]
  private readonly simulation: SimulationContext
  private readonly context: Context.Context<SimulatedPorts>
  /** Questions to the store before anything else happens. */
  private readonly pending: Array<() => void | Promise<void>> = []

  constructor(simulation: SimulationContext, ports: Context.Context<SimulatedPorts>) {
    this.simulation = simulation
    this.context = Contexts.add(ports, Clock.Clock, storeClock(simulation)) as Context.Context<SimulatedPorts>
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
    for (const delivery of deliveries) {
      this.ask(this.queue.find(tenantId, delivery.id), (found) => {
        const state = Option.getOrUndefined(found)?.state
        if (state !== delivery.state) {
          this.simulation.violate("A lease that was lost changes nothing, and one that holds everything", `${delivery.id} is ${state} in the store, not ${delivery.state}`)
        }
      })
    }
  }

  /** Has the store's own view of a lane's state compared with what it must be. */
  compareLane(lane: LedgerLane): void {
    this.ask(this.queue.laneStatus(lane.tenantId, lane.laneId), (found) => {
      const status = Option.getOrUndefined(found)
      if (status?.state !== lane.state || status.pausedBy !== lane.pausedBy) {
        this.simulation.violate("A lane is in the state that its owner, the engine and operators gave it", `${lane.name} is ${status?.state} by ${status?.pausedBy}, not ${lane.state} by ${lane.pausedBy}`)
      }
    })
  }

  /** Has the store asked whose turn it is. A lane of this tenant was given back, and something of it could be sent. */
  expectDue(tenantId: string, lanes: ReadonlyArray<LedgerLane>): void {
    if (lanes.length === 0) return
    this.ask(this.queue.tenantsDue(Number.MAX_SAFE_INTEGER), ({ arrived, due }) => {
      if (!due.includes(tenantId) && !arrived.includes(tenantId)) {
        this.simulation.violate("A lane that is given back with something to send has its turn at once", lanes.map(({ name }) => name).join(", "))
      }
    })
  }

  private ask<A>(question: Effect.Effect<A, StorageError>, then: (answer: A) => void): void {
    this.pending.push(() => this.run(question, (exit) => {
      if (Exits.isSuccess(exit)) then(exit.value)
    }))
  }

  private settle(): void | Promise<void> {
    return this.pending.pop()?.()
  }
}

const storeClock = (simulation: SimulationContext): Clock.Clock => ({
  currentTimeMillisUnsafe: () => simulation.storeNow,
  currentTimeMillis: Effect.sync(() => simulation.storeNow),
  currentTimeNanosUnsafe: () => nanos(simulation.storeNow),
  currentTimeNanos: Effect.sync(() => nanos(simulation.storeNow)),
  monotonicTimeNanosUnsafe: () => nanos(simulation.now),
  monotonicTimeNanos: Effect.sync(() => nanos(simulation.now)),
  // a store's own sleep is real: schedules wait for it
  sleep: (duration) => Effect.promise(() => new Promise((resolve) => setTimeout(resolve, Number(duration))))
})
