/** What became of deliveries and is not written yet, and how long it may wait for company. */
import { Effect, Latch } from "effect"
import type { Finished, Hopeless } from "./HeldDestination.ts"

/** Nobody waits to hear of an attempt that failed before the next one: those of so many milliseconds are written together. */
const failuresMillis = 25

/** More outcomes than this are not waited for. */
const outcomesPerWrite = 512

interface Ended {
  readonly finished: ReadonlyArray<Finished>
  readonly hopeless: ReadonlyArray<Hopeless>
}

export class UnwrittenOutcomes {
  private finished: Array<Finished> = []
  private hopeless: Array<Hopeless> = []
  /** Open when there is something to write at once, or to give back. */
  private readonly done = Latch.makeUnsafe(false)
  /** Open when there are attempts to write that failed. */
  private readonly failed = Latch.makeUnsafe(false)

  get attempts(): number {
    return this.finished.length
  }

  add(finished: Finished): void {
    this.finished.push(finished)
    const latch = finished.verdict.state === "waiting" ? this.failed : this.done
    latch.openUnsafe()
  }

  /** Written with what is written next. */
  giveUp(hopeless: Hopeless): void {
    this.hopeless.push(hopeless)
  }

  /** A destination may be given back. */
  wake(): void {
    this.done.openUnsafe()
  }

  /** Until there is something to write. */
  get until(): Effect.Effect<void> {
    return Effect.raceFirst(this.done.await, Effect.andThen(this.failed.await, Effect.sleep(failuresMillis)))
  }

  /** Outcomes that come in the same breath are written together. */
  gather(isSending: () => boolean): Effect.Effect<void> {
    const outcomes = this
    return Effect.gen(function*() {
      for (let turn = 0, seen = -1; turn < 16 && outcomes.attempts > seen && outcomes.attempts < outcomesPerWrite && isSending(); turn++) {
        seen = outcomes.attempts
        yield* Effect.yieldNow
      }
    })
  }

  /** All there is. What comes from now on counts for the next time. */
  take(): Ended {
    const { finished, hopeless } = this
    this.finished = []
    this.hopeless = []
    this.done.closeUnsafe()
    this.failed.closeUnsafe()
    return { finished, hopeless }
  }

  /** What could not be written is written the next time. */
  putBack({ finished, hopeless }: Ended): void {
    this.finished = [...finished, ...this.finished]
    this.hopeless = [...hopeless, ...this.hopeless]
  }
}
