/**
 * The loops of the delivery engine over one state: one owns partitions, some take deliveries and begin attempts, one writes outcomes. While
 * one loop waits for storage, attempts and the other loops continue.
 *
 * All durable state is in the store. A killed worker loses only its leases, which expire.
 */
import { Cause, type Context, Effect } from "effect"
import { lastWritesMillis } from "../../shared/StopDeadline.ts"
import { StorageError } from "../../shared/StoragePort.ts"
import { completeAll } from "../../shared/CompleteAll.ts"
import { LineLimiter } from "../../shared/LineLimiter.ts"
import { monotonicMillis } from "../../shared/MonotonicTime.ts"
import { EngineState, type EngineServices, failurePauseMillis } from "./EngineState.ts"
import { Owning } from "./Owning.ts"
import { Sending } from "./Sending.ts"
import { Settling } from "./Settling.ts"
import { takesAtOnce, Taking } from "./Taking.ts"

/** One worker. */
export class DeliveryEngine {
  private readonly parts: EngineState
  private readonly owning: Owning
  private readonly taking: Taking
  private readonly sending: Sending
  private readonly settling: Settling
  private readonly lines = new LineLimiter()

  /** `context`: of the fiber that it runs in. */
  constructor(services: EngineServices, workerId: string, context: Context.Context<never>) {
    this.parts = new EngineState(services, workerId, context)
    this.owning = new Owning(this.parts)
    this.sending = new Sending(this.parts)
    this.taking = new Taking(this.parts, this.sending)
    this.settling = new Settling(this.parts)
  }

  /** Works until interrupted. */
  get run(): Effect.Effect<void> {
    const { outcomes, services } = this.parts
    const listening = Effect.forever(Effect.map(services.wakeups.next, (tenantIds) => {
      for (const tenantId of tenantIds) this.owning.hint(tenantId)
    }))
    const taking = Array.from({ length: takesAtOnce }, () => this.runWithRestart(this.taking.turn(failurePauseMillis), this.taking.until))
    const loops = [this.runWithRestart(this.owning.turn, this.owning.until), ...taking, this.runWithRestart(this.settling.turn, outcomes.until), listening]
    const serving = services.wakeups.serve((tenantId) => this.owning.servesAlone(tenantId))
    return Effect.scoped(Effect.andThen(serving, Effect.raceAllFirst(loops))).pipe(
      Effect.onExit(() => this.stop),
      Effect.asVoid
    )
  }

  /** Sends due deliveries, and begins none after `forMillis`. Returns the number of attempts, or fails with the first failure of a tenant, after the others were served. */
  drain(forMillis: number): Effect.Effect<number, StorageError> {
    const { options, outcomes, slots, work } = this.parts
    const renewing = this.runWithRestart(this.owning.keep, Effect.sleep(options.leaseMillis / 6))
    const draining = Effect.gen({ self: this }, function*() {
      let now = yield* monotonicMillis
      const endsAt = now + forMillis
      /** Since when only outcomes are left that could not be written: of a tenant that fails, or of a destination that another transaction has locked. */
      let idleSince: number | undefined
      let failure: Cause.Cause<StorageError> | undefined
      /** Undefined if it fails. */
      const tried = <A>(turn: Effect.Effect<A, StorageError>) => Effect.catchCause(turn, (cause) => Effect.sync(() => {
        failure ??= cause
        return undefined
      }))
      for (;;) {
        const owned = work.partitions.length
        const found = (yield* tried(this.owning.sweep)) ?? work.partitions.length > owned
        yield* tried(this.taking.turn(Infinity))
        const isWritten = yield* tried(Effect.as(this.settling.turn, true))
        now = yield* monotonicMillis
        // a tenant that fails is left out
        const wants = found || slots.free > 0 && Array.from(work.demand).some(({ failingUntil }) => failingUntil < endsAt)
        const isIdle = slots.used === 0 && !wants
        const patience = isWritten === undefined ? 0 : options.drainMillis
        if (now >= endsAt || isIdle && (outcomes.isEmpty || idleSince !== undefined && now >= idleSince + patience)) break
        idleSince = isIdle ? idleSince ?? now : undefined
        if ((slots.used > 0 || !outcomes.isEmpty) && !wants) yield* Effect.raceAllFirst([outcomes.until, this.taking.until, Effect.sleep(endsAt - now)])
      }
      if (failure !== undefined) yield* Effect.failCause(failure)
    })
    return Effect.raceAllFirst([draining, renewing]).pipe(
      Effect.onExit(() => this.stop),
      Effect.map(() => this.sending.begun)
    )
  }

  /** Repeats a turn. After an error it logs the error and waits one second. */
  private runWithRestart(turn: Effect.Effect<void, StorageError>, pause: Effect.Effect<void>): Effect.Effect<never> {
    return Effect.forever(Effect.matchCauseEffect(turn, {
      onSuccess: () => pause,
      // a defect must not stop deliveries: the next turn tries again
      onFailure: (cause) =>
        Cause.hasInterruptsOnly(cause)
          ? Effect.interrupt
          : Effect.andThen(this.lines.log("Delivery worker", Effect.logError("Delivery worker failed, restarting in 1 s.", cause)), Effect.sleep(failurePauseMillis))
    }))
  }

  /** Waits up to `drainMillis` for attempts in flight, writes outcomes, and releases all partitions, those without attempts at once. */
  private get stop(): Effect.Effect<unknown> {
    const { attempts, options, outcomes, slots } = this.parts
    return Effect.gen({ self: this }, function*() {
      // a part of it is for what the process writes afterwards
      const endsAt = (yield* monotonicMillis) + options.drainMillis + lastWritesMillis * 3 / 4
      const idle = Effect.gen({ self: this }, function*() {
        while (slots.used > 0) {
          yield* outcomes.until
          yield* Effect.ignore(this.settling.turn)
        }
      })
      const handingOver = this.runWithRestart(this.owning.handOver, this.owning.until)
      if (slots.used > 0) yield* Effect.raceAllFirst([idle, handingOver, Effect.sleep(options.drainMillis)].map((each) => Effect.interruptible(each)))
      attempts.interruptAll()
      // a tenant whose writes fail or are blocked does not keep the partitions of the others
      yield* completeAll([this.settling.turn, ...this.owning.leave].map((step) => withinHalf(endsAt, step))).pipe(Effect.catchTag("StorageError", (error) =>
        Effect.logError("Outcomes not written, or partitions not released, at shutdown. Their deliveries are sent again, at the latest when the leases expire.", error)))
    })
  }
}

/** Ends a step of a stop after half of the time that is left. In a finalizer only the fibers of a race can be interrupted. */
const withinHalf = (endsAt: number, step: Effect.Effect<void, StorageError>): Effect.Effect<void, StorageError> =>
  Effect.flatMap(monotonicMillis, (now) => {
    const millis = Math.max(0, endsAt - now) / 2
    const late = new StorageError({ operation: "DeliveryEngine.stop", cause: `No end within ${millis / 1000} seconds. Another transaction may hold locks.` })
    return Effect.raceFirst(Effect.interruptible(step), Effect.interruptible(Effect.andThen(Effect.sleep(millis), Effect.fail(late))))
  })
