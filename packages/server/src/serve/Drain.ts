/** The first step of a stop: the process is not ready and still serves, until load balancers send it no more requests. */
import { Effect } from "effect"
import { firstStopSignal } from "../StopSignals.ts"

export interface Drain {
  readonly isDraining: () => boolean
  /** Ends when requests no longer have to be served. */
  readonly run: Effect.Effect<void>
}

/** Only SIGTERM has the delay: SIGINT comes from a terminal or a launcher that has ended, without a load balancer. */
export const makeDrain = (delayMillis: number): Drain => {
  let isDraining = false
  return {
    isDraining: () => isDraining,
    run: Effect.suspend(() => {
      isDraining = true
      if (delayMillis === 0 || firstStopSignal() !== "SIGTERM") return Effect.void
      return Effect.logInfo(`Stopping: not ready, and serving for ${delayMillis / 1000} s more.`).pipe(Effect.andThen(Effect.sleep(delayMillis)))
    })
  }
}
