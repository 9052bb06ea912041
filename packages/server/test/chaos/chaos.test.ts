import { beforeAll, describe, expect, it } from "vitest"
import { type ChaosReport, runChaos } from "./Chaos.ts"
import { shortPlan } from "./Plan.ts"
import { rules } from "./Rules.ts"

// Reads the processes' sockets and memory from /proc.
describe.runIf(process.platform === "linux")("a load test with killed processes, database restarts and hanging connections", () => {
  let report: ChaosReport

  beforeAll(async () => {
    report = await runChaos(shortPlan)
  }, 240_000)

  it("injects every fault, and delivers everything", () => {
    const { happened } = report
    expect(happened).toMatchObject({
      acknowledged: shortPlan.events,
      kills: shortPlan.kills,
      restarts: shortPlan.restarts,
      exhaustions: shortPlan.exhaustions
    })
    expect(happened.arrivals).toBe(happened.expected)
    for (const count of [happened.arrivals, happened.duplicates, happened.terminated, happened.halfOpen, happened.resumes]) expect(count).toBeGreaterThan(0)
  })

  it.each(rules)("%s", (rule) => {
    const found = report.violations.find((violation) => violation.rule === rule)
    expect(found === undefined ? [] : [...found.first, `logs are in ${report.artifacts}`]).toEqual([])
  })
})
