/** Which of several signals stops the program, and which ends it at once. */

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
}
