/** Shrinks a schedule that violates an invariant. */
import { drawShape } from "./Shape.ts"
import { simulate, type SimulateOptions, type SimulationResult } from "./simulate.ts"

const sizes = ["faults", "accessChanges", "interventions", "publications", "workers", "destinations", "shipments"] as const

/** Finds the smallest numbers with which the seed still violates an invariant. If it violates none, returns the result of `simulate(options)`. */
export const shrink = async (options: SimulateOptions): Promise<{ readonly options: SimulateOptions; readonly result: SimulationResult }> => {
  const shape = drawShape(options.seed, options)
  const { accessChanges, faults, interventions, publications, shipments, workers } = shape
  let least = { ...options, faults, accessChanges, interventions, publications, shipments, workers, destinations: shape.destinations.length }
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
