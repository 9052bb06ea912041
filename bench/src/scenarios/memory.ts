/** Memory of one process while it drains a large backlog. */
import { drainRound, type Scenario, startContender } from "./Bench.ts"

/** As the container image and the systemd unit start Node. */
const likeServer = "--max-semi-space-size=32"

export const memory: Scenario = {
  name: "memory",
  title: "memory of one process that drains 1,000,000 entries",
  run: async (bench) => {
    const lines = []
    const verdicts = []
    const forms = [{ batchMaxSize: 200, execArgv: [likeServer] }, { batchMaxSize: 1, execArgv: [likeServer] }, { batchMaxSize: 1, execArgv: [] }]
    for (const { batchMaxSize, execArgv } of forms) {
      const contender = await startContender(bench, "waybill", { tuned: "throughput", destinations: 100, batchMaxSize }, execArgv)
      const { mostBytes, perSecond } = await drainRound(bench, contender, bench.quick ? 20_000 : 1_000_000)
      await contender.end()
      const label = `most resident memory, ${batchMaxSize === 1 ? "one event" : "200 events"} a POST${execArgv.length === 0 ? ", Node's own settings" : ""}`
      lines.push({ label, value: mostBytes / 2 ** 20, unit: "MB" as const, note: `${Math.round(perSecond).toLocaleString("en-US")} events/s` })
      verdicts.push({ label, ratio: mostBytes / 2 ** 20, target: 350, better: "lower" as const })
    }
    return { lines, verdicts }
  }
}
