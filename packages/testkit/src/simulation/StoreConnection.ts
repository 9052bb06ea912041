/**
 * The connection of a process to the store. The fault model decides when a call reaches the store, and when, or whether, its answer
 * reaches the process.
 */
import { type ClaimRequest, type DeliveryQueue, type Freeze, type DestinationLease, StorageError } from "@waybill/core"
import { Effect, Exit } from "effect"
import { ClaimAudit } from "./ClaimAudit.ts"
import { FreezeAudit, type Permits } from "./FreezeAudit.ts"
import type { Ledger, LedgerDestination } from "./Ledger.ts"
import { SettleAudit } from "./SettleAudit.ts"
import type { Shape } from "./Shape.ts"
import type { SimulatedStore } from "./SimulatedStore.ts"
import type { FaultModel } from "./FaultModel.ts"
import type { SimulationContext } from "./SimulationContext.ts"
import type { WorkerProcess } from "./WorkerProcess.ts"

export type StoreCall = "tenantsDue" | "claim" | "freeze" | "settle" | "heartbeat"

/** Called after a claim and before its freeze, with the due deliveries and all destinations of the claim. */
type OnClaim = (tenantId: string, deliveryIds: ReadonlyArray<string>, destinations: ReadonlyArray<LedgerDestination>) => void

interface StoreRequest<A> {
  readonly process: WorkerProcess
  readonly call: StoreCall
  /** The arguments, for the trace. */
  readonly about: () => string
  /** Called just before the store runs the call. */
  readonly before?: () => void
  /** Called when the store has run the call. `late`: its caller no longer waits for it. Returns what to do when the caller gets the answer. */
  readonly applied: (exit: Exit.Exit<A, StorageError>, late: boolean) => (() => void) | void
}

export class StoreConnection {
  private readonly simulation: SimulationContext
  private readonly ledger: Ledger
  private readonly store: SimulatedStore
  private readonly faultModel: FaultModel
  private readonly claims: ClaimAudit
  private readonly freezes: FreezeAudit
  private readonly settles: SettleAudit
  private readonly onClaim: OnClaim

  constructor(
    simulation: SimulationContext,
    parts: {
      readonly ledger: Ledger
      readonly store: SimulatedStore
      readonly faultModel: FaultModel
      readonly shape: Shape
      readonly onClaim: OnClaim
    }
  ) {
    this.simulation = simulation
    this.ledger = parts.ledger
    this.store = parts.store
    this.faultModel = parts.faultModel
    this.claims = new ClaimAudit(simulation, this.ledger, !parts.shape.hasInternalFaults)
    this.freezes = new FreezeAudit(simulation, this.ledger, parts.shape.options.maxBatchBytes)
    this.settles = new SettleAudit(simulation, this.ledger)
    this.onClaim = parts.onClaim
  }

  /** The queue as this process sees it. */
  queueOf(process: WorkerProcess): DeliveryQueue["Service"] {
    const { queue } = this.store
    const nothing: (() => void) | void = undefined
    return {
      ...queue,
      tenantsDue: (limit) => this.send({ process, call: "tenantsDue", about: () => "", applied: () => nothing }, queue.tenantsDue(limit)),
      claim: (request) => this.claim(process, request),
      freeze: (tenantId, destinations) => this.freeze(process, tenantId, destinations),
      settle: (tenantId, outcomes) =>
        this.send({
          process,
          call: "settle",
          about: () => `${outcomes.deliveries.map(({ deliveryId, state }) => `${deliveryId} ${state}`).join(", ")} | ${outcomes.destinations.map((destination) => `${destination.destinationId.slice(-2)} by ${destination.token}${destination.release === undefined ? "" : " given back"}${destination.pause === undefined ? "" : " paused"}`).join(", ")}`,
          applied: (exit, late) => {
            if (Exit.isSuccess(exit)) {
              const { named, sendable } = this.settles.settled(process.name, tenantId, outcomes, { outcomes: process.outcomes, late })
              this.store.compare(tenantId, named)
              this.store.expectDue(tenantId, sendable)
            }
          }
        }, queue.settle(tenantId, outcomes)),
      heartbeat: (tenantId, leases, leaseMillis) => this.heartbeat(process, tenantId, leases, leaseMillis)
    }
  }

  private claim(process: WorkerProcess, fixed: ClaimRequest): ReturnType<DeliveryQueue["Service"]["claim"]> {
    // copies the leases, because the caller's objects may change before the call reaches the store
    const request = this.faultModel.skipLocked({ ...fixed, refill: fixed.refill.map(({ destinationId, token }) => ({ destinationId, token })) })
    const call: StoreRequest<Effect.Success<ReturnType<DeliveryQueue["Service"]["claim"]>>> = {
      process,
      call: "claim",
      about: () => `${request.tenantId}, ${request.maxDestinations} destinations${request.refill.map(({ destinationId, token }) => `, ${destinationId.slice(-2)} by ${token}`).join("")}`,
      applied: (exit) => {
        if (!Exit.isSuccess(exit)) return
        const grants = this.claims.claimed(process.name, request, exit.value)
        const due = [...grants.values()].flatMap(({ claimed }) => claimed.due.map(({ deliveryId }) => deliveryId))
        if (grants.size > 0) this.onClaim(request.tenantId, due, [...grants.values()].map(({ destination }) => destination))
        if (this.simulation.trace) for (const { claimed, destination } of grants.values()) this.simulation.note("store", `${process.name} has ${destination.name} by ${claimed.token}: ${claimed.due.length} due, ${claimed.waiting.length} waiting`)
        return () => {
          process.grants = grants
        }
      }
    }
    const skipLocked = request.maxDestinations < fixed.maxDestinations || request.refill.length < fixed.refill.length
    return this.send(call, Effect.map(this.store.queue.claim(request), (claim) => skipLocked ? { ...claim, crossed: true } : claim))
  }

