/** Runs schedules of the delivery engine by seed: one, many, or one again that failed. */
import { StorageMemory } from "@waybill/testkit"
import { type Context, Effect, Exit, Layer, Scope } from "effect"
import type { SimulationShape } from "./Shape.ts"
import type { SimulatedPorts } from "./SimulatedStore.ts"
import { Simulation } from "./Simulation.ts"
import { noCounts, type SimulationCounts, type SimulationViolation } from "./SimulationContext.ts"

export interface SimulateOptions extends SimulationShape {
  readonly seed: number
  /** The adapter under test, built for every schedule; memory by default. All its times must come from Effect's `Clock`. */
  readonly storage?: Layer.Layer<SimulatedPorts, unknown>
}

export interface SimulationResult {
  readonly seed: number
  readonly counts: SimulationCounts
  /** The violated invariant; `undefined` if there is none. */
  readonly violation: SimulationViolation | undefined
  /** One line for each step; the same for the same seed. */
  readonly trace: ReadonlyArray<string>
}

/** Runs one schedule with a trace. */
export const simulate = (options: SimulateOptions): Promise<SimulationResult> => run(options, true)

const run = async (options: SimulateOptions, tracing: boolean): Promise<SimulationResult> => {
  const scope = Scope.makeUnsafe()
  const building = Effect.runFork(Layer.buildWithScope(options.storage ?? StorageMemory.layer, scope))
  const built = building.pollUnsafe() ?? await new Promise<Exit.Exit<Context.Context<SimulatedPorts>, unknown>>((resolve) => building.addObserver(resolve))
  if (Exit.isFailure(built)) throw new Error(`The storage could not be built. ${String(built.cause)}`)
  const simulation = new Simulation(options.seed, options, built.value, tracing)
  await simulation.run()
  const { counts, trace, violation } = simulation.simulation
  const closing = Effect.runFork(Scope.close(scope, Exit.void))
  if (closing.pollUnsafe() === undefined) await new Promise((resolve) => closing.addObserver(resolve))
  return { seed: options.seed, counts, violation, trace: trace ?? [] }
}

export interface SimulateManyOptions extends Omit<SimulateOptions, "seed"> {
  readonly from: number
  readonly count: number
  /** Called with the trace of every schedule that violates an invariant. Without it the first one is thrown. */
  readonly onFailure?: (result: SimulationResult) => void
}

export interface SimulationTotals extends SimulationCounts {
  readonly schedules: number
  readonly failures: number
}

/** Runs schedules `from`, `from + 1`, … */
export const simulateMany = async ({ count, from, onFailure, ...shape }: SimulateManyOptions): Promise<SimulationTotals> => {
  const totals = { ...noCounts(), schedules: 0, failures: 0 }
  for (let seed = from; seed < from + count; seed++) {
    const result = await run({ ...shape, seed }, false)
    totals.schedules += 1
    for (const key of Object.keys(result.counts) as Array<keyof SimulationCounts>) totals[key] += result.counts[key]
    if (result.violation === undefined) continue
    totals.failures += 1
    const traced = await simulate({ ...shape, seed })
    if (onFailure === undefined) throw new Error(explain(traced))
    onFailure(traced)
  }
  return totals
}

/** A schedule as text: the violated invariant, the last steps, and how to run it again. */
export const explain = ({ seed, trace, violation }: SimulationResult, lines = 40): string =>
  [
    violation === undefined ? `Seed ${seed} violated no invariant.` : `Seed ${seed} violated an invariant: ${violation.rule}.\n${violation.detail}`,
    `Last steps:`,
    ...trace.slice(-lines),
    `Run again: simulate({ seed: ${seed} })`
  ].join("\n")
