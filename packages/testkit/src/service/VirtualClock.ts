/** A clock that moves only when it is advanced, and then stops at every time that a fiber sleeps until. */
import { type Clock, Duration, Effect } from "effect"

interface Sleeper {
  readonly dueAt: number
  readonly wake: () => void
}

export interface VirtualClock extends Clock.Clock {
  /** Wakes sleeping fibers in order of time until then, and runs `settle` after each. Milliseconds since 1970. */
  readonly turnTo: (until: number, settle: () => Promise<void>) => Promise<void>
}

const nanos = (millis: number): bigint => BigInt(Math.round(millis)) * 1_000_000n

/** In milliseconds since 1970. Sets no real timer. */
export const makeVirtualClock = (startedAt: number): VirtualClock => {
  let now = startedAt
  const sleepers = new Set<Sleeper>()

  const sleep = (duration: Duration.Duration): Effect.Effect<void> =>
    Effect.callback<void>((resume) => {
      const dueAt = now + Duration.toMillis(duration)
      if (dueAt <= now) return resume(Effect.void)
      const sleeper: Sleeper = { dueAt, wake: () => resume(Effect.void) }
      sleepers.add(sleeper)
      return Effect.sync(() => void sleepers.delete(sleeper))
    })

  const nextDue = (until: number): number | undefined => {
    let next: number | undefined
    for (const { dueAt } of sleepers) if (dueAt <= until && (next === undefined || dueAt < next)) next = dueAt
    return next
  }

  const turnTo = async (until: number, settle: () => Promise<void>): Promise<void> => {
    await settle()
    for (let next = nextDue(until); next !== undefined; next = nextDue(until)) {
      now = Math.max(now, next)
      const due = Array.from(sleepers).filter(({ dueAt }) => dueAt <= now)
      for (const sleeper of due) if (sleepers.delete(sleeper)) sleeper.wake()
      await settle()
    }
    now = Math.max(now, until)
  }

  return {
    currentTimeMillisUnsafe: () => now,
    currentTimeMillis: Effect.sync(() => now),
    currentTimeNanosUnsafe: () => nanos(now),
    currentTimeNanos: Effect.sync(() => nanos(now)),
    monotonicTimeNanosUnsafe: () => nanos(now - startedAt),
    monotonicTimeNanos: Effect.sync(() => nanos(now - startedAt)),
    sleep,
    turnTo
  }
}
