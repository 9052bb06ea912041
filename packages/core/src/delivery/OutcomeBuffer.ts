/** What became of deliveries and is not written yet, and how long it may wait for company. */
import { Effect, Latch } from "effect"
import type { Attempt, Verdict } from "./Attempts.ts"
import type { Destination } from "./Destination.ts"
import type { DeliveryOutcome } from "./DeliveryStore.ts"

/** Nobody waits to hear of an attempt that failed before the next one: those of so many milliseconds are written together. */
const failuresMillis = 25

/** More outcomes than this are not waited for. */
const outcomesPerWrite = 512

/** A delivery whose outcome is known. `attempt` and `verdict` are missing where it was taken and not sent. */
export interface Ended {
  readonly destination: Destination
  readonly outcome: DeliveryOutcome
  readonly sent: { readonly attempt: Attempt; readonly verdict: Verdict } | undefined
}

export class UnwrittenOutcomes {
  private ended: Array<Ended> = []
  /** Destinations of which something is to be written. */
  private changed = new Set<Destination>()
  /** Open when there is something to write at once. */
  private readonly done = Latch.makeUnsafe(false)
  /** Open when there are attempts to write that failed. */
  private readonly failed = Latch.makeUnsafe(false)

  get size(): number {
    return this.ended.length
  }

  get isEmpty(): boolean {
    return this.ended.length === 0 && this.changed.size === 0
  }

  /** `isChanged`: breaker or pause of the destination are to be written with it. Whoever waits may go on at once, so both are noted before. */
  add(ended: Ended, isChanged: boolean): void {
    this.ended.push(ended)
    if (isChanged) this.changed.add(ended.destination)
    const latch = ended.outcome.state === "waiting" && !isChanged ? this.failed : this.done
    latch.openUnsafe()
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

  /** Outcomes that come in the same breath are written together. */
  gather(isSending: () => boolean): Effect.Effect<void> {
    const outcomes = this
    return Effect.gen(function*() {
      for (let turn = 0, seen = -1; turn < 16 && outcomes.size > seen && outcomes.size < outcomesPerWrite && isSending(); turn++) {
        seen = outcomes.size
        yield* Effect.yieldNow
      }
    })
  }

  /** All there is. What comes from now on counts for the next time. */
  take(): { readonly ended: ReadonlyArray<Ended>; readonly changed: ReadonlySet<Destination> } {
    const { changed, ended } = this
    this.ended = []
    this.changed = new Set()
    this.done.closeUnsafe()
    this.failed.closeUnsafe()
    return { ended, changed }
  }

  /** What could not be written is written the next time. */
  putBack({ changed, ended }: ReturnType<UnwrittenOutcomes["take"]>): void {
    this.ended = [...ended, ...this.ended]
    for (const destination of changed) this.changed.add(destination)
    this.failed.openUnsafe()
  }
}
