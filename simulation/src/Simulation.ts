/** One schedule from its seed: several processes of the real engine, one store, receivers and faults. */
import { SeededRandom } from "@waybill/conformance/fixtures"
import type { WebhookSender } from "@waybill/core/delivery"
import { HmacNode } from "@waybill/testkit"
import { type Context, Exit } from "effect"
import { accessChanges } from "./AccessChanges.ts"
import { injectFault } from "./Faults.ts"
import { Ledger, type LedgerDestination } from "./Ledger.ts"
import { interventions, Operators, tenantOf } from "./Operators.ts"
import { Receivers } from "./Receivers.ts"
import { cheapSha256, openSealer } from "./Secrets.ts"
import { drawShape, maxWorkers, type Shape, type SimulationShape } from "./Shape.ts"
import { type SimulatedPorts, SimulatedStore } from "./SimulatedStore.ts"
import { StoreConnection } from "./StoreConnection.ts"
import { ProgressAudit } from "./ProgressAudit.ts"
import { FaultModel } from "./FaultModel.ts"
import { WorkerProcess } from "./WorkerProcess.ts"
import { SimulationContext } from "./SimulationContext.ts"

/** More than any schedule needs to end. */
const maxSteps = 40_000

const hourMillis = 3_600_000

/** Share of the schedules with faults in which the store crashes. */
const crashingShare = 0.4

/** Share of the schedules in which the store's clock is set back and a process is killed. */
const killedAheadShare = 0.05

export class Simulation {
  readonly simulation: SimulationContext
  readonly shape: Shape
  private readonly seed: number
  private readonly ledger = new Ledger()
  private readonly store: SimulatedStore
  private readonly faultModel: FaultModel
  private readonly receivers: Receivers
  private readonly connection: StoreConnection
  private readonly operators: Operators
  private readonly faults: SeededRandom
  private readonly takeInterventions: SeededRandom
  private readonly crashes: SeededRandom
  private readonly kills: SeededRandom
  private crashesLeft: number
  private readonly progress: ProgressAudit
  private processes: Array<WorkerProcess> = []
  private lastProcess = 0
  private faultsStopped = false
  private over = false
  private idleSince = 0

  constructor(seed: number, fixed: SimulationShape, ports: Context.Context<SimulatedPorts>, tracing: boolean) {
    this.seed = seed
    this.shape = drawShape(seed, fixed)
    this.simulation = new SimulationContext(seed, tracing)
    this.faults = new SeededRandom(seed, "faults")
    this.store = new SimulatedStore(this.simulation, this.ledger, ports)
    this.progress = new ProgressAudit(this.simulation, this.ledger, this.shape)
    this.faultModel = new FaultModel(this.simulation, seed, this.shape)
    this.receivers = new Receivers(this.simulation, this.ledger, this.sha256, { slow: this.shape.faults > 0 ? 0.05 : 0, onlyReceiversFail: !this.shape.hasInternalFaults })
    this.takeInterventions = new SeededRandom(seed, "take interventions")
    this.kills = new SeededRandom(seed, "kills")
    this.crashes = new SeededRandom(seed, "crashes of the store")
    this.crashesLeft = this.shape.hasInternalFaults && this.crashes.share(crashingShare) ? this.crashes.pick([1, 2, 4]) : 0
    this.connection = new StoreConnection(this.simulation, {
      ledger: this.ledger,
      store: this.store,
      faultModel: this.faultModel,
      shape: this.shape,
      onTake: (tenantId, deliveryIds, destinations) => this.interveneInTake(tenantId, deliveryIds, destinations),
      onSettled: () => {
        // the next write, within milliseconds, ends what a crash can lose
        if (this.crashesLeft > 0 && this.crashes.share(0.3)) this.simulation.after(this.crashes.pick([0, 0, 1, 3, 20]), () => this.crashStore())
      }
    })
    this.operators = new Operators(this.simulation, {
      ledger: this.ledger,
      store: this.store,
      shape: this.shape,
      random: new SeededRandom(seed, "operators"),
      accessRandom: new SeededRandom(seed, "access"),
      replayRandom: new SeededRandom(seed, "replay times"),
      wake: (tenantId) => this.wake(tenantId)
    })
  }

