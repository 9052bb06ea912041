/**
 * The connection of a process to the store. The fault model decides when a call reaches the store, and when, or whether, its answer
 * reaches the process.
 */
import { settledWithout } from "@waybill/conformance/fixtures"
import { StorageError } from "@waybill/core"
import type { DeliveryStore, DropRequest, SettleRequest, TakeRequest, WorkerLease } from "@waybill/core/delivery"
import { Effect, Exit } from "effect"
import type { FaultModel } from "./FaultModel.ts"
import type { Ledger, LedgerDelivery, LedgerDestination } from "./Ledger.ts"
import { LoadAudit } from "./LoadAudit.ts"
import { OwnershipAudit } from "./OwnershipAudit.ts"
import { SettleAudit } from "./SettleAudit.ts"
import type { Shape } from "./Shape.ts"
import type { SimulatedStore } from "./SimulatedStore.ts"
import type { SimulationContext } from "./SimulationContext.ts"
import { type Permits, TakeAudit, type TakeCall } from "./TakeAudit.ts"
import type { WorkerProcess } from "./WorkerProcess.ts"

type Store = DeliveryStore["Service"]

export type StoreCall = keyof Store

/** Called when the store has settled outcomes. */
type OnSettled = () => void

/** Called during a take, before and after the store runs it, with its deliveries and destinations. */
type OnTake = (tenantId: string, deliveryIds: ReadonlyArray<string>, destinations: ReadonlyArray<LedgerDestination>) => void

interface StoreRequest<A> {
  readonly process: WorkerProcess
  readonly call: StoreCall
  /** The arguments, for the trace. */
  readonly about: () => string
  /** Called when the store has run the call. `late`: its caller no longer waits for it. Returns what to do when the caller gets the answer. */
  readonly applied: (answer: A, late: boolean) => (() => void) | void
}

export class StoreConnection {
  private readonly simulation: SimulationContext
  private readonly ledger: Ledger
  private readonly store: SimulatedStore
  private readonly faultModel: FaultModel
  private readonly ownership: OwnershipAudit
  private readonly loads: LoadAudit
  private readonly takes: TakeAudit
  private readonly settles: SettleAudit
  private readonly onTake: OnTake
  private readonly onSettled: OnSettled
  /** Fails each call whose caller waits for its answer. */
  private readonly pending = new Set<() => void>()
  /** How often all connections broke. */
  private breaks = 0
  /** Whether processes, store and network have no faults. */
  private readonly onlyReceiversFail: boolean

  constructor(
    simulation: SimulationContext,
    parts: { readonly ledger: Ledger; readonly store: SimulatedStore; readonly faultModel: FaultModel; readonly shape: Shape; readonly onTake: OnTake; readonly onSettled: OnSettled }
  ) {
    this.simulation = simulation
    this.ledger = parts.ledger
    this.store = parts.store
    this.faultModel = parts.faultModel
    this.onlyReceiversFail = !parts.shape.hasInternalFaults
    this.ownership = new OwnershipAudit(simulation, this.ledger, this.onlyReceiversFail)
    this.takes = new TakeAudit(simulation, this.ledger)
    this.loads = new LoadAudit(simulation, this.ledger, (destination, version) => this.takes.compareVersion(destination, version))
    this.settles = new SettleAudit(simulation, this.ledger)
    this.onTake = parts.onTake
    this.onSettled = parts.onSettled
  }

  /** Breaks all connections: what has not reached the store is lost, and the answers that did not arrive yet may be. */
  breakAll(): void {
    this.breaks += 1
    for (const fail of this.pending) fail()
  }

  /** The store as this process sees it. Arguments are copied, because the caller's objects may change before the call reaches the store. */
  storeOf(process: WorkerProcess): Store {
    return {
      ...this.ownershipOf(process),
      load: (tenantId, destinationIds) => this.load(process, tenantId, [...destinationIds]),
      take: (request) => this.take(process, structuredClone(request)),
      settle: (request) => this.settle(process, structuredClone(request)),
      drop: (request) => this.drop(process, structuredClone(request))
    }
  }

