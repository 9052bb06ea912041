/**
 * The wire between a process and the store. Every call crosses it twice: the world decides when it reaches the store, and when, or
 * whether, its answer comes back.
 */
import { type ClaimRequest, type DeliveryQueue, type Freeze, type LaneLease, StorageError } from "@waybill/core"
import { Effect, Exit } from "effect"
import { ClaimAudit } from "./ClaimAudit.ts"
import { FreezeAudit, type Permits } from "./FreezeAudit.ts"
import type { Ledger, LedgerLane } from "./Ledger.ts"
import { SettleAudit } from "./SettleAudit.ts"
import type { Shape } from "./Shape.ts"
import type { SimulatedStore } from "./SimulatedStore.ts"
import type { FaultModel } from "./FaultModel.ts"
import type { SimulationContext } from "./SimulationContext.ts"
import type { WorkerProcess } from "./WorkerProcess.ts"

export type StoreCall = "tenantsDue" | "claim" | "freeze" | "settle" | "heartbeat"

/** A claim handed out something of these lanes, deliveries to be sent once more among it; nothing is frozen yet. */
type HandedOut = (tenantId: string, deliveryIds: ReadonlyArray<string>, lanes: ReadonlyArray<LedgerLane>) => void

interface Crossing<A> {
  readonly process: WorkerProcess
  readonly call: StoreCall
  /** Whom it is about, for the trace. */
  readonly about: () => string
  /** Called where the store is reached, just before it does what it is told. */
  readonly before?: () => void
  /** Called when the store did it. `late`: its caller had given up on it. Answers what the caller learns with the answer. */
  readonly applied: (exit: Exit.Exit<A, StorageError>, late: boolean) => (() => void) | void
}

export class StoreWire {
  private readonly simulation: SimulationContext
  private readonly ledger: Ledger
  private readonly store: SimulatedStore
  private readonly faultModel: FaultModel
  private readonly claims: ClaimAudit
  private readonly freezes: FreezeAudit
  private readonly settles: SettleAudit
  private readonly handedOut: HandedOut

  constructor(
    simulation: SimulationContext,
    parts: {
      readonly ledger: Ledger
      readonly store: SimulatedStore
      readonly faultModel: FaultModel
      readonly shape: Shape
      readonly handedOut: HandedOut
    }
  ) {
    this.simulation = simulation
    this.ledger = parts.ledger
    this.store = parts.store
    this.faultModel = parts.faultModel
    this.claims = new ClaimAudit(simulation, this.ledger, !parts.shape.disturbed)
    this.freezes = new FreezeAudit(simulation, this.ledger, parts.shape.options.maxBatchBytes)
    this.settles = new SettleAudit(simulation, this.ledger)
    this.handedOut = parts.handedOut
  }