  async run(): Promise<void> {
    const { shape, simulation } = this
    await this.operators.begin()
    for (let each = 0; each < shape.workers; each++) this.startWorker()
    this.plan()
    const waits = this.steps(() => this.over)
    if (waits !== undefined) await waits
    if (simulation.violation === undefined) await this.close()
  }

  private get sha256() {
    return this.shape.realHmac ? HmacNode.sha256 : cheapSha256
  }

  /** Schedules publications, interventions, access changes and faults at random times, then the end of faults. */
  private plan(): void {
    const { shape, simulation } = this
    const random = new SeededRandom(this.seed, "plan")
    const published = Array.from({ length: shape.publications }, () => Math.floor(random.next() * shape.spanMillis))
    for (const moment of published) simulation.after(moment, () => this.operators.publish())
    // many errors need two events within milliseconds, so some are close to a publication
    const moment = (draws: SeededRandom, share: number) =>
      published.length > 0 && draws.share(0.4) ? draws.pick(published) + draws.between(0, 12) : Math.floor(draws.next() * shape.spanMillis * share)
    const owners = new SeededRandom(this.seed, "interventions")
    for (let each = 0; each < shape.interventions; each++) {
      simulation.after(moment(owners, 2), () => this.operators.intervene(owners.pick(interventions)))
    }
    const access = new SeededRandom(this.seed, "access moments")
    for (let each = 0; each < shape.accessChanges; each++) {
      simulation.after(moment(access, 2), () => this.operators.changeAccess(access.pick(accessChanges)))
    }
    const faulty = new SeededRandom(this.seed, "faulty")
    for (let each = 0; each < shape.faults; each++) {
      simulation.after(moment(faulty, 1.5), () =>
        injectFault(this.faults, {
          simulation,
          faultModel: this.faultModel,
          receivers: this.receivers,
          hasInternalFaults: shape.hasInternalFaults,
          leaseMillis: shape.options.leaseMillis,
          destinations: () => [...this.ledger.destinations.values()].filter(({ open }) => open).map(({ name }) => name),
          processes: () => this.processes,
          start: () => {
            if (this.processes.length < maxWorkers) this.startWorker()
          }
        }))
    }
    if (shape.traits.has("failing receivers") && shape.faults > 0) this.planFailures(published)
    if (shape.traits.has("pauses") && shape.hasInternalFaults) this.planPauses(moment)
    const ahead = new SeededRandom(this.seed, "killed while ahead")
    if (shape.hasInternalFaults && shape.faults > 0 && ahead.share(killedAheadShare)) {
      simulation.after(moment(ahead, 1.5), () => this.processes.length > 0 && !this.faultsStopped ? this.killWhileAhead(ahead.pick(this.processes)) : undefined)
    }
    if (this.crashesLeft > 0) simulation.after(moment(this.crashes, 1.5), () => this.crashStore())
    if (!shape.hasInternalFaults) {
      this.progress.begin(0)
      this.watch()
    }
    simulation.after(shape.spanMillis * 2 + random.pick([1, 500, 4000]), () => this.stopFaults(random.share(0.4)))
  }

  /** Receivers fail for a long time, from some publications on. */
  private planFailures(published: ReadonlyArray<number>): void {
    const random = new SeededRandom(this.seed, "failures")
    for (const moment of published.slice(0, 4)) {
      this.simulation.after(moment, () => {
        if (this.faultsStopped) return
        for (const { name, open } of this.ledger.destinations.values()) if (open) this.receivers.behave(name, random.pick(["fails", "refuses", "mixed", "mixed", "hangs", "gone", "accepts"]), 10_000)
      })
    }
  }

  private planPauses(moment: (draws: SeededRandom, share: number) => number): void {
    const random = new SeededRandom(this.seed, "pauses")
    for (let each = 0; each < 6; each++) {
      this.simulation.after(moment(random, 1.5), () => {
        if (!this.faultsStopped && this.processes.length > 0) random.pick(this.processes).pause(this.shape.options.leaseMillis + 200)
      })
    }
  }

