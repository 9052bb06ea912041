/** Buffers outcomes until they are written, and decides how long they may wait for a batch. */
import { Effect, Latch } from "effect"
import type { Attempt, Verdict } from "./Attempts.ts"
import type { Destination } from "./Destination.ts"
import type { DeliveryOutcome } from "../DeliveryStore.ts"

/** Failed attempts of this period are written together, because nothing depends on them before the retry. */
const failuresMillis = 25

/** Outcomes in one write, at most, before the buffer stops waiting for more. */
const outcomesPerWrite = 512

/** From so many attempts in flight on, outcomes of this period are written together: each write reads the flights that it ends deliveries of. */
const manyInFlight = 64
const gatherMillis = 10

/** A delivery whose outcome is known. `attempt` and `verdict` are missing where it was taken and not sent. */
export interface Ended {
  readonly destination: Destination
  readonly outcome: DeliveryOutcome
  readonly sent: { readonly attempt: Attempt; readonly verdict: Verdict } | undefined
}

export class OutcomeBuffer {
  private ended: Array<Ended> = []
  /** Destinations of which something is to be written. */
  private changed = new Set<Destination>()
  /** Open when there is something to write at once. */
  private readonly done = Latch.makeUnsafe(false)
  /** Open when there is enough for one write. */
  private readonly full = Latch.makeUnsafe(false)
  /** Open when there are attempts to write that failed. */
  private readonly failed = Latch.makeUnsafe(false)

  get size(): number {
    return this.ended.length
  }

  get isEmpty(): boolean {
    return this.ended.length === 0 && this.changed.size === 0
  }

  /** `isChanged`: breaker or pause of the destination are to be written with it. A waiting fiber may run at once, so both are stored before. */
  add(ended: Ended, isChanged: boolean): void {
    this.ended.push(ended)
    if (isChanged) this.changed.add(ended.destination)
    const latch = ended.outcome.state === "waiting" && !isChanged ? this.failed : this.done
    latch.openUnsafe()
    if (this.ended.length >= outcomesPerWrite) this.full.openUnsafe()
  }

  /** Breaker or pause of the destination is to be written. */
  change(destination: Destination): void {
    this.changed.add(destination)
    this.done.openUnsafe()
  }

  /** Until there is something to write. */
  get until(): Effect.Effect<void> {
    return Effect.raceFirst(this.done.await, Effect.andThen(this.failed.await, Effect.sleep(failuresMillis)))
  }

  /** Waits a few turns of the event loop, so that simultaneous outcomes are written together; longer while many attempts are in flight. */
  gather(inFlight: () => number): Effect.Effect<void> {
    return Effect.gen({ self: this }, function*() {
      if (inFlight() >= manyInFlight) return yield* Effect.raceFirst(this.full.await, Effect.sleep(gatherMillis))
      for (let turn = 0, seen = -1; turn < 16 && this.size > seen && this.size < outcomesPerWrite && inFlight() > 0; turn++) {
        seen = this.size
        yield* Effect.yieldNow
      }
    })
  }

  /** Returns and empties the buffer. */
  take(): { readonly ended: ReadonlyArray<Ended>; readonly changed: ReadonlySet<Destination> } {
    const { changed, ended } = this
    this.ended = []
    this.changed = new Set()
    this.done.closeUnsafe()
    this.full.closeUnsafe()
    this.failed.closeUnsafe()
    return { ended, changed }
  }

  /** Returns outcomes that could not be written to the buffer. */
  putBack({ changed, ended }: ReturnType<OutcomeBuffer["take"]>): void {
    this.ended = [...ended, ...this.ended]
    for (const destination of changed) this.changed.add(destination)
    this.failed.openUnsafe()
  }
}
