/** Buffers outcomes until they are written, and decides how long they may wait for a batch. */
import { Effect, Latch } from "effect"
import type { Attempt, Verdict } from "./Attempts.ts"
import type { Destination } from "./Destination.ts"
import type { DeliveryOutcome } from "../DeliveryStore.ts"

/** Failed attempts of this period are written together, because nothing depends on them before the retry. */
const failuresMillis = 25

/** Outcomes in one write, at most, before the buffer stops waiting for more. */
const outcomesPerWrite = 512

/** From so many attempts in flight on, outcomes are gathered for a while: each write reads the flights that it ends deliveries of. */
const manyInFlight = 64
const gatherMillis = 10
const longestGatherMillis = 100

/**
 * How long outcomes are gathered while many attempts are in flight and many end, by the time that a write takes. A store that needs longer is busy, often with
 * the statements of other workers, and larger writes, and the larger takes that follow them, save more of it.
 */
export const gatherMillisOf = (writeMillis: number): number => Math.min(longestGatherMillis, Math.max(gatherMillis, 4 * writeMillis))

/** Outcomes that do not wait for more: a full write, or two thirds of all attempts, so that receivers have the rest meanwhile. */
export const enoughOf = (unwritten: number, inFlight: number): number => Math.min(outcomesPerWrite, Math.ceil((unwritten + inFlight) * 2 / 3))

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
  /** Outcomes for one write. */
  private enough = outcomesPerWrite
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
    if (this.ended.length >= this.enough) this.full.openUnsafe()
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

  /** Waits a few turns of the event loop, so that simultaneous outcomes are written together; longer while many attempts are in flight. `writeMillis`: what a write takes. */
  gather(inFlight: () => number, writeMillis: number): Effect.Effect<void> {
    return Effect.gen({ self: this }, function*() {
      if (inFlight() >= manyInFlight) return yield* this.gatherMany(inFlight(), gatherMillisOf(writeMillis))
      for (let turn = 0, seen = -1; turn < 16 && this.size > seen && this.size < outcomesPerWrite && inFlight() > 0; turn++) {
        seen = this.size
        yield* Effect.yieldNow
      }
    })
  }

  private gatherMany(inFlight: number, millis: number): Effect.Effect<void> {
    return Effect.gen({ self: this }, function*() {
      this.enough = enoughOf(this.size, inFlight)
      if (this.size >= this.enough) return
      yield* Effect.raceFirst(this.full.await, Effect.sleep(gatherMillis))
      // where most attempts hang, the few that end do not wait for them
      if (this.size < this.enough && this.size * millis >= this.enough * gatherMillis) yield* Effect.raceFirst(this.full.await, Effect.sleep(millis - gatherMillis))
    })
  }

  /** Returns and empties the buffer. */
  take(): { readonly ended: ReadonlyArray<Ended>; readonly changed: ReadonlySet<Destination> } {
    const { changed, ended } = this
    this.ended = []
    this.changed = new Set()
    this.enough = outcomesPerWrite
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