  /** Sometimes schedules an intervention in a take, or right after it. */
  private interveneInTake(tenantId: string, deliveryIds: ReadonlyArray<string>, destinations: ReadonlyArray<LedgerDestination>): void {
    const { operators, shape, simulation, takeInterventions } = this
    if (this.faultsStopped) return
    const share = shape.traits.size === 0 ? 0.04 : 0.3
    const soon = () => takeInterventions.pick([0, 0, 1, 3])
    if (shape.interventions > 0 && takeInterventions.share(share)) {
      const destination = takeInterventions.pick(destinations)
      simulation.after(soon(), () => deliveryIds.length > 0 ? operators.retryTaken(tenantId, deliveryIds) : operators.interveneTaken(destination))
    }
    if (shape.accessChanges > 0 && takeInterventions.share(share / 2)) {
      const destination = takeInterventions.pick(destinations)
      simulation.after(soon(), () => operators.changeTaken(destination))
    }
  }

  private startWorker(): void {
    const { faults, shape, simulation } = this
    const number = ++this.lastProcess
    const process = new WorkerProcess(simulation, {
      seed: this.seed,
      number,
      skewMillis: faults.pick([0, 0, 0, 3, -250, 7000, -3_600_000, 86_400_000]),
      killedAtEffect: shape.hasInternalFaults && shape.faults > 0 && !this.faultsStopped && faults.share(shape.shortLivedShare) ? faults.between(1, faults.pick([8, 40])) : Infinity
    })
    process.onEnd = () => this.replace(process)
    this.processes.push(process)
    simulation.note(process.name, "starts")
    process.start({
      store: this.connection.storeOf(process),
      sender: shape.hasInternalFaults && shape.traits.has("killed while sending") ? this.killing(process) : this.receivers.senderOf(process),
      hmac: { sha256: this.sha256 },
      sealer: openSealer,
      options: shape.options
    })
  }

  /** A transport whose process is killed during most attempts. */
  private killing(process: WorkerProcess): WebhookSender["Service"] {
    const { start, ...rest } = this.receivers.senderOf(process)
    return {
      ...rest,
      start: (request, settle) => {
        if (!this.faultsStopped && this.kills.share(0.8)) this.simulation.after(this.kills.pick([0, 1, 5]), () => this.faultsStopped ? undefined : process.kill(), process)
        return start(request, settle)
      }
    }
  }

  /** Starts another process, after a random wait, in place of one that ended, unless there are others. */
  private replace(process: WorkerProcess): void {
    this.processes = this.processes.filter((each) => each !== process)
    const { leaseMillis } = this.shape.options
    const wait = this.faultsStopped ? 0 : this.faults.pick([0, 1, 300, leaseMillis, leaseMillis * 2, Infinity])
    if (wait === Infinity && this.processes.length > 0) return
    this.simulation.after(Math.min(wait, leaseMillis * 3), () => {
      if (this.faultsStopped && this.processes.length > 0) return
      this.startWorker()
    })
  }

  /** Kills a process that last renewed its leases while the store's clock was an hour ahead. That clock is set back now. */
  private killWhileAhead(victim: WorkerProcess): void | Promise<void> {
    const { workerId } = victim
    victim.kill()
    if (workerId === undefined) return
    const { leaseMillis } = this.shape.options
    this.simulation.note("store", `has its clock set back by an hour since the last renewal of ${victim.name}`)
    return this.store.runAhead(hourMillis, this.store.delivery.renew({ workerId, leaseMillis }), () =>
      this.ledger.partitions.renew({ workerId, leaseMillis }, this.simulation.storeNow + hourMillis))
  }

  /** The store crashes and is unavailable for some time. */
  private crashStore(): void | Promise<void> {
    const { crashes, faultModel, simulation } = this
    if (this.faultsStopped || this.crashesLeft === 0) return
    this.crashesLeft -= 1
    this.connection.breakAll()
    faultModel.unavailableUntil = Math.max(faultModel.unavailableUntil, simulation.now + crashes.pick([0, 0, 5, 300, this.shape.options.leaseMillis + 200]))
    return this.store.crash(crashes.pick([Infinity, Infinity, 1, 2]))
  }

