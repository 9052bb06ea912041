/** The time of this machine, which a test may move on. */
import { Duration, Effect } from "effect"
import type * as Clock from "effect/Clock"

export interface AdjustableClock extends Clock.Clock {
  /** Wakes fibers whose time has come. */
  readonly advanceTo: (nextMultipleOf: number) => void
}

/** Longest delay of a timer. */
const longestMillis = 2 ** 31 - 1

export const makeAdjustableClock = (): AdjustableClock => {
  let ahead = 0
  const sleepers = new Set<() => void>()
  const now = () => Date.now() + ahead
  const nanos = () => BigInt(now()) * 1_000_000n
  const monotonic = () => BigInt(Math.round((performance.now() + ahead) * 1_000_000))
  return {
    currentTimeMillisUnsafe: now,
    currentTimeMillis: Effect.sync(now),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: monotonic,
    monotonicTimeNanos: Effect.sync(monotonic),
    sleep: (duration) =>
      Effect.callback<void>((resume) => {
        const dueAt = now() + Duration.toMillis(duration)
        let timer: NodeJS.Timeout | undefined
        const look = () => {
          clearTimeout(timer)
          const left = dueAt - now()
          if (left > 0) return void (timer = setTimeout(look, Math.min(left, longestMillis)))
          sleepers.delete(look)
          resume(Effect.void)
        }
        sleepers.add(look)
        look()
        return Effect.sync(() => {
          clearTimeout(timer)
          sleepers.delete(look)
        })
      }),
    advanceTo: (nextMultipleOf) => {
      ahead += nextMultipleOf - now() % nextMultipleOf
      for (const look of Array.from(sleepers)) look()
    }
  }
}
