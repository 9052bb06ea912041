/**
 * Monotonic time in milliseconds, from any start. Durations that a process measures use it, because the time of day may be set, back by hours too.
 * A worker's timestamps use the store's clock; every take returns the difference.
 */
import { Clock, Effect } from "effect"

const millisOf = (nanos: bigint): number => Math.floor(Number(nanos) / 1_000_000)

export const monotonicMillisUnsafe = (clock: Clock.Clock): number => millisOf(clock.monotonicTimeNanosUnsafe())

export const monotonicMillis: Effect.Effect<number> = Effect.map(Clock.monotonicTimeNanos, millisOf)
