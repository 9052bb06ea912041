/** Runs the service on the real event loop, also while a test uses fake timers. */
import { MixedScheduler, type Scheduler } from "effect/Scheduler"
// not the globals, which a runner's configuration may have replaced before any module loads
import { clearImmediate, setImmediate } from "node:timers"

export const realScheduler: Scheduler = new MixedScheduler("async", (task) => {
  const turn = setImmediate(task)
  return () => clearImmediate(turn)
})
