/**
 * One process that delivers: its fibers, its clock, its chance. The world runs it turn by turn; a killed one is simply never run
 * again, so no finalizer of it runs and nothing is given back.
 */
import {
  DeliveryOptions,
  DeliveryQueue,
  DeliveryWorker,
  Hmac,
  Sealer,
  UniqueIds,
  Wakeups,
  WebhookSender
} from "@waybill/core"
import { Context, Duration, Effect, type Fiber, References } from "effect"
import * as Clock from "effect/Clock"
import * as Random from "effect/Random"
import { type Scheduler, Scheduler as CurrentScheduler } from "effect/Scheduler"
import type { Attendant } from "./EventQueue.ts"
import { SimulationRandom } from "./SimulationRandom.ts"
import type { Grant } from "./ClaimAudit.ts"
import type { Permits } from "./FreezeAudit.ts"
import type { Answered } from "./SettleAudit.ts"
import { storeEpoch, type SimulationContext } from "./SimulationContext.ts"

export interface ProcessPorts {
  readonly queue: DeliveryQueue["Service"]
  readonly sender: WebhookSender["Service"]
  readonly hmac: Hmac["Service"]
  readonly sealer: Sealer["Service"]
  readonly options: DeliveryOptions["Service"]
}

export interface ProcessPlan {
  readonly seed: number
  /** Counts all processes of a schedule. */
  readonly number: number
  /** Milliseconds its clock is ahead of the store's when it starts. */
  readonly skewMillis: number
  /** Killed at this effect on the outside, before it happens; counts from 1. */
  readonly diesAt: number
}

const nanos = (millis: number): bigint => BigInt(Math.floor(millis)) * 1_000_000n

export class WorkerProcess implements Attendant {
  readonly name: string
  dead = false
  resumesAt = 0
  /** Calls to the store whose answers it waits for. */
  asking = 0
  /** What its last claim told of each lane. */
  grants: ReadonlyMap<string, Grant> = new Map()
  readonly permits: Permits = new Map()
  readonly outcomes = new Map<string, Answered>()
  /** Told when it was killed, or has stopped. */
  onEnd: () => void = () => {}
  private readonly simulation: SimulationContext
  private readonly plan: ProcessPlan
  /** The step of the schedule in which its clock was set last. */
  clockSetIn = -1
  private skewMillis: number
  private effects = 0
  private immortal = false
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

  /** As in an upgrade: what is under way may end. */
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

  /** Its clock is set: from now on it shows so many milliseconds more. What sleeps wakes as it would have. */
  setClock(moreMillis: number): void {
    this.skewMillis += moreMillis
    this.clockSetIn = this.simulation.counts.steps
  }

  /** From now on nothing kills it. */
  spare(): void {
    this.immortal = true
  }

  /** Called before every effect on the outside; `false` when it does not happen, because there is nobody any more. */
  reaches(): boolean {
    if (this.dead) return false
    this.effects += 1
    if (this.effects === this.plan.diesAt && !this.immortal) this.kill()
    return !this.dead
  }

  /** There may be something for this tenant. */
  hint(tenantId: string): void {
    this.hints.add(tenantId)
    this.hinted?.()
  }

  private contextOf({ hmac, options, queue, sealer, sender }: ProcessPorts) {
    const random = new SimulationRandom(this.plan.seed, this.name)
    return Context.make(DeliveryQueue, queue).pipe(
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

  /** Tasks of one process keep their order, as on one thread; between two of them anything else may happen. */
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
    // from a moment that is each process's own
    const since = () => nanos(this.simulation.now + this.plan.number * 1234)
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
      currentTimeNanosUnsafe: () => nanos(now()),
      currentTimeNanos: Effect.sync(() => nanos(now())),
      monotonicTimeNanosUnsafe: since,
      monotonicTimeNanos: Effect.sync(since),
      sleep
    }
  }

  private get ids(): UniqueIds["Service"] {
    let last = 0
    let counter = 0
    const own = this.plan.number.toString(16).padStart(12, "0")
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
      next: Effect.callback<ReadonlySet<string>>((resume) => {
        const tell = () => {
          const news = this.hints
          this.hints = new Set()
          this.hinted = undefined
          resume(Effect.succeed(news))
        }
        if (this.hints.size > 0) return tell()
        this.hinted = tell
      })
    }
  }
}
