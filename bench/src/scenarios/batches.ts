/** Draining events in batches, as for a subscription that catches up. */
import { median } from "../measure/Stats.ts"
import { alternate, rateLine, type Scenario, startContender } from "./Bench.ts"
import { labels } from "./deliveries.ts"

export const batches: Scenario = {
  name: "batches",
  title: "events a second drained at batchMaxSize 200, 100 destinations; peers send one POST a job",
  run: async (bench) => {
    const tuned = "throughput" as const
    const waybill = await startContender(bench, "waybill", { tuned, destinations: 100, batchMaxSize: 200 })
    const peers = [await startContender(bench, "graphile-worker", { tuned }), await startContender(bench, "pg-boss", { tuned })]
    const many = bench.quick ? 20_000 : 400_000
    const few = bench.quick ? 5000 : 40_000
    const results = await alternate(bench, [waybill, ...peers], {
      rounds: bench.quick ? 1 : 3,
      count: (contender) => contender === waybill ? many : few
    })
    for (const contender of [waybill, ...peers]) await contender.end()
    // not equivalent: the peers' next jobs share a POST, and a failure affects all of them
    const together = await startContender(bench, "pg-boss", { tuned, batchMaxSize: 200 })
    const mixed = (await alternate(bench, [together], { rounds: bench.quick ? 1 : 3, count: () => few })).get("pg-boss")!
    await together.end()
    const rate = (name: string) => median(results.get(name)!.rates)
    return {
      lines: [
        ...[waybill, ...peers].map(({ name }) => rateLine(labels[name]!, results.get(name)!)),
        { label: "pg-boss, 200 jobs of any receiver in one POST", value: median(mixed.rates), unit: "/s", rounds: mixed.rates }
      ],
      verdicts: [{
        label: "Waybill to the better peer",
        ratio: rate("waybill") / Math.max(rate("graphile-worker"), rate("pg-boss")),
        target: 8,
        better: "higher"
      }]
    }
  }
}
