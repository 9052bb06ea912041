/**
 * A worker's monotonic time in milliseconds, which changes of the system clock do not affect. Timestamps use the store's clock; every take
 * returns the difference.
 */
import { Effect } from "effect"
import * as Clock from "effect/Clock"

const millisOf = (nanos: bigint): number => Math.floor(Number(nanos) / 1_000_000)

export const workerMillisUnsafe = (clock: Clock.Clock): number => millisOf(clock.monotonicTimeNanosUnsafe())

export const workerMillis: Effect.Effect<number> = Effect.map(Clock.monotonicTimeNanos, millisOf)
