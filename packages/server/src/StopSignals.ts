/** Which of several signals stops the program, which ends it at once, and which it ignores. */
import { Effect, type Scope } from "effect"
import { isatty } from "node:tty"

/**
 * Signals within this time of the first are the same request: Ctrl-C and a service manager signal the whole process group, and npm and
 * `npm start`'s launcher pass on what they receive, so one request arrives up to three times.
 */
export const sameRequestMillis = 1000

/** Returns whether a signal that arrives at `now` (milliseconds of any monotonic clock) asks to end at once: a second request does. */
export const makeStopSignals = (): ((now: number) => boolean) => {
  let first: number | undefined
  return (now) => {
    first ??= now
    return now - first >= sameRequestMillis
  }
}

/**
 * Whether SIGHUP asks to stop: a terminal that closes sends it. A process without a terminal got it from `nohup`'s shell, from logrotate or from an
 * administrator who expects new settings, and goes on. It cannot see what `nohup` did, because Node resets ignored signals when it starts.
 */
export const makeHangupStops = (isTerminal: (descriptor: number) => boolean): boolean => [0, 1, 2].some(isTerminal)

// before the terminal is gone
const hangupStops = makeHangupStops(isatty)

let first: NodeJS.Signals | undefined

/** The signal that asked to stop; `undefined` if none did. */
export const firstStopSignal = (): NodeJS.Signals | undefined => first

/** The first request to stop starts a graceful shutdown, the second one exits at once. */
export const handleStopSignals = (): void => {
  const endsAtOnce = makeStopSignals()
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      first ??= signal
      if (endsAtOnce(performance.now())) process.exit(1)
    })
  }
  process.on("SIGHUP", () => {
    if (hangupStops) process.kill(process.pid, "SIGINT")
  })
}

/** Logs each SIGHUP that is ignored, because many programs read their settings again then. */
export const logHangups: Effect.Effect<void, never, Scope.Scope> = hangupStops ? Effect.void : Effect.gen(function*() {
  const run = Effect.runForkWith(yield* Effect.context<never>())
  const log = () => void run(Effect.logInfo("SIGHUP ignored. Settings are read at the start: restart the process to change them."))
  yield* Effect.acquireRelease(Effect.sync(() => process.on("SIGHUP", log)), () => Effect.sync(() => process.off("SIGHUP", log)))
})
