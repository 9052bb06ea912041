/** Runs the service's steps on the machine's own turns, also while a test's fake timers hold everybody else's. */
import { MixedScheduler, type Scheduler } from "effect/Scheduler"

// taken when this is loaded, which is before a test fakes them; some environments, such as browsers', have none
const { clearImmediate: clear, setImmediate: set } = globalThis as Partial<typeof globalThis>

const immediately = set === undefined || clear === undefined ? undefined : (task: () => void) => {
  const turn = set(task)
  return () => clear(turn)
}

export const realScheduler: Scheduler = new MixedScheduler("async", immediately)
