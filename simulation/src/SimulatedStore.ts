/** The store of a schedule: the storage ports of an adapter, on the simulation's clock. */
import type { AccessStore, StorageError, Transaction } from "@waybill/core"
import { type DeliveryControl, DeliveryQueue, DeliveryStore, type SecretStore } from "@waybill/core/delivery"
import type { TransitEventStore, TransitSubscriptionStore } from "@waybill/core/transit-events"
import { StorageCrash } from "@waybill/testkit"
import { Clock, type Context, Context as Contexts, Effect, type Exit, Exit as Exits, Option } from "effect"
import type { Ledger, LedgerDelivery, LedgerDestination } from "./Ledger.ts"
import type { LedgerPartition } from "./PartitionLedger.ts"
import { nanosOf, type SimulationContext } from "./SimulationContext.ts"

/** The ports that an adapter has to provide. All its times must come from Effect's `Clock`. */
export type SimulatedPorts = Transaction | AccessStore | SecretStore | DeliveryStore | DeliveryQueue | DeliveryControl | TransitEventStore | TransitSubscriptionStore | StorageCrash

/** Signals are consumed within a poll. */
const quietMillis = 6_000

export class SimulatedStore {
  readonly delivery: DeliveryStore["Service"]
  readonly queue: DeliveryQueue["Service"]
  private readonly simulation: SimulationContext
  private readonly ledger: Ledger
  private readonly context: Context.Context<SimulatedPorts>
  /** Queries that run before the next event. */
  private readonly pending: Array<() => void | Promise<void>> = []

  constructor(simulation: SimulationContext, ledger: Ledger, ports: Context.Context<SimulatedPorts>) {
    this.simulation = simulation
    this.ledger = ledger
    this.context = Contexts.add(ports, Clock.Clock, storeClock(simulation)) as Context.Context<SimulatedPorts>
    this.delivery = Contexts.get(ports, DeliveryStore)
    this.queue = Contexts.get(ports, DeliveryQueue)
  }

  /** Runs one operation as if the store's clock was ahead. */
  runAhead<A, E>(millis: number, effect: Effect.Effect<A, E, SimulatedPorts>, then: () => void): void | Promise<void> {
    return this.run(Effect.provideService(effect, Clock.Clock, storeClock(this.simulation, millis)), then)
  }

  /** Runs one operation now. Returns a promise only if the operation is asynchronous. */
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

  /** Crashes the store, which is up again at once. It loses the newest settlements, at most so many, since its last other write. */
  crash(newest: number): void | Promise<void> {
    const { ledger, simulation } = this
    return this.run(Effect.flatMap(StorageCrash, (crash) => crash(newest)), (exit) => {
      const lost = Exits.isSuccess(exit) ? exit.value : 0
      simulation.counts.lostSettlements += lost
      simulation.note("store", `crashes and loses ${lost} settlements`)
      ledger.settlements.lose(lost)
      for (const delivery of ledger.deliveries.values()) this.compare(delivery.destination.tenantId, [delivery])
      for (const destination of ledger.destinations.values()) if (destination.open) this.compareDestination(destination)
    })
  }

  /** Compares these deliveries in the store with the reference model, before the next event. */
  compare(tenantId: string, deliveries: ReadonlyArray<LedgerDelivery>): void {
    for (const delivery of deliveries) {
      this.query(this.queue.find(tenantId, delivery.id), (found) => {
        const state = Option.getOrUndefined(found)?.state
        if (state !== delivery.state) {
          this.simulation.violate("Writes take effect under the current epoch, and only then", `${delivery.id} is ${state} in the store, not ${delivery.state}`)
        }
      })
    }
  }

  /** Compares a destination's state in the store with the reference model. */
  compareDestination(destination: LedgerDestination): void {
    this.query(this.queue.destinationStatus(destination.tenantId, destination.destinationId), (found) => {
      const status = Option.getOrUndefined(found)
      if (status?.state !== destination.state || status.pausedBy !== destination.pausedBy) {
        this.simulation.violate("A destination has the state that its owner, the service or an operator set", `${destination.name} is ${status?.state} by ${status?.pausedBy}, not ${destination.state} by ${destination.pausedBy}`)
      }
    })
  }

  /** Checks that other workers find these released partitions if they need an owner; `idle` ones only then. */
  expectFree(partitions: ReadonlyArray<LedgerPartition>, idle: ReadonlySet<number>): void {
    const { ledger, simulation } = this
    const hasWork = new Map(partitions.map((partition) => [partition, ledger.hasWork(partition, simulation.storeNow)]))
    // signals of the last seconds may be left
    const isQuiet = simulation.storeNow - ledger.changedAt > quietMillis
    this.query(this.delivery.look("nobody", Number.MAX_SAFE_INTEGER), ({ free }) => {
      for (const [{ name, partition, tenantId }, isNeeded] of hasWork) {
        const isFree = free.some((each) => each.tenantId === tenantId && each.partition === partition)
        if (isNeeded && !isFree) simulation.violate("A partition that is released with work is free at once", name)
        if (!isNeeded && isFree && isQuiet && idle.has(partition)) simulation.violate("A partition that is released without work needs no owner", name)
      }
    })
  }

  private query<A>(question: Effect.Effect<A, StorageError>, then: (answer: A) => void): void {
    this.pending.push(() => this.run(question, (exit) => {
      if (Exits.isSuccess(exit)) then(exit.value)
    }))
  }

  private settle(): void | Promise<void> {
    return this.pending.pop()?.()
  }
}

const storeClock = (simulation: SimulationContext, aheadMillis = 0): Clock.Clock => ({
  currentTimeMillisUnsafe: () => simulation.storeNow + aheadMillis,
  currentTimeMillis: Effect.sync(() => simulation.storeNow + aheadMillis),
  currentTimeNanosUnsafe: () => nanosOf(simulation.storeNow + aheadMillis),
  currentTimeNanos: Effect.sync(() => nanosOf(simulation.storeNow + aheadMillis)),
  monotonicTimeNanosUnsafe: () => nanosOf(simulation.now),
  monotonicTimeNanos: Effect.sync(() => nanosOf(simulation.now)),
  // a sleep of the store takes real time, and the schedule waits for it
  sleep: (duration) => Effect.promise(() => new Promise((resolve) => setTimeout(resolve, Number(duration))))
})
