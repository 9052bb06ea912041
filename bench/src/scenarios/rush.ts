/** A burst on an idle database: cached plans and statistics are from an empty queue. */
import { query } from "../machine/PostgresServer.ts"
import { drainRound, type Scenario, startContender } from "./Bench.ts"

/** Enough to leave pages in the queue's indexes, and few enough for a plan for small tables. */
const before = 20_000
const few = 5
const quietTimes = 12

const asItIs = { settled: false }

export const rush: Scenario = {
  name: "rush",
  title: "deliveries a second of a burst, on a new or idle installation",
  run: async (bench) => {
    const count = bench.quick ? 5_000 : 100_000
    const contender = await startContender(bench, "waybill", { tuned: "throughput", destinations: 100, batchMaxSize: 1 })
    const { perSecond: young } = await drainRound(bench, contender, count, asItIs)
    await drainRound(bench, contender, before, asItIs)
    await query(contender.database, "VACUUM ANALYZE")
    for (let n = 0; n < quietTimes; n++) await drainRound(bench, contender, few, asItIs)
    const { perSecond: quiet } = await drainRound(bench, contender, count, asItIs)
    const { perSecond: known } = await drainRound(bench, contender, count)
    await contender.end()
    const cases = [["of a new database, never analysed", young], ["after quiet times, analysed while nothing waited", quiet]] as const
    return {
      lines: [
        ...cases.map(([label, value]) => ({ label, value, unit: "/s" as const })),
        { label: "analysed after the burst was queued", value: known, unit: "/s" as const }
      ],
      verdicts: cases.map(([label, value]) => ({ label, ratio: value / known, target: 0.7, better: "higher" as const }))
    }
  }
}
