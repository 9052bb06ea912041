/** Timeout of a call, combined with the caller's abort signal. */

export interface Deadline {
  /** Aborted when the timeout expires, or by the caller's signal. */
  readonly signal: AbortSignal
  readonly expired: () => boolean
  /** Starts the full timeout again. Has no effect after `clear`. */
  readonly restart: () => void
  /** Stops the timeout until `restart`. The caller's signal still aborts the call. */
  readonly pause: () => void
  readonly clear: () => void
}

/** Timers fire at once for delays of more than 31 bits. */
const longestTimer = 2 ** 31 - 1

export const timerMillis = (millis: number): number => Math.min(millis, longestTimer)

export const startDeadline = (millis: number, outer: AbortSignal | undefined): Deadline => {
  const controller = new AbortController()
  let expired = false
  let over = false
  let timer: ReturnType<typeof setTimeout> | undefined
  const pause = () => clearTimeout(timer)
  const restart = () => {
    clearTimeout(timer)
    if (over) return
    timer = setTimeout(() => {
      expired = true
      controller.abort()
    }, timerMillis(millis))
  }
  const follow = () => controller.abort(outer?.reason)
  outer?.addEventListener("abort", follow, { once: true })
  restart()
  return {
    signal: controller.signal,
    expired: () => expired,
    restart,
    pause,
    clear: () => {
      over = true
      pause()
      outer?.removeEventListener("abort", follow)
    }
  }
}

/** Settles as the work does, or rejects when the signal is aborted before. */
export const unlessAborted = <A>(signal: AbortSignal, work: () => Promise<A>): Promise<A> =>
  new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true })
    work().then(resolve, reject)
  })

export const sleep = (millis: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop)
      resolve()
    }, timerMillis(millis))
    signal?.addEventListener("abort", stop, { once: true })
  })
