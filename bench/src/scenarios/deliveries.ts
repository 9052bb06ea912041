/** Deliveries of one event each: the full cost of a single webhook. */
import { median } from "../measure/Stats.ts"
import { alternate, processorVerdict, rateLine, type Scenario, startContender } from "./Bench.ts"

export const deliveries: Scenario = {
  name: "deliveries",
  title: "deliveries a second: one signed event of 1 KB each (batchMaxSize 1), 100 destinations",
  run: async (bench) => {
    const tuned = "throughput" as const
    const contenders = [
      await startContender(bench, "undici", { tuned }),
      await startContender(bench, "undici-signed", { tuned }),
      await startContender(bench, "waybill", { tuned, destinations: 100, batchMaxSize: 1 }),
      await startContender(bench, "graphile-worker", { tuned }),
      await startContender(bench, "pg-boss", { tuned })
    ]
    const results = await alternate(bench, contenders, {
      rounds: bench.quick ? 1 : 3,
      count: () => bench.quick ? 5000 : 40_000
    })
    for (const contender of contenders) await contender.end()
    const rate = (name: string) => median(results.get(name)!.rates)
    const peer = Math.max(rate("graphile-worker"), rate("pg-boss"))
    return {
      lines: contenders.map(({ name }) => rateLine(labels[name]!, results.get(name)!)),
      verdicts: [
        { label: "Waybill to the better peer", ratio: rate("waybill") / peer, target: 1.5, better: "higher" },
        ...processorVerdict(results.get("waybill")!, [results.get("graphile-worker")!, results.get("pg-boss")!], 0.65),
        { label: "Waybill to the bare loop", ratio: rate("waybill") / rate("undici"), target: 0.5, better: "higher" }
      ]
    }
  }
}

export const labels: Readonly<Record<string, string>> = {
  undici: "bare undici loop, not signed",
  "undici-signed": "bare undici loop, signed",
  waybill: "Waybill",
  "graphile-worker": "graphile-worker",
  "pg-boss": "pg-boss"
}
