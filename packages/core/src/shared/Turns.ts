/**
 * Long work in short slices, so that the event loop answers others in between. An embedded service shares that loop with its host.
 */
import { Effect } from "effect"
import type * as Clock from "effect/Clock"
import { MixedScheduler } from "effect/Scheduler"

/** How long one piece of work may go on before it waits for its next turn. */
const sliceNanos = 10_000_000n

/** A macrotask for each turn: what waits for sockets and timers runs in between. */
const dispatcher = new MixedScheduler().makeDispatcher()
const waiting: Array<() => void> = []

/** One after the other, so that many long requests at once hold the event loop no longer than one. */
const resumeNext = (): void => {
  const resume = waiting.shift()
  if (waiting.length > 0) dispatcher.scheduleTask(resumeNext, 0)
  resume?.()
}

/** Goes on when the event loop has come round. */
export const nextTurn: Effect.Effect<void> = Effect.callback<void>((resume) => {
  const mine = () => resume(Effect.void)
  if (waiting.push(mine) === 1) dispatcher.scheduleTask(resumeNext, 0)
  return Effect.sync(() => {
    const at = waiting.indexOf(mine)
    // an empty place keeps the others' turns as they were scheduled
    if (at >= 0) waiting[at] = () => {}
  })
})

/** For loops over many items: `if (pace.isDue()) yield* pace.turn`. */
export interface Pace {
  /** Whether this slice has gone on for long enough. */
  readonly isDue: () => boolean
  /** Waits for the next turn and begins a slice there. */
  readonly turn: Effect.Effect<void>
}

/** Begins a slice now. */
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

/** Fewer items are not worth the looking at the clock. */
const few = 8

/** `map` for many items, in slices. */
export const mapPaced = <A, B>(items: ReadonlyArray<A>, map: (item: A, index: number) => B): Effect.Effect<ReadonlyArray<B>> =>
  items.length <= few ? Effect.sync(() => items.map(map)) : mapInSlices(items, map)

/** `forEach` likewise. */
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