  private ownershipOf(process: WorkerProcess): Pick<Store, "renew" | "look" | "acquire" | "reclaim" | "release"> {
    const { delivery } = this.store
    const { ownership } = this
    const own = (worker: WorkerLease): WorkerLease => {
      process.workerId = worker.workerId
      return { ...worker }
    }
    return {
      renew: (worker) => this.send({ process, call: "renew", about: () => `for ${worker.leaseMillis} ms`, applied: (answer) => ownership.renewed(process.name, own(worker), answer) }, delivery.renew(own(worker))),
      look: (workerId, limit) => this.send({ process, call: "look", about: () => "", applied: (answer) => ownership.looked(process.name, workerId, answer) }, delivery.look(workerId, limit)),
      acquire: (worker, tenantId, given) => {
        const partitions = [...given]
        return this.send({
          process,
          call: "acquire",
          about: () => `${partitions.join()} of ${tenantId}`,
          applied: (answer) => {
            ownership.acquired(process.name, own(worker), tenantId, partitions, answer)
            this.store.compare(tenantId, answer.partitions.flatMap(({ partition }) => this.deliveriesIn(tenantId, partition)))
          }
        }, delivery.acquire(own(worker), tenantId, partitions))
      },
      reclaim: (tenantId, given, flight) => {
        const owned = structuredClone(given)
        return this.send({
          process,
          call: "reclaim",
          about: () => `${flight} in ${owned.map(({ epoch, partition }) => `${partition} by ${epoch}`).join()}`,
          applied: (answer) => {
            ownership.reclaimed(process.name, tenantId, owned, flight, answer)
            this.store.compare(tenantId, answer.owned.flatMap(({ partition }) => this.deliveriesIn(tenantId, partition)))
          }
        }, delivery.reclaim(tenantId, owned, flight))
      },
      release: (tenantId, given, rateMarks) => {
        const partitions = structuredClone(given)
        return this.send({
          process,
          call: "release",
          about: () => partitions.map(({ epoch, idle, partition }) => `${partition} of ${tenantId} by ${epoch}${idle ? ", idle" : ""}`).join(),
          applied: () => this.store.expectFree(ownership.released(process.name, tenantId, partitions), new Set(partitions.filter(({ idle }) => idle && this.onlyReceiversFail).map(({ partition }) => partition)))
        }, delivery.release(tenantId, partitions, structuredClone(rateMarks)))
      }
    }
  }

  private load(process: WorkerProcess, tenantId: string, destinationIds: ReadonlyArray<string>): ReturnType<Store["load"]> {
    return this.send({
      process,
      call: "load",
      about: () => `${destinationIds.map(short).join()} of ${tenantId}`,
      applied: (answer) => {
        this.loads.loaded(process.name, tenantId, destinationIds, answer)
        const keys = this.ledger.liveKeys(tenantId, this.simulation.storeNow)
        return () => {
          for (const { destinationId, endpointUrl, version } of answer) process.learnLoaded(tenantId, destinationId, { version, endpointUrl, keys })
        }
      }
    }, this.store.delivery.load(tenantId, destinationIds))
  }

  private take(process: WorkerProcess, given: TakeRequest): ReturnType<Store["take"]> {
    const { ledger, simulation } = this
    const locked = this.faultModel.lockedAgain(given)
    const request: TakeRequest = {
      ...given,
      signals: this.faultModel.signalsOf(given),
      from: locked === undefined ? given.from : given.from.map((each) => ({ ...each, again: each.again.filter((id) => id !== locked) }))
    }
    if (locked !== undefined) simulation.note("store", `has ${locked} locked by another transaction`)
    const { tenantId } = request
    const asked = { who: process.name, request, askedAt: simulation.storeNow, askedStep: simulation.counts.steps }
    const named = request.from.flatMap(({ destinationId }) => ledger.destination(tenantId, destinationId) ?? [])
    if (named.length > 0) this.onTake(tenantId, request.from.flatMap(({ again }) => again), named)
    return this.send({
      process,
      call: "take",
      about: () => `${request.flight} of ${tenantId}: ${request.owned.map(({ epoch, partition }) => `${partition} by ${epoch}`).join()}, ${request.from.map(({ after, again, batches, destinationId, inFlight }) => `${short(destinationId)} after ${after}: ${batches} new, again ${again.join()}, in flight ${inFlight.join()}`).join("; ")}, ${request.signals} signals, ${request.unrequested} unrequested, skip ${request.skip.map(short).join()}`,
      applied: (answer, late) => {
        const call: TakeCall = { ...asked, late }
        const permits = this.takes.taken(call, answer)
        const deliveries = [...permits.values()].map(({ delivery }) => delivery)
        this.store.compare(tenantId, deliveries)
        if (simulation.trace) this.noteTaken(process, answer.signals.map(({ destinationId, key }) => `${short(destinationId)} from ${key}`), permits, answer.from.map(({ after, blocked, destinationId, more, sends }) => `${short(destinationId)} after ${after}${more ? ", more" : ""}${blocked ? ", blocked" : ""}${sends ? "" : ", does not send"}`))
        if (permits.size > 0) this.onTake(tenantId, [], deliveries.map(({ destination }) => destination))
        return () => {
          for (const [name, permit] of permits) process.permits.set(name, { ...permit, learnedAt: simulation.storeNow })
        }
      }
    }, this.store.delivery.take(request))
  }

  private noteTaken(process: WorkerProcess, signals: ReadonlyArray<string>, permits: Permits, from: ReadonlyArray<string>): void {
    const taken = [...permits.values()].map(({ delivery }) => `${delivery.id} of ${delivery.entries.map(({ orderId }) => orderId).join(" ")} to ${delivery.destination.name}, attempt ${delivery.attempt}`)
    this.simulation.note("store", `gives ${process.name} ${taken.join("; ") || "nothing"} | signals ${signals.join("; ") || "none"} | ${from.join("; ")}`)
  }

