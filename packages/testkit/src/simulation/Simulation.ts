/** One schedule from its seed: the real engine, several processes of it, one store, and everything that goes wrong. */
import { type Context, Exit } from "effect"
import { accessChanges } from "./AccessChanges.ts"
import { SimulationRandom } from "./SimulationRandom.ts"
import { disturb } from "./Disturbances.ts"
import { Ledger, type LedgerLane } from "./Ledger.ts"
import { interventions, Operators, tenantOf } from "./Operators.ts"
import { Receivers } from "./Receivers.ts"
import { cheapSha256, openSealer, realSha256 } from "./Secrets.ts"
import { drawShape, type Shape, type SimulationShape } from "./Shape.ts"
import { type SimulatedPorts, SimulatedStore } from "./SimulatedStore.ts"
import { StoreWire } from "./StoreWire.ts"
import { FaultModel } from "./FaultModel.ts"
import { WorkerProcess } from "./WorkerProcess.ts"
import { SimulationContext } from "./SimulationContext.ts"

/** More than any schedule takes that comes to rest. */
const mostSteps = 20_000

export class Simulation {
  readonly simulation: SimulationContext
  readonly shape: Shape
  private readonly seed: number
  private readonly ledger = new Ledger()
  private readonly store: SimulatedStore
  private readonly faultModel: FaultModel
  private readonly receivers: Receivers
  private readonly wire: StoreWire
  private readonly operators: Operators
  private readonly faults: SimulationRandom
  private readonly waylaid: SimulationRandom
  private processes: Array<WorkerProcess> = []
  private lastProcess = 0
  private calm = false
  private over = false