  private wake(tenantId: string): void {
    for (const process of this.processes) {
      if (this.faultModel.hintLossShare > 0 && this.simulation.random.share(this.faultModel.hintLossShare)) continue
      this.simulation.after(this.simulation.random.pick([0, 0, 1, 5]), () => process.hint(tenantId), process)
    }
  }

  private async restore(recovering: boolean): Promise<void> {
    for (const waits of this.operators.restore(recovering)) if (waits !== undefined) await waits
  }

  /** Stops faults. All work has to finish in time from now on. */
  private stopFaults(recovering: boolean): void | Promise<void> {
    const { shape, simulation } = this
    this.faultsStopped = true
    simulation.note("faults", "stop")
    this.faultModel.clear()
    this.receivers.clear()
    for (const process of this.processes) process.preventKill()
    if (this.processes.every((process) => process.ended)) this.startWorker()
    const policies = shape.destinations.map(({ policy }) => policy)
    const slowest = Math.min(...policies.map((policy) => policy.rateLimitPerMinute))
    const pause = Math.max(...policies.map((policy) => policy.maxBackoffSeconds)) * 1000
    const { leaseMillis, pollMillis } = shape.options
    const timeoutMillis = this.longestPause() + 20_000 + 3 * (leaseMillis + pollMillis + pause) + (this.ledger.unfinished + this.ledger.deliveries.size + 12) * Math.ceil(60_000 / slowest)
    const isCalm = this.processes.every(({ pendingCalls }) => pendingCalls === 0)
    const calmAt = simulation.now + this.longestPause() + (isCalm ? 0 : this.unansweredMillis)
    this.idleSince = calmAt
    if (shape.hasInternalFaults) this.progress.begin(calmAt)
    simulation.after(timeoutMillis, () => simulation.violate("All work finishes in time after faults stop", this.describeUnfinished()))
    if (shape.hasInternalFaults) this.watch()
    return this.restore(recovering)
  }

  /** Calls from before the end of faults may get no response. A worker abandons them after this time. */
  private get unansweredMillis(): number {
    return Math.max(5_000, this.shape.options.leaseMillis / 2)
  }

  /** Milliseconds until every process runs again. */
  private longestPause(): number {
    return Math.max(0, ...this.processes.map(({ resumesAt }) => resumesAt - this.simulation.now))
  }

  /** Checks four times a second whether there is progress, after the end of faults whether all work is finished, and resumes destinations that were paused meanwhile. */
  private watch(): void {
    this.simulation.after(250, () => {
      this.progress.look(this.processes)
      if (!this.faultsStopped) return this.watch()
      if (this.ledger.unfinished === 0 && (!this.shape.endsIdle || this.isIdle())) {
        this.over = true
        return undefined
      }
      this.watch()
      return this.restore(false)
    })
  }

  /** Whether no partition has had an owner for longer than workers need to find one. */
  private isIdle(): boolean {
    const { now, storeNow } = this.simulation
    if (this.ledger.partitions.leased(storeNow).length > 0) this.idleSince = Math.max(this.idleSince, now)
    return now - this.idleSince > this.shape.options.pollMillis + 1000
  }

  private describeUnfinished(): string {
    const lines: Array<string> = []
    for (const destination of this.ledger.destinations.values()) {
      for (const entries of destination.waiting.values()) lines.push(...entries.map(({ key, sequence }) => `${destination.name} (${destination.state}): ${key}/${sequence} waits`))
      if (destination.leftover > 0) lines.push(`${destination.name} is closed, ${destination.leftover} entries are left`)
      for (const delivery of destination.unsettled.values()) lines.push(`${destination.name} (${destination.state}): ${delivery.id} is ${delivery.state} after ${delivery.tries}`)
    }
    for (const { name, owner } of this.ledger.partitions.leased(this.simulation.storeNow)) lines.push(`${name} is owned by ${owner}`)
    return lines.join("; ")
  }

