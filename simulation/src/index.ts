/** The delivery engine under schedules of crashes, lost answers and stalls. docs/simulation.md */
export { type SimulationShape } from "./Shape.ts"
export { type SimulatedPorts } from "./SimulatedStore.ts"
export { shrink } from "./shrink.ts"
export { explain, simulate, simulateMany, type SimulateManyOptions, type SimulateOptions, type SimulationResult, type SimulationTotals } from "./simulate.ts"
export { type SimulationCounts, type SimulationViolation } from "./SimulationContext.ts"
