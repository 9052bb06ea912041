/** Buffers outcomes until they are written, and decides how long they may wait for a batch. */
import { Effect, Latch } from "effect"
import type { Destination } from "./Destination.ts"
import type { Written } from "../DeliveryReport.ts"

/** Failed attempts of this time (milliseconds) are written together, because nothing depends on them before the retry. */
const failuresMillis = 25

/** Number of outcomes at which the buffer does not wait for more. */
const outcomesPerWrite = 512

/** From this number of attempts in flight, outcomes are gathered for some milliseconds, because each write reads the flights of its deliveries. */
const manyInFlight = 64
const gatherMillis = 10
const longestGatherMillis = 100

/**
 * Milliseconds for which outcomes are gathered while many attempts are in flight and many end, by the duration of a write. A store with slow writes is busy, often with
 * statements of other workers; larger writes, and the larger takes that follow them, reduce its work.
 */
export const gatherMillisOf = (writeMillis: number): number => Math.min(longestGatherMillis, Math.max(gatherMillis, 4 * writeMillis))

/** Number of outcomes that are written without waiting for more: a full write, or two thirds of all attempts, so that the others stay in flight during the write. */
export const enoughOf = (unwritten: number, inFlight: number): number => Math.min(outcomesPerWrite, Math.ceil((unwritten + inFlight) * 2 / 3))

/** A delivery whose outcome is known. */
export interface Ended extends Written {
  readonly destination: Destination
}

/** The unwritten outcomes of one worker. */
export class OutcomeBuffer {
  private ended: Array<Ended> = []
  /** Destinations whose breaker or pause must be written. */
  private changed = new Set<Destination>()
  /** Outcomes for one write. */
  private enough = outcomesPerWrite
  /** Open if an outcome or change must be written at once. */
  private readonly done = Latch.makeUnsafe(false)
  /** Open if there are enough outcomes for one write. */
  private readonly full = Latch.makeUnsafe(false)
  /** Open if there are failed attempts to write. */
  private readonly failed = Latch.makeUnsafe(false)

  get size(): number {
    return this.ended.length
  }

  get isEmpty(): boolean {
    return this.ended.length === 0 && this.changed.size === 0
  }

  /** Adds an outcome. `isChanged`: breaker or pause of the destination must be written with it. Both are stored first, because a waiting fiber may run at once. */
  add(ended: Ended, isChanged: boolean): void {
    this.ended.push(ended)
    if (isChanged) this.changed.add(ended.destination)
    const latch = ended.outcome.state === "waiting" && !isChanged ? this.failed : this.done
    latch.openUnsafe()
    if (this.ended.length >= this.enough) this.full.openUnsafe()
  }

  /** Adds a destination whose breaker or pause must be written. */
  change(destination: Destination): void {
    this.changed.add(destination)
    this.done.openUnsafe()
  }

  /** Waits until there is something to write. */
  get until(): Effect.Effect<void> {
    return Effect.raceFirst(this.done.await, Effect.andThen(this.failed.await, Effect.sleep(failuresMillis)))
  }

  /** Waits a few turns of the event loop, so that simultaneous outcomes are written together; longer while many attempts are in flight. `writeMillis`: duration of a write. */
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
      // if most attempts hang, the few that end do not wait for them
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

  /** Puts outcomes back whose write failed. */
  putBack({ changed, ended }: { readonly ended: ReadonlyArray<Ended>; readonly changed: Iterable<Destination> }): void {
    this.ended = [...ended, ...this.ended]
    for (const destination of changed) this.changed.add(destination)
    this.failed.openUnsafe()
  }
}
