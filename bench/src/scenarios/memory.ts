/** Memory of one process while it drains a large backlog. */
import { drainRound, type Scenario, startContender } from "./Bench.ts"

export const memory: Scenario = {
  name: "memory",
  title: "memory of one process that drains 1,000,000 entries",
  run: async (bench) => {
    const lines = []
    const verdicts = []
    for (const batchMaxSize of [200, 1]) {
      const contender = await startContender(bench, "waybill", { tuned: "throughput", destinations: 100, batchMaxSize })
      const { mostBytes, perSecond } = await drainRound(bench, contender, bench.quick ? 20_000 : 1_000_000)
      await contender.end()
      const label = `most resident memory, ${batchMaxSize === 1 ? "one event" : "200 events"} a POST`
      lines.push({ label, value: mostBytes / 2 ** 20, unit: "MB" as const, note: `${Math.round(perSecond).toLocaleString("en-US")} events/s` })
      verdicts.push({ label, ratio: mostBytes / 2 ** 20, target: 350, better: "lower" as const })
    }
    return { lines, verdicts }
  }
}
