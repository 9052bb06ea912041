/**
 * One worker process with its own fibers, clock and random numbers. The simulation runs it task by task. A killed process never runs
 * again, so none of its finalizers run and its partitions are not released.
 */
import { SeededRandom } from "@waybill/conformance/fixtures"
import { UniqueIds } from "@waybill/core"
import { DeliveryOptions, type DeliveryOptionValues, DeliveryStore, DeliveryWorker, Hmac, Sealer, Wakeups, WebhookSender } from "@waybill/core/delivery"
import { Clock, Context, Duration, Effect, type Fiber, Random, References } from "effect"
import { type Scheduler, Scheduler as CurrentScheduler } from "effect/Scheduler"
import type { Participant } from "./EventQueue.ts"
import { destinationKeyOf } from "./Ledger.ts"
import type { LoadedVersion, Sender } from "./PostAudit.ts"
import type { Answered } from "./SettleAudit.ts"
import { nanosOf, storeEpoch, type SimulationContext } from "./SimulationContext.ts"
import type { Permits } from "./TakeAudit.ts"

interface ProcessPorts {
  readonly store: DeliveryStore["Service"]
  readonly sender: WebhookSender["Service"]
  readonly hmac: Hmac["Service"]
  readonly sealer: Sealer["Service"]
  readonly options: DeliveryOptionValues
}

interface ProcessPlan {
  readonly seed: number
  /** Its number among all processes of the schedule. */
  readonly number: number
  /** Milliseconds its clock is ahead of the store's when it starts. */
  readonly skewMillis: number
  /** Killed before this external effect (a store call or a POST), counted from 1. */
  readonly killedAtEffect: number
}

export class WorkerProcess implements Participant, Sender {
  readonly name: string
  dead = false
  resumesAt = 0
  pausedAt = -Infinity
  /** How many store calls wait for their answers. */
  pendingCalls = 0
  /** As it calls itself; `undefined` until it first calls the store. */
  workerId: string | undefined
  readonly permits: Permits = new Map()
  readonly loads = new Map<string, Array<LoadedVersion>>()
  readonly outcomes = new Map<string, Answered>()
  /** Called when it is killed or has stopped. */
  onEnd: () => void = () => {}
  private readonly simulation: SimulationContext
  private readonly plan: ProcessPlan
  /** The step of the schedule in which its clock was last changed. */
  clockSetStep = -1
  private skewMillis: number
  private effects = 0
  private cannotBeKilled = false
  private readonly tasks: Array<() => void> = []
  private turnPlanned = false
  private hints = new Set<string>()
  private hinted: (() => void) | undefined
  private fiber: Fiber.Fiber<void> | undefined

  constructor(simulation: SimulationContext, plan: ProcessPlan) {
    this.simulation = simulation
    this.plan = plan
    this.skewMillis = plan.skewMillis
    this.name = `worker ${plan.number}`
  }

  get ended(): boolean {
    return this.dead || this.fiber?.pollUnsafe() !== undefined
  }

  get localNow(): number {
    return storeEpoch + this.simulation.now + this.skewMillis
  }

  start(ports: ProcessPorts): void {
    const worker = Effect.flatMap(DeliveryWorker, ({ run }) => run).pipe(Effect.provide(DeliveryWorker.layer))
    this.fiber = Effect.runForkWith(this.contextOf(ports))(worker)
    this.fiber.addObserver(() => this.onEnd())
  }

  /** Stops gracefully: attempts in flight may finish. */
  stop(): void {
    this.fiber?.interruptUnsafe()
  }

  kill(): void {
    if (this.ended) return
    this.dead = true
    this.simulation.counts.crashes += 1
    this.simulation.note(this.name, "is killed")
    this.onEnd()
  }

  /** Suspends the process for some time, like a sleeping machine. */
  pause(millis: number): void {
    this.resumesAt = Math.max(this.resumesAt, this.simulation.now + millis)
    this.pausedAt = this.simulation.storeNow
  }

  learnLoaded(tenantId: string, destinationId: string, loaded: LoadedVersion): void {
    const place = destinationKeyOf(tenantId, destinationId)
    this.loads.set(place, [...this.loads.get(place) ?? [], loaded])
  }

