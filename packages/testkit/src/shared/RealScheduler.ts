/** Runs the service on the real event loop, also while a test uses fake timers. */
import { MixedScheduler, type Scheduler } from "effect/Scheduler"

// captured at load time, before a test installs fake timers; some environments, such as browsers, have none
const { clearImmediate: clear, setImmediate: set } = globalThis as Partial<typeof globalThis>

const immediately = set === undefined || clear === undefined ? undefined : (task: () => void) => {
  const turn = set(task)
  return () => clear(turn)
}

export const realScheduler: Scheduler = new MixedScheduler("async", immediately)
