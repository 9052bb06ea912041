/** Whether schedules would notice: the engine and the store are broken in many ways, and each has to be found. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { mutants } from "./Mutants.ts"
import { bundleMutants, type MutatedSimulation } from "./mutated.ts"

const isLong = process.env["WAYBILL_PROOF"] === "long"

/** Most are found within a few hundred schedules, rare ones after ten thousand. */
const seeds = { from: 1, count: isLong ? 60_000 : 10_000 }

const tried = isLong ? mutants : mutants.filter(({ rare }) => rare !== true)

let simulation: MutatedSimulation

beforeAll(async () => {
  simulation = await bundleMutants(mutants)
})
afterAll(() => simulation.remove())

describe("schedules", () => {
  it.concurrent.each(tried)("find it when $name", { timeout: 600_000 }, async (mutant) => {
    assert.isDefined(await simulation.firstCaught(mutant, seeds), `${mutant.name}: not found in ${seeds.count} schedules`)
  })

  it.concurrent("find nothing in the engine and the store as they are", { timeout: 600_000 }, async () => {
    assert.isUndefined(await simulation.firstCaught(undefined, { from: 1, count: 1_000 }))
  })
})
