/** Whether schedules would notice: the engine and the store are broken in many ways, and each has to be found. */
import { assert, describe, it } from "@effect/vitest"
import { afterAll } from "vitest"
import { mutants } from "./Mutants.ts"
import { Mutations } from "./mutated.ts"

const seeds = { from: 1, count: 10_000 }

const tried = process.env["WAYBILL_PROOF"] === "long" ? mutants : mutants.filter(({ rare }) => rare !== true)

const mutations = new Mutations()
afterAll(() => mutations.close())

describe("schedules", () => {
  it.concurrent.each(tried)("find it when $name", { timeout: 600_000 }, async (mutant) => {
    assert.isDefined(await mutations.firstCaught(mutant, seeds), `${mutant.name}: not found in ${seeds.count} schedules`)
  })

  // the other files of this folder try many more
  it.concurrent("find nothing in the engine and the store as they are", { timeout: 600_000 }, async () => {
    assert.isUndefined(await mutations.firstCaught(undefined, { from: 1, count: 100 }))
  })
})
