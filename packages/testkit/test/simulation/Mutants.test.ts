/** Mutation tests of the simulation: it has to detect each mutant of the engine and the store. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { mutants } from "./Mutants.ts"
import { bundleMutants, type MutatedSimulation } from "./mutated.ts"

const isLong = process.env["WAYBILL_PROOF"] === "long"

/** Most mutants are detected within 400 schedules, rare ones after more, a few after more than ten thousand. */
const seeds = { from: 1, count: isLong ? 60_000 : 10_000 }

const tried = isLong ? mutants : mutants.filter(({ rare }) => rare !== true)

let simulation: MutatedSimulation

beforeAll(async () => {
  simulation = await bundleMutants(mutants)
})
afterAll(() => simulation.remove())

describe("schedules", () => {
  it.concurrent.each(tried)("detect the mutant: $name", { timeout: 600_000 }, async (mutant) => {
    assert.isDefined(await simulation.firstCaught(mutant, seeds), `${mutant.name}: not detected in ${seeds.count} schedules`)
  })

  it.concurrent("detect nothing in the original engine and store", { timeout: 600_000 }, async () => {
    assert.isUndefined(await simulation.firstCaught(undefined, { from: 1, count: 1_000 }))
  })
})