  private freeze(process: WorkerProcess, tenantId: string, destinations: ReadonlyArray<Freeze>): ReturnType<DeliveryQueue["Service"]["freeze"]> {
    let expected: ReadonlySet<string> = new Set()
    let complete = true
    let isOutdated = false
    const { grants } = process
    return this.send({
      process,
      call: "freeze",
      about: () => destinations.map((destination) => `${destination.destinationId.slice(-2)} by ${destination.token}: ${[...destination.fresh.map((each) => `new ${each.deliveryId} of ${each.entries.map(({ key, sequence }) => `${key}/${sequence}`).join(" ")}`), ...destination.again.map((id) => `again ${id}`)].join(", ")}`).join("; "),
      before: () => {
        expected = this.freezes.expected(tenantId, destinations)
        complete = this.freezes.stillWaits(tenantId, destinations, expected)
        isOutdated = this.freezes.isOutdated(tenantId, destinations, expected)
      },
      applied: (exit, late) => {
        if (!complete) {
          const refused = Exit.isFailure(exit) && this.freezes.purged(tenantId, destinations, expected)
          return refused ? undefined : this.simulation.violate("No entry is frozen twice", `${process.name}: ${destinations.map(({ destinationId }) => destinationId).join()}`)
        }
        if (isOutdated) {
          if (Exit.isSuccess(exit)) this.simulation.violate("A manual retry starts a full series of attempts", `${process.name}: ${destinations.flatMap(({ again }) => again).join()}`)
          return
        }
        if (!Exit.isSuccess(exit)) return this.simulation.violate("A call of the store succeeds", `freeze of ${process.name}: ${String(exit.cause)}`)
        const permits = this.freezes.frozen(process.name, tenantId, destinations, { expected, frozen: exit.value, grants, late })
        this.store.compare(tenantId, this.namedBy(destinations, permits))
        return () => {
          for (const [permit, grant] of permits) process.permits.set(permit, grant)
        }
      }
    }, this.store.queue.freeze(tenantId, destinations))
  }

  private namedBy(destinations: ReadonlyArray<Freeze>, permits: Permits) {
    if (permits.size === 0) return []
    return destinations.flatMap(({ again, fresh }) => [...fresh.map(({ deliveryId }) => deliveryId), ...again]).flatMap((id) => this.ledger.deliveries.get(id) ?? [])
  }

  private heartbeat(process: WorkerProcess, tenantId: string, leases: ReadonlyArray<DestinationLease>, leaseMillis: number) {
    const shown = leases.map(({ destinationId, token }) => ({ destinationId, token }))
    return this.send({
      process,
      call: "heartbeat",
      about: () => shown.map(({ destinationId, token }) => `${destinationId.slice(-2)} by ${token}`).join(", "),
      applied: (exit) => {
        if (!Exit.isSuccess(exit)) return
        for (const lease of shown) {
          const destination = this.ledger.held(tenantId, lease)
          if ((destination !== undefined) !== exit.value.has(lease.destinationId)) {
            this.simulation.violate("A heartbeat extends valid leases, and no others", `${process.name}: ${lease.destinationId} by ${lease.token}`)
          }
          if (destination !== undefined) destination.leasedUntil = this.simulation.storeNow + leaseMillis
        }
      }
    }, this.store.queue.heartbeat(tenantId, shown, leaseMillis))
  }

  private send<A>(request: StoreRequest<A>, effect: Effect.Effect<A, StorageError>): Effect.Effect<A, StorageError> {
    const { about, applied, before, call, process } = request
    const { simulation } = this
    return Effect.callback<A, StorageError>((resume) => {
      if (!process.beginEffect()) return
      const plan = this.faultModel.planCall(call)
      let abandoned = false
      let answered = false
      process.pendingCalls += 1
      if (simulation.trace) simulation.note(process.name, `calls ${call} ${about()}`)
      const answer = (exit: Exit.Exit<A, StorageError>, millis: number, learn?: (() => void) | void) =>
        simulation.after(millis, () => {
          answered = true
          if (abandoned) return
          process.pendingCalls -= 1
          if (simulation.trace) simulation.note(process.name, `is answered: ${call} ${Exit.isSuccess(exit) ? "succeeded" : "failed"}`)
          learn?.()
          resume(exit)
        }, process)
      const abandon = () => {
        if (!answered) process.pendingCalls -= 1
        abandoned = true
      }
      const lost = () => {
        simulation.counts.drops += 1
        return Exit.fail(new StorageError({ operation: `DeliveryQueue.${call}`, cause: "The connection broke." }))
      }
      if (plan.answer === "request lost") {
        answer(lost(), plan.requestMillis + plan.answerMillis)
        return Effect.sync(abandon)
      }
      if (plan.answer === "abandoned") answer(lost(), plan.answerMillis)
      const reach = () => {
        if ((process.dead || abandoned) && plan.isCancellable) return
        const late = answered || abandoned
        before?.()
        return this.store.run(effect, (exit) => {
          if (simulation.trace && (late || process.dead)) simulation.note("store", `runs ${call} of ${process.name}, which no longer waits for it`)
          const learn = applied(exit, late || plan.answer === "abandoned")
          if (plan.answer === "answer lost") answer(lost(), plan.answerMillis)
          else if (plan.answer === "answered") answer(exit, plan.answerMillis, learn)
        })
      }
      simulation.after(plan.requestMillis, () => this.faultModel.whenAvailable(reach))
      return Effect.sync(abandon)
    })
  }
}
