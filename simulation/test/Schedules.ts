/** Schedules of the delivery engine in a normal test run, split over four files that run in parallel. */
import { explain, simulate, simulateMany } from "../src/index.ts"
import { assert, describe, it } from "@effect/vitest"

const isLong = process.env["WAYBILL_PROOF"] === "long"
/** Schedules per file. Common faults need no more than 400; `npm run proof` looks for the rare ones. */
const perFile = isLong ? 25_000 : 400
/** A replay of one schedule: `WAYBILL_SEED=123 npx vitest run --project simulation part-1`. */
const replayed = process.env["WAYBILL_SEED"]
const many = Number(process.env["WAYBILL_SCHEDULES"] ?? perFile)

/** Every part has its own seeds, which no other part uses. */
export const describeSchedules = (part: number): void => {
  describe("the delivery engine", () => {
    it(`violates no invariant in ${many} schedules of crashes, lost answers and stalls, part ${part}`, { timeout: 3_600_000 }, async () => {
      if (replayed !== undefined) {
        const result = await simulate({ seed: Number(replayed) })
        process.stdout.write(`${explain(result, Infinity)}\n`)
        assert.isUndefined(result.violation)
        return
      }
      const { crashes, drops, duplicates, failures, lostSettlements, posts, schedules, steps } = await simulateMany({ from: 1 + (part - 1) * 10_000_000, count: many })
      if (isLong) process.stdout.write(`simulation, part ${part}: ${schedules} schedules, ${steps} steps, ${crashes} crashes, ${posts} posts, ${duplicates} duplicates, ${drops} drops, ${lostSettlements} lost settlements\n`)
      assert.strictEqual(failures, 0)
      assert.isAbove(crashes * duplicates * drops * lostSettlements, 0)
    })
  })
}
