/**
 * Splits long work into short slices, so that the event loop can serve other work in between. An embedded service shares the event loop
 * with its host.
 */
import { type Clock, Effect } from "effect"
import { MixedScheduler } from "effect/Scheduler"

/**
 * Longest time that one slice runs before it yields. Another call passes several turns of the event loop, and beside large calls each of them has a slice:
 * with 10 ms it waits five times as long, and large calls are no faster.
 */
const sliceNanos = 2_000_000n

/** Runs each turn as a macrotask, so that socket and timer callbacks run between turns. */
const dispatcher = new MixedScheduler().makeDispatcher()
const waiting: Array<() => void> = []

/** Resumes one waiter per turn, so that many long requests block the event loop no longer than one does. */
const resumeNext = (): void => {
  const resume = waiting.shift()
  if (waiting.length > 0) dispatcher.scheduleTask(resumeNext, 0)
  resume?.()
}

/** Resumes in the next turn of the event loop. */
export const nextTurn: Effect.Effect<void> = Effect.callback<void>((resume) => {
  const resumeThis = () => resume(Effect.void)
  if (waiting.push(resumeThis) === 1) dispatcher.scheduleTask(resumeNext, 0)
  return Effect.sync(() => {
    const at = waiting.indexOf(resumeThis)
    // an empty slot keeps the schedule of the other waiters
    if (at >= 0) waiting[at] = () => {}
  })
})

/** For loops over many items: `if (pace.isDue()) yield* pace.turn`. */
export interface Pace {
  /** Whether the current slice has used up its time. */
  readonly isDue: () => boolean
  /** Waits for the next turn and starts a new slice. */
  readonly turn: Effect.Effect<void>
}

/** Starts a slice now. */
export const makePace: Effect.Effect<Pace> = Effect.clockWith((clock) => Effect.sync(() => paceOf(clock)))

const paceOf = (clock: Clock.Clock): Pace => {
  let until = clock.monotonicTimeNanosUnsafe() + sliceNanos
  return {
    isDue: () => clock.monotonicTimeNanosUnsafe() >= until,
    turn: Effect.andThen(nextTurn, Effect.sync(() => {
      until = clock.monotonicTimeNanosUnsafe() + sliceNanos
    }))
  }
}

/** At or below this number of items, reading the clock costs more than it saves. */
const smallListLength = 8

/** Maps many items, in slices. */
export const mapPaced = <A, B>(items: ReadonlyArray<A>, map: (item: A, index: number) => B): Effect.Effect<ReadonlyArray<B>> =>
  items.length <= smallListLength ? Effect.sync(() => items.map(map)) : mapInSlices(items, map)

/** Runs an action for many items, in slices. */
export const forEachPaced = <A>(items: ReadonlyArray<A>, act: (item: A, index: number) => void): Effect.Effect<void> =>
  Effect.asVoid(mapPaced(items, act))

const mapInSlices = Effect.fnUntraced(function*<A, B>(items: ReadonlyArray<A>, map: (item: A, index: number) => B) {
  const pace = yield* makePace
  const mapped: Array<B> = []
  for (const [index, item] of items.entries()) {
    if (pace.isDue()) yield* pace.turn
    mapped.push(map(item, index))
  }
  return mapped
})
