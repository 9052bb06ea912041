/**
 * The delivery engine's loops over one state: one owns partitions, some take what may go out and begin its attempts, one writes what became of
 * it. While one waits for storage, attempts run and the others go on.
 *
 * Everything that must survive is in the store: a worker that is killed loses only its leases, which run out.
 */
import { Effect } from "effect"
import type { StorageError } from "../shared/StorageError.ts"
import { EngineParts, type EngineServices } from "./EngineParts.ts"
import { Owning } from "./Owning.ts"
import { Sending } from "./Sending.ts"
import { Settling } from "./Settling.ts"
import { steadily } from "./Steadily.ts"
import { Taking } from "./Taking.ts"

/** Takes of different tenants that have no answer yet, at most. */
const takesAtOnce = 4

/** One worker, from its first look to its stop. */
export class DeliveryEngine {
  private readonly parts: EngineParts
  private readonly owning: Owning
  private readonly taking: Taking
  private readonly sending: Sending
  private readonly settling: Settling

  constructor(services: EngineServices, workerId: string) {
    this.parts = new EngineParts(services, workerId)
    this.owning = new Owning(this.parts)
    this.sending = new Sending(this.parts)
    this.taking = new Taking(this.parts, this.sending)
    this.settling = new Settling(this.parts)
  }

  /** Works until interrupted. */
  get run(): Effect.Effect<void> {
    const { attempts, services } = this.parts
    const listening = Effect.forever(Effect.map(services.wakeups.next, (tenantIds) => {
      for (const tenantId of tenantIds) this.owning.hint(tenantId)
    }))
    const taking = Array.from({ length: takesAtOnce }, () => steadily(this.taking.turn, this.taking.until))
    const loops = [steadily(this.owning.turn, this.owning.until), ...taking, steadily(this.settling.turn, this.settling.until), listening]
    return Effect.andThen(attempts.ready, Effect.raceAllFirst(loops)).pipe(
      Effect.onExit(() => this.stop),
      Effect.asVoid
    )
  }

  /** Sends what is due and answers how many attempts that took. */
  get drain(): Effect.Effect<number, StorageError> {
    const engine = this
    const { attempts, outcomes, slots, work } = this.parts
    return Effect.gen(function*() {
      yield* attempts.ready
      for (;;) {
        const found = yield* engine.owning.sweep
        yield* engine.taking.turn
        yield* engine.settling.turn
        if (slots.used === 0 && outcomes.isEmpty && work.demand.size === 0 && !found) return engine.sending.begun
        if (slots.used > 0 && work.demand.size === 0) yield* Effect.raceFirst(engine.settling.until, engine.taking.until)
      }
    }).pipe(Effect.onExit(() => this.stop))
  }

  /** Waits for attempts in flight as long as `drainMillis`, writes outcomes, and gives everything back. */
  private get stop(): Effect.Effect<void> {
    const engine = this
    const { attempts, options, outcomes, slots } = this.parts
    return Effect.gen(function*() {
      engine.parts.stopping = true
      const idle = Effect.gen(function*() {
        while (slots.used > 0) {
          yield* outcomes.until
          yield* Effect.ignore(engine.settling.turn)
        }
      })
      yield* Effect.raceFirst(Effect.interruptible(idle), Effect.interruptible(Effect.sleep(options.drainMillis)))
      yield* attempts.abandon
      yield* Effect.andThen(engine.settling.turn, engine.owning.leave).pipe(
        Effect.catchTag("StorageError", (error) =>
          Effect.logError("Outcomes not written at shutdown. Their leases expire, then the deliveries are sent again.", error))
      )
    })
  }
}
