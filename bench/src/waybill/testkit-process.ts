/** A test's process: loads the test kit and starts the service, as a test file does. Modules are loaded on demand. */
import { serve } from "../machine/Child.ts"

const timed = async <A>(work: () => Promise<A>): Promise<readonly [millis: number, result: A]> => {
  const began = performance.now()
  const result = await work()
  return [performance.now() - began, result]
}

const load = () => import("@waybill/testkit")

const handlers = {
  /** Milliseconds to load Effect alone, before the test kit. */
  loadEffect: async () => (await timed(() => import("effect")))[0],
  /** Milliseconds for all of the test kit. */
  load: async () => (await timed(load))[0],
  /** Milliseconds of each of several starts in turn. The first one is the first of the process. */
  starts: async (count: number) => {
    const { startTestWaybill } = await load()
    const starts: Array<number> = []
    for (let n = 0; n < count; n++) {
      const [millis, waybill] = await timed(() => startTestWaybill())
      starts.push(millis)
      await waybill.stop()
    }
    return starts
  }
}

export type TestkitHandlers = typeof handlers

serve(handlers)