  /** The queue as this process sees it. */
  queueOf(process: WorkerProcess): DeliveryQueue["Service"] {
    const { queue } = this.store
    const nothing: (() => void) | void = undefined
    return {
      ...queue,
      tenantsDue: (limit) => this.cross({ process, call: "tenantsDue", about: () => "", applied: () => nothing }, queue.tenantsDue(limit)),
      claim: (request) => this.claim(process, request),
      freeze: (tenantId, lanes) => this.freeze(process, tenantId, lanes),
      settle: (tenantId, outcomes) =>
        this.cross({
          process,
          call: "settle",
          about: () => `${outcomes.deliveries.map(({ deliveryId, state }) => `${deliveryId} ${state}`).join(", ")} | ${outcomes.lanes.map((lane) => `${lane.laneId.slice(-2)} by ${lane.token}${lane.release === undefined ? "" : " given back"}${lane.pause === undefined ? "" : " paused"}`).join(", ")}`,
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

  private claim(process: WorkerProcess, asked: ClaimRequest): ReturnType<DeliveryQueue["Service"]["claim"]> {
    // leases as they are now: what the caller holds may change before it arrives
    const request = this.faultModel.passedOver({ ...asked, refill: asked.refill.map(({ laneId, token }) => ({ laneId, token })) })
    const crossing: Crossing<Effect.Success<ReturnType<DeliveryQueue["Service"]["claim"]>>> = {
      process,
      call: "claim",
      about: () => `${request.tenantId}, ${request.maxLanes} lanes${request.refill.map(({ laneId, token }) => `, ${laneId.slice(-2)} by ${token}`).join("")}`,
      applied: (exit) => {
        if (!Exit.isSuccess(exit)) return
        const grants = this.claims.claimed(process.name, request, exit.value)
        const due = [...grants.values()].flatMap(({ claimed }) => claimed.due.map(({ deliveryId }) => deliveryId))
        if (grants.size > 0) this.handedOut(request.tenantId, due, [...grants.values()].map(({ lane }) => lane))
        if (this.simulation.trace) for (const { claimed, lane } of grants.values()) this.simulation.note("store", `${process.name} has ${lane.name} by ${claimed.token}: ${claimed.due.length} due, ${claimed.waiting.length} waiting`)
        return () => {
          process.grants = grants
        }
      }
    }
    const passedOver = request.maxLanes < asked.maxLanes || request.refill.length < asked.refill.length
    return this.cross(crossing, Effect.map(this.store.queue.claim(request), (claim) => passedOver ? { ...claim, crossed: true } : claim))
  }

  private freeze(process: WorkerProcess, tenantId: string, lanes: ReadonlyArray<Freeze>): ReturnType<DeliveryQueue["Service"]["freeze"]> {
    let expected: ReadonlySet<string> = new Set()
    let complete = true
    let overtaken = false
    const { grants } = process
    return this.cross({
      process,
      call: "freeze",
      about: () => lanes.map((lane) => `${lane.laneId.slice(-2)} by ${lane.token}: ${[...lane.fresh.map((each) => `new ${each.deliveryId} of ${each.entries.map(({ key, sequence }) => `${key}/${sequence}`).join(" ")}`), ...lane.again.map((id) => `again ${id}`)].join(", ")}`).join("; "),
      before: () => {
        expected = this.freezes.expected(tenantId, lanes)
        complete = this.freezes.stillWaits(tenantId, lanes, expected)
        overtaken = this.freezes.overtaken(tenantId, lanes, expected)
      },
      applied: (exit, late) => {
        if (!complete) {
          const refused = Exit.isFailure(exit) && this.freezes.purged(tenantId, lanes, expected)
          return refused ? undefined : this.simulation.violate("Nothing is frozen twice", `${process.name}: ${lanes.map(({ laneId }) => laneId).join()}`)
        }
        if (overtaken) {
          if (Exit.isSuccess(exit)) this.simulation.violate("An operator's retry begins a full series of attempts", `${process.name}: ${lanes.flatMap(({ again }) => again).join()}`)
          return
        }
        if (!Exit.isSuccess(exit)) return this.simulation.violate("The store does what it is told", `freeze of ${process.name}: ${String(exit.cause)}`)
        const permits = this.freezes.frozen(process.name, tenantId, lanes, { expected, ours: exit.value, grants, late })
        this.store.compare(tenantId, this.namedBy(lanes, permits))
        return () => {
          for (const [permit, grant] of permits) process.permits.set(permit, grant)
        }
      }
    }, this.store.queue.freeze(tenantId, lanes))
  }

  private namedBy(lanes: ReadonlyArray<Freeze>, permits: Permits) {
    if (permits.size === 0) return []
    return lanes.flatMap(({ again, fresh }) => [...fresh.map(({ deliveryId }) => deliveryId), ...again]).flatMap((id) => this.ledger.deliveries.get(id) ?? [])
  }

  private heartbeat(process: WorkerProcess, tenantId: string, leases: ReadonlyArray<LaneLease>, leaseMillis: number) {
    const shown = leases.map(({ laneId, token }) => ({ laneId, token }))
    return this.cross({
      process,
      call: "heartbeat",
      about: () => shown.map(({ laneId, token }) => `${laneId.slice(-2)} by ${token}`).join(", "),
      applied: (exit) => {
        if (!Exit.isSuccess(exit)) return
        for (const lease of shown) {
          const lane = this.ledger.held(tenantId, lease)
          if ((lane !== undefined) !== exit.value.has(lease.laneId)) {
            this.simulation.violate("A sign of life keeps the leases that hold, and no others", `${process.name}: ${lease.laneId} by ${lease.token}`)
          }
          if (lane !== undefined) lane.leasedUntil = this.simulation.storeNow + leaseMillis
        }
      }
    }, this.store.queue.heartbeat(tenantId, shown, leaseMillis))
  }

  private cross<A>(crossing: Crossing<A>, effect: Effect.Effect<A, StorageError>): Effect.Effect<A, StorageError> {
    const { about, applied, before, call, process } = crossing
    const { simulation } = this
    return Effect.callback<A, StorageError>((resume) => {
      if (!process.reaches()) return
      const fate = this.faultModel.fateOf(call)
      let abandoned = false
      let answered = false
      process.asking += 1
      if (simulation.trace) simulation.note(process.name, `asks the store to ${call} ${about()}`)
      const answer = (exit: Exit.Exit<A, StorageError>, millis: number, learn?: (() => void) | void) =>
        simulation.after(millis, () => {
          answered = true
          if (abandoned) return
          process.asking -= 1
          if (simulation.trace) simulation.note(process.name, `learns that ${call} ${Exit.isSuccess(exit) ? "is done" : "failed"}`)
          learn?.()
          resume(exit)
        }, process)
      const abandon = () => {
        if (!answered) process.asking -= 1
        abandoned = true
      }
      const lost = () => {
        simulation.counts.drops += 1
        return Exit.fail(new StorageError({ operation: `DeliveryQueue.${call}`, cause: "The connection broke." }))
      }
      if (fate.answer === "never reached") {
        answer(lost(), fate.requestMillis + fate.answerMillis)
        return Effect.sync(abandon)
      }
      if (fate.answer === "given up") answer(lost(), fate.answerMillis)
      const reach = () => {
        if ((process.dead || abandoned) && fate.withdrawn) return
        const late = answered || abandoned
        before?.()
        return this.store.run(effect, (exit) => {
          if (simulation.trace && (late || process.dead)) simulation.note("store", `does ${call} of ${process.name}, who no longer waits for it`)
          const learn = applied(exit, late || fate.answer === "given up")
          if (fate.answer === "lost") answer(lost(), fate.answerMillis)
          else if (fate.answer === "given") answer(exit, fate.answerMillis, learn)
        })
      }
      simulation.after(fate.requestMillis, () => this.faultModel.whenUp(reach))
      return Effect.sync(abandon)
    })
  }
}
