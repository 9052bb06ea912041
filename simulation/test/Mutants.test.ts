/** Mutation tests of the simulation: it has to detect each mutant of the engine and the store. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { readFileSync, writeFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import { join } from "node:path"
import type { Mutant } from "./Mutant.ts"
import { mutants } from "./Mutants.ts"
import { bundleMutants, type MutatedSimulation } from "./mutated.ts"

const isLong = process.env["WAYBILL_PROOF"] === "long"
/** Writes a seed for each mutant whose own no longer detects it. */
const writesSeeds = process.env["WAYBILL_SEEDS"] === "write"
const toWriteSeeds = "WAYBILL_SEEDS=write npm test -- --project simulation Mutants"

const seedsFile = join(import.meta.dirname, "MutantSeeds.json")
/** A schedule that detects each mutant, by its seed. */
const seeds = new Map(Object.entries(JSON.parse(readFileSync(seedsFile, "utf8")) as Record<string, number>))

/** Most mutants are detected within 400 schedules, a few after tens of thousands. */
const searched = isLong || writesSeeds ? 60_000 : 10_000

let simulation: MutatedSimulation

beforeAll(async () => {
  simulation = await bundleMutants(mutants, isLong || writesSeeds ? availableParallelism() : 1)
})
afterAll(async () => {
  await simulation.remove()
  if (!writesSeeds) return
  const known = mutants.filter(({ name }) => seeds.has(name)).map(({ name }) => [name, seeds.get(name)])
  writeFileSync(seedsFile, `${JSON.stringify(Object.fromEntries(known), null, 2)}\n`)
})

/** Tries the mutant's own seed, and searches when that does not detect it. */
const detect = async (mutant: Mutant) => {
  const seed = seeds.get(mutant.name)
  if (seed !== undefined && await simulation.firstCaught(mutant, { from: seed, count: 1 }) !== undefined) return
  const other = await simulation.firstCaught(mutant, { from: 1, count: searched })
  if (writesSeeds && other !== undefined) return void seeds.set(mutant.name, other.seed)
  const before = seed === undefined ? "It has no seed" : `Seed ${seed} no longer detects it`
  const now = other === undefined ? `nor does any of ${searched} others` : `and seed ${other.seed} does`
  assert.fail(`${mutant.name}: ${before}, ${now}. To write new seeds, run\n${toWriteSeeds}`)
}

describe("schedules", () => {
  it.concurrent.each(mutants)("detect the mutant: $name", { timeout: 3_600_000 }, async (mutant) => {
    if (!isLong) return detect(mutant)
    const caught = await simulation.firstCaught(mutant, { from: 1, count: searched })
    assert.isDefined(caught, `${mutant.name}: not detected in ${searched} schedules`)
  })

  it.concurrent("of the mutants detect nothing in the original engine and store", { timeout: 600_000 }, async () => {
    for (const seed of new Set(seeds.values())) assert.isUndefined(await simulation.firstCaught(undefined, { from: seed, count: 1 }))
  })

  it("have seeds of mutants that exist", () => {
    const names = new Set(mutants.map(({ name }) => name))
    assert.deepStrictEqual([...seeds.keys()].filter((name) => !names.has(name)), [], `To remove seeds of mutants that are gone, run\n${toWriteSeeds}`)
  })
})