  private settle(process: WorkerProcess, given: SettleRequest): ReturnType<Store["settle"]> {
    const locked = this.faultModel.lockedIn(given)
    const request = locked === undefined ? given : settledWithout(given, locked)
    if (locked !== undefined) this.simulation.note("store", `has ${short(locked)} locked by another transaction`)
    return this.send({
      process,
      call: "settle",
      about: () => `${request.outcomes.map(({ attempt, deliveryId, state }) => `${deliveryId} attempt ${attempt} ${state}`).join(", ")} | ended ${request.ended.map(({ flight, partition }) => `${flight} in ${partition}`).join()} | ${request.destinations.map((change) => `${short(change.destinationId)} ${change.breaker.failures} failures${change.pause === undefined ? "" : ", paused"}`).join()}`,
      applied: (answer, late) => {
        const named = this.settles.settled({ who: process.name, request, outcomes: process.outcomes, late }, answer.owned)
        this.store.compare(request.tenantId, named)
        for (const change of request.destinations) {
          const destination = this.ledger.destination(request.tenantId, change.destinationId)
          if (destination?.open === true) this.store.compareDestination(destination)
        }
        if (request.outcomes.length > 0) this.onSettled()
      }
    }, Effect.map(this.store.delivery.settle(request), (answer) => locked === undefined ? answer : { ...answer, locked: [locked] }))
  }

  private drop(process: WorkerProcess, given: DropRequest): ReturnType<Store["drop"]> {
    const locked = this.faultModel.lockedDrop(given)
    const isFree = ({ destinationId }: { readonly destinationId: string }) => destinationId !== locked
    const request = { ...given, closed: given.closed.filter((id) => id !== locked), keys: given.keys.filter(isFree), deliveries: given.deliveries.filter(isFree) }
    if (locked !== undefined) this.simulation.note("store", `has ${short(locked)} locked by another transaction`)
    return this.send({
      process,
      call: "drop",
      about: () => `${request.tenantId}, closed ${request.closed.map(short).join()}, ${request.keys.map(({ destinationId, key }) => `${key} of ${short(destinationId)}`).join()}, ${request.deliveries.map(({ deliveryId }) => deliveryId).join()}`,
      applied: (answer) => this.loads.dropped(process.name, request, answer)
    }, Effect.map(this.store.delivery.drop(request), (answer) => locked === undefined ? answer : { ...answer, locked: [locked] }))
  }

  private deliveriesIn(tenantId: string, partition: number): ReadonlyArray<LedgerDelivery> {
    return this.ledger.in(this.ledger.partitions.get(tenantId, partition)).flatMap(({ unsettled }) => [...unsettled.values()])
  }

  private send<A>(request: StoreRequest<A>, effect: Effect.Effect<A, StorageError>): Effect.Effect<A, StorageError> {
    const { about, applied, call, process } = request
    const { simulation } = this
    return Effect.callback<A, StorageError>((resume) => {
      if (!process.beginEffect()) return
      const plan = this.faultModel.planCall(call)
      let abandoned = false
      let answered = false
      const { breaks } = this
      process.pendingCalls += 1
      if (simulation.trace) simulation.note(process.name, `calls ${call} ${about()}`)
      const answer = (exit: Exit.Exit<A, StorageError>, millis: number, learn?: (() => void) | void) =>
        simulation.after(millis, () => {
          if (answered) return
          answered = true
          this.pending.delete(fail)
          if (abandoned) return
          process.pendingCalls -= 1
          if (simulation.trace) simulation.note(process.name, `is answered: ${call} ${Exit.isSuccess(exit) ? "succeeded" : "failed"}`)
          learn?.()
          resume(exit)
        }, process)
      const abandon = () => {
        if (!answered) process.pendingCalls -= 1
        abandoned = true
        this.pending.delete(fail)
      }
      const fail = () => void answer(lost(), simulation.random.pick([0, 1, 5, 40]))
      this.pending.add(fail)
      const lost = () => {
        simulation.counts.drops += 1
        return Exit.fail(new StorageError({ operation: `DeliveryStore.${call}`, cause: "The connection broke." }))
      }
      if (plan.answer === "request lost") {
        answer(lost(), plan.requestMillis + plan.answerMillis)
        return Effect.sync(abandon)
      }
      if (plan.answer === "abandoned") answer(lost(), plan.answerMillis)
      const reach = () => {
        if (breaks !== this.breaks || (process.dead || abandoned) && plan.isCancellable) return
        const late = answered || abandoned
        return this.store.run(effect, (exit) => {
          if (simulation.trace && (late || process.dead)) simulation.note("store", `runs ${call} of ${process.name}, which no longer waits for it`)
          if (!Exit.isSuccess(exit)) simulation.violate("A call of the store succeeds", `${call} of ${process.name}: ${String(exit.cause)}`)
          const learn = Exit.isSuccess(exit) ? applied(exit.value, late || plan.answer === "abandoned") : undefined
          if (plan.answer === "answer lost") answer(lost(), plan.answerMillis)
          else if (plan.answer === "answered") answer(exit, plan.answerMillis, learn)
        })
      }
      simulation.after(plan.requestMillis, () => this.faultModel.whenAvailable(reach))
      return Effect.sync(abandon)
    })
  }
}

const short = (destinationId: string): string => destinationId.slice(-3)

