/**
 * A worker's own time, in milliseconds from some moment of its own: it goes on evenly, however the machine's clock is set. What happened
 * when is told by the store's clock, which is ahead of it by what every take shows.
 */
import { Effect } from "effect"
import * as Clock from "effect/Clock"

const millisOf = (nanos: bigint): number => Math.floor(Number(nanos) / 1_000_000)

export const workerMillisUnsafe = (clock: Clock.Clock): number => millisOf(clock.monotonicTimeNanosUnsafe())

export const workerMillis: Effect.Effect<number> = Effect.map(Clock.monotonicTimeNanos, millisOf)