  constructor(seed: number, asked: SimulationShape, ports: Context.Context<SimulatedPorts>, tracing: boolean) {
    this.seed = seed
    this.shape = drawShape(seed, asked)
    this.simulation = new SimulationContext(seed, tracing)
    this.faults = new SimulationRandom(seed, "faults")
    this.store = new SimulatedStore(this.simulation, ports)
    this.faultModel = new FaultModel(this.simulation, this.shape.disturbed)
    this.receivers = new Receivers(this.simulation, this.ledger, this.sha256, { slow: this.shape.faults > 0 ? 0.05 : 0, undisturbed: !this.shape.disturbed })
    this.waylaid = new SimulationRandom(seed, "waylaid")
    this.wire = new StoreWire(this.simulation, {
      ledger: this.ledger,
      store: this.store,
      faultModel: this.faultModel,
      shape: this.shape,
      handedOut: (tenantId, deliveryIds, lanes) => this.waylay(tenantId, deliveryIds, lanes)
    })
    this.operators = new Operators(this.simulation, {
      ledger: this.ledger,
      store: this.store,
      shape: this.shape,
      random: new SimulationRandom(seed, "operators"),
      accessChance: new SimulationRandom(seed, "access"),
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
    return this.shape.realHmac ? realSha256 : cheapSha256
  }

  /** Everything that people do and everything that breaks, at moments of its own; then the calm. */
  private plan(): void {
    const { shape, simulation } = this
    const random = new SimulationRandom(this.seed, "plan")
    const published = Array.from({ length: shape.publications }, () => Math.floor(random.next() * shape.spanMillis))
    for (const moment of published) simulation.after(moment, () => this.operators.publish())
    // much of what goes wrong needs two things within milliseconds
    const moment = (draws: SimulationRandom, share: number) =>
      published.length > 0 && draws.share(0.4) ? draws.pick(published) + draws.between(0, 12) : Math.floor(draws.next() * shape.spanMillis * share)
    const owners = new SimulationRandom(this.seed, "interventions")
    for (let each = 0; each < shape.interventions; each++) {
      simulation.after(moment(owners, 2), () => this.operators.intervene(owners.pick(interventions)))
    }
    const access = new SimulationRandom(this.seed, "access moments")
    for (let each = 0; each < shape.accessChanges; each++) {
      simulation.after(moment(access, 2), () => this.operators.changeAccess(access.pick(accessChanges)))
    }
    const faulty = new SimulationRandom(this.seed, "faulty")
    for (let each = 0; each < shape.faults; each++) {
      simulation.after(moment(faulty, 1.5), () =>
        disturb(this.faults, {
          simulation,
          faultModel: this.faultModel,
          receivers: this.receivers,
          disturbed: shape.disturbed,
          leaseMillis: shape.options.leaseMillis,
          lanes: () => [...this.ledger.lanes.values()].filter(({ open }) => open).map(({ name }) => name),
          processes: () => this.processes
        }))
    }
    simulation.after(shape.spanMillis * 2 + random.pick([1, 500, 4000]), () => this.becalm(random.share(0.4)))
  }

  /** Somebody comes between a claim and what is frozen of it. */
  private waylay(tenantId: string, deliveryIds: ReadonlyArray<string>, lanes: ReadonlyArray<LedgerLane>): void {
    const { operators, shape, waylaid, simulation } = this
    if (this.calm) return
    if (deliveryIds.length > 0 && shape.interventions > 0 && waylaid.share(0.02)) {
      simulation.after(waylaid.pick([0, 0, 1, 3]), () => operators.retryHandedOut(tenantId, deliveryIds))
    }
    if (shape.accessChanges > 0 && waylaid.share(0.03)) {
      const lane = waylaid.pick(lanes)
      simulation.after(waylaid.pick([0, 0, 1, 3]), () => operators.changeHandedOut(lane))
    }
  }

  private startWorker(): void {
    const { faults, shape, simulation } = this
    const number = ++this.lastProcess
    const process = new WorkerProcess(simulation, {
      seed: this.seed,
      number,
      skewMillis: faults.pick([0, 0, 0, 3, -250, 7000, -3_600_000, 86_400_000]),
      diesAt: shape.disturbed && shape.faults > 0 && !this.calm && faults.share(shape.frailty) ? faults.between(1, faults.pick([6, 40])) : Infinity
    })
    process.onEnd = () => this.replace(process)
    this.processes.push(process)
    simulation.note(process.name, "starts")
    process.start({
      queue: this.wire.queueOf(process),
      sender: this.receivers.senderOf(process, shape.byCallbacks),
      hmac: { sha256: this.sha256 },
      sealer: openSealer,
      options: shape.options
    })
  }

  /** One process ended; sooner or later another one starts in its place. */
  private replace(process: WorkerProcess): void {
    this.processes = this.processes.filter((each) => each !== process)
    const wait = this.calm ? 0 : this.faults.pick([0, 1, 300, this.shape.options.leaseMillis, this.shape.options.leaseMillis * 2])
    this.simulation.after(wait, () => {
      if (this.calm && this.processes.length > 0) return
      this.startWorker()
    })
  }

  private wake(tenantId: string): void {
    for (const process of this.processes) {
      if (this.faultModel.hintsLost > 0 && this.simulation.random.share(this.faultModel.hintsLost)) continue
      this.simulation.after(this.simulation.random.pick([0, 0, 1, 5]), () => process.hint(tenantId), process)
    }
  }

  private async restore(recovering: boolean): Promise<void> {
    for (const waits of this.operators.restore(recovering)) if (waits !== undefined) await waits
  }

  /** Nothing breaks any more, and everything that is owed has to arrive in time. */
  private becalm(recovering: boolean): void | Promise<void> {
    const { shape, simulation } = this
    this.calm = true
    simulation.note("world", "is calm from now on")
    this.faultModel.clear()
    this.receivers.clear()
    for (const process of this.processes) process.spare()
    if (this.processes.every((process) => process.ended)) this.startWorker()
    const policies = shape.lanes.map(({ policy }) => policy)
    const slowest = Math.min(...policies.map((policy) => policy.rateLimitPerMinute))
    const pause = Math.max(...policies.map((policy) => policy.maxBackoffSeconds)) * 1000
    const { leaseMillis, pollMillis } = shape.options
    const patience = this.standstill() + 20_000 + 3 * (leaseMillis + pollMillis + pause) + (this.ledger.restless + this.ledger.deliveries.size + 12) * Math.ceil(60_000 / slowest)
    simulation.after(patience, () => simulation.violate("Nothing is lost, and nothing stands still", this.leftover()))
    this.look()
    return this.restore(recovering)
  }

  /** Milliseconds until every process runs again. */
  private standstill(): number {
    return Math.max(0, ...this.processes.map(({ resumesAt }) => resumesAt - this.simulation.now))
  }

  /** Whether it is all done; and a lane that was paused meanwhile is resumed by its owner. */
  private look(): void {
    this.simulation.after(250, () => {
      if (this.ledger.restless === 0) {
        this.over = true
        return undefined
      }
      this.look()
      return this.restore(false)
    })
  }

  private leftover(): string {
    const lines: Array<string> = []
    for (const lane of this.ledger.lanes.values()) {
      for (const entries of lane.waiting.values()) lines.push(...entries.map(({ key, sequence }) => `${lane.name} (${lane.state}): ${key}/${sequence} waits`))
      for (const delivery of lane.unsettled.values()) lines.push(`${lane.name} (${lane.state}): ${delivery.id} is ${delivery.state} after ${delivery.tries}`)
    }
    return lines.join("; ")
  }

  /** Until something broke or `done` says so. */
  private steps(done: () => boolean): void | Promise<void> {
    const { queue, counts } = this.simulation
    for (;;) {
      if (this.simulation.violation !== undefined || done()) return undefined
      const next = queue.next()
      if (next === undefined) return undefined
      counts.steps += 1
      if (counts.steps > mostSteps) return this.simulation.violate("A schedule comes to rest", `${counts.steps} steps`)
      const waits = next.run()
      if (waits !== undefined) return waits.then(() => this.steps(done))
    }
  }

  /** Workers stop as in an upgrade; what they leave is compared with what must be. */
  private async close(): Promise<void> {
    const all = this.processes
    // to be stopped in the middle of a write is a fault as well: it is written once more
    const atRest = this.shape.faults === 0 ? this.steps(() => all.every(({ asking }) => asking === 0)) : undefined
    if (atRest !== undefined) await atRest
    for (const process of all) {
      process.onEnd = () => {}
      process.stop()
    }
    let late = false
    const { attemptTimeoutMillis, drainMillis, leaseMillis } = this.shape.options
    // what was asked of the store before it was calm may never be answered; a worker gives that up after half a lease
    const unanswered = Math.max(5_000, leaseMillis / 2)
    this.simulation.after(this.standstill() + drainMillis + 2 * attemptTimeoutMillis + unanswered, () => {
      late = true
    })
    const waits = this.steps(() => late || all.every((process) => process.ended))
    if (waits !== undefined) await waits
    if (this.simulation.violation !== undefined) return
    if (late) this.simulation.violate("A worker that is stopped ends in time", all.filter((process) => !process.ended).map(({ name }) => name).join(", "))
    await this.compareAll()
  }

  private async compareAll(): Promise<void> {
    for (let tenant = 0; tenant < this.shape.tenants; tenant++) {
      const tenantId = tenantOf(tenant)
      const query = { state: undefined, laneId: undefined, since: undefined, after: undefined, limit: 1_000_000, order: "oldest" as const }
      const waits = this.store.run(this.store.queue.list(tenantId, query), (exit) => {
        if (!Exit.isSuccess(exit)) return this.simulation.violate("The store does what it is told", String(exit.cause))
        const own = [...this.ledger.deliveries.values()].filter(({ lane }) => lane.tenantId === tenantId)
        const shown = new Map(exit.value.map((each) => [each.deliveryId, each]))
        if (shown.size !== own.length) this.simulation.violate("Every delivery stays to be seen", `${shown.size} instead of ${own.length} of ${tenantId}`)
        for (const { accepted, id, state } of own) {
          if (shown.get(id)?.state !== state) this.simulation.violate("Every delivery ends as it ended", `${id} is ${shown.get(id)?.state}, not ${state}`)
          if (state === "delivered" && accepted === 0) this.simulation.violate("Only what a receiver accepted counts as delivered", id)
        }
      })
      if (waits !== undefined) await waits
    }
  }
}


