import { onTestFinished } from "vitest"
import { type StartedTestWaybill, type StartOptions, startTestWaybill } from "../src/index.ts"

/** The service in memory, which stops when the test ends. */
export const startedWaybill = async (options?: StartOptions): Promise<StartedTestWaybill> => {
  const waybill = await startTestWaybill(options)
  onTestFinished(() => waybill.stop())
  return waybill
}
