/** Of a schedule that breaks a promise, the smallest of its kind that still does. */
import { drawShape } from "./Shape.ts"
import { simulate, type SimulateOptions, type SimulationResult } from "./simulate.ts"

const sizes = ["faults", "accessChanges", "interventions", "publications", "workers", "lanes", "shipments"] as const

/** Tries the same seed with fewer of everything. Answers `simulate(options)` when that breaks no promise. */
export const shrink = async (options: SimulateOptions): Promise<{ readonly options: SimulateOptions; readonly result: SimulationResult }> => {
  const shape = drawShape(options.seed, options)
  const { accessChanges, faults, interventions, publications, shipments, workers } = shape
  let least = { ...options, faults, accessChanges, interventions, publications, shipments, workers, lanes: shape.lanes.length }
  let result = await simulate(options)
  if (result.violation === undefined) return { options, result }
  for (let smaller = true; smaller;) {
    smaller = false
    for (const size of sizes) {
      const fewest = ["faults", "accessChanges", "interventions"].includes(size) ? 0 : 1
      for (let tried = fewest; tried < least[size]; tried++) {
        const candidate = { ...least, [size]: tried }
        const outcome = await simulate(candidate)
        if (outcome.violation === undefined) continue
        least = candidate
        result = outcome
        smaller = true
        break
      }
    }
  }
  return { options: least, result }
}