  /** Moves its clock forward, or back if negative. Sleeping fibers wake as before. */
  setClock(moreMillis: number): void {
    this.skewMillis += moreMillis
    this.clockSetStep = this.simulation.counts.steps
  }

  /** Cancels the planned kill. */
  preventKill(): void {
    this.cannotBeKilled = true
  }

  /** Called before every external effect; `false` if the process is dead, so the effect does not happen. */
  beginEffect(): boolean {
    if (this.dead) return false
    this.effects += 1
    if (this.effects === this.plan.killedAtEffect && !this.cannotBeKilled) this.kill()
    return !this.dead
  }

  /** Hints that the tenant may have new entries. */
  hint(tenantId: string): void {
    this.hints.add(tenantId)
    this.hinted?.()
  }

  private contextOf({ hmac, options, sealer, sender, store }: ProcessPorts) {
    const random = new SeededRandom(this.plan.seed, this.name)
    return Context.make(DeliveryStore, store).pipe(
      Context.add(WebhookSender, sender),
      Context.add(Hmac, hmac),
      Context.add(Sealer, sealer),
      Context.add(DeliveryOptions, options),
      Context.add(UniqueIds, this.ids),
      Context.add(Wakeups, this.wakeups),
      Context.add(Clock.Clock, this.clock),
      Context.add(CurrentScheduler, this.scheduler),
      Context.add(Random.Random, {
        nextDoubleUnsafe: () => random.next(),
        nextIntUnsafe: () => random.between(-2_147_483_648, 2_147_483_647)
      }),
      Context.add(References.MinimumLogLevel, "None")
    )
  }

  /** Tasks of one process keep their order, as on one thread; other events may run between two of them. */
  private readonly scheduler: Scheduler = {
    executionMode: "async",
    shouldYield: () => false,
    makeDispatcher: () => ({
      scheduleTask: (task) => {
        this.tasks.push(task)
        this.planTurn()
      },
      flush: () => {
        for (let task = this.tasks.shift(); task !== undefined; task = this.tasks.shift()) task()
      }
    })
  }

  private planTurn(): void {
    if (this.turnPlanned || this.tasks.length === 0) return
    this.turnPlanned = true
    this.simulation.after(0, () => {
      this.turnPlanned = false
      this.tasks.shift()?.()
      this.planTurn()
    }, this)
  }

  private get clock(): Clock.Clock {
    const now = () => this.localNow
    // the monotonic clock starts at another value in each process
    const since = () => nanosOf(this.simulation.now + this.plan.number * 1234)
    const sleep = (duration: Duration.Duration): Effect.Effect<void> =>
      Effect.callback<void>((resume) => {
        const millis = Duration.toMillis(duration)
        if (!Number.isFinite(millis)) return
        const timer = this.simulation.after(Math.max(0, millis), () => resume(Effect.void), this)
        return Effect.sync(() => {
          timer.cancelled = true
        })
      })
    return {
      currentTimeMillisUnsafe: now,
      currentTimeMillis: Effect.sync(now),
      currentTimeNanosUnsafe: () => nanosOf(now()),
      currentTimeNanos: Effect.sync(() => nanosOf(now())),
      monotonicTimeNanosUnsafe: since,
      monotonicTimeNanos: Effect.sync(since),
      sleep
    }
  }

  private get ids(): UniqueIds["Service"] {
    let last = 0
    let counter = 0
    // the last four digits are the engine's: it numbers the deliveries of a take
    const own = `${this.plan.number.toString(16).padStart(8, "0")}0000`
    const nextAt = (millis: number): string => {
      counter = millis > last ? 0 : counter + 1
      last = Math.max(last, millis)
      const time = last.toString(16).padStart(12, "0")
      return `${time.slice(0, 8)}-${time.slice(8)}-7${counter.toString(16).padStart(3, "0")}-8000-${own}`
    }
    return { nextAt, next: Effect.sync(() => nextAt(this.localNow)) }
  }

  private get wakeups(): Wakeups["Service"] {
    return {
      wake: () => Effect.void,
      serve: () => Effect.void,
      next: Effect.callback<ReadonlySet<string>>((resume) => {
        const takeHints = () => {
          const hints = this.hints
          this.hints = new Set()
          this.hinted = undefined
          resume(Effect.succeed(hints))
        }
        if (this.hints.size > 0) return takeHints()
        this.hinted = takeHints
      })
    }
  }
}
