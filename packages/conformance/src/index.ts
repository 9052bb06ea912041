/** Checks an implementation of the five interfaces from outside, by rules. `waybill check --api` runs them; suites of storage adapters are in `./suites`. */
export { reasonOf } from "./api/ApiCaller.ts"
export { type Callback, openCallback, type Post } from "./api/Callback.ts"
export { type Fixtures, parseFixtures } from "./api/Fixtures.ts"
export { type Area, areaNames, areas, type Rule, Violation, type WindowFrequency } from "./api/Rule.ts"
export { rules } from "./api/Rules.ts"
export { type CheckResult, runRules, type Target } from "./api/RunRules.ts"
export { sampleCommodities, sampleTotals } from "./api/SampleFreight.ts"
export { seedThroughIntake } from "./api/Seed.ts"