  /** Runs events until an invariant is violated or `done` returns true. */
  private steps(done: () => boolean): void | Promise<void> {
    const { queue, counts } = this.simulation
    for (;;) {
      if (this.simulation.violation !== undefined || done()) return undefined
      const next = queue.next()
      if (next === undefined) return undefined
      counts.steps += 1
      if (counts.steps > maxSteps) return this.simulation.violate("A schedule ends within the maximum number of steps", `${counts.steps} steps`)
      const waits = next.run()
      if (waits !== undefined) return waits.then(() => this.steps(done))
    }
  }

  /** Stops workers gracefully, then compares the stored deliveries with the reference model. */
  private async close(): Promise<void> {
    const all = this.processes
    // a stop during a write repeats the write, which a schedule without faults must not do
    const atRest = this.shape.faults === 0 ? this.steps(() => all.every(({ pendingCalls }) => pendingCalls === 0)) : undefined
    if (atRest !== undefined) await atRest
    for (const process of all) {
      process.onEnd = () => {}
      process.stop()
    }
    let late = false
    const { attemptTimeoutMillis, drainMillis } = this.shape.options
    this.simulation.after(this.longestPause() + drainMillis + 2 * attemptTimeoutMillis + this.unansweredMillis, () => {
      late = true
    })
    const waits = this.steps(() => late || all.every((process) => process.ended))
    if (waits !== undefined) await waits
    if (this.simulation.violation !== undefined) return
    if (late) this.simulation.violate("A stopped worker ends in time", all.filter((process) => !process.ended).map(({ name }) => name).join(", "))
    await this.compareAll()
    await this.compareOwners(all)
  }

  /** After a stop no worker owns a partition, and no partition needs an owner. */
  private async compareOwners(stopped: ReadonlyArray<WorkerProcess>): Promise<void> {
    const { ledger, simulation, store } = this
    for (const { name, workerId } of stopped) {
      // a call before the end of faults may have made it the owner without its knowledge
      const left = workerId === undefined || this.shape.hasInternalFaults ? [] : ledger.partitions.ownedBy(workerId)
      if (left.length > 0) simulation.violate("A worker that stops releases its partitions", `${name} has ${left.map((partition) => partition.name).join()}`)
    }
    if (!this.shape.endsIdle) return
    const waits = store.run(store.delivery.look("nobody", Number.MAX_SAFE_INTEGER), (exit) => {
      const free = Exit.isSuccess(exit) ? exit.value.free : []
      if (free.length > 0) simulation.violate("A partition without work has no owner and needs none", free.map(({ partition, tenantId }) => `${tenantId}/${partition}`).join())
    })
    if (waits !== undefined) await waits
  }

  private async compareAll(): Promise<void> {
    for (let tenant = 0; tenant < this.shape.tenants; tenant++) {
      const tenantId = tenantOf(tenant)
      const query = { state: undefined, destinationId: undefined, since: undefined, after: undefined, limit: 1_000_000, order: "oldest" as const }
      const waits = this.store.run(this.store.queue.list(tenantId, query), (exit) => {
        if (!Exit.isSuccess(exit)) return this.simulation.violate("A call of the store succeeds", String(exit.cause))
        const own = [...this.ledger.deliveries.values()].filter(({ destination }) => destination.tenantId === tenantId)
        const shown = new Map(exit.value.deliveries.map((each) => [each.deliveryId, each]))
        if (shown.size !== own.length) this.simulation.violate("The store lists every delivery", `${shown.size} instead of ${own.length} of ${tenantId}`)
        for (const { accepted, id, state } of own) {
          if (shown.get(id)?.state !== state) this.simulation.violate("The store shows the final state of every delivery", `${id} is ${shown.get(id)?.state}, not ${state}`)
          if (state === "delivered" && accepted === 0) this.simulation.violate("A delivered delivery was accepted by its receiver", id)
        }
      })
      if (waits !== undefined) await waits
    }
  }
}


