/** The effect of retention on latency. */
import { percentile } from "../measure/Stats.ts"
import { drainRound, type Scenario, startContender } from "./Bench.ts"
import { delayLines, delays } from "./latency.ts"

const perSecond = 200

export const retention: Scenario = {
  name: "retention",
  title: "milliseconds from commit to received, 200 events a second, while 300,000 old deliveries are removed",
  run: async (bench) => {
    const old = bench.quick ? 5_000 : 300_000
    const seconds = bench.quick ? 1 : 10
    const contender = await startContender(bench, "waybill", { tuned: "latency", destinations: 100, batchMaxSize: 1, keepSettledMillis: 5_000 })
    await drainRound(bench, contender, old)
    await bench.postgres.settle(contender.database)
    await contender.call.start()
    await delays(bench, contender, { count: perSecond, perSecond })
    const before = await delays(bench, contender, { count: perSecond * seconds, perSecond })
    // until even the last of them is old
    await new Promise((done) => setTimeout(done, 5_000))
    const begin = performance.now()
    let sweeping = true
    const swept = contender.call.sweep().then((removed) => {
      sweeping = false
      return { removed: removed ?? 0, seconds: (performance.now() - begin) / 1000 }
    })
    // as long as it lasts, whole seconds
    const during: Array<number> = []
    while (sweeping) during.push(...await delays(bench, contender, { count: perSecond, perSecond }))
    const { removed, seconds: took } = await swept
    await contender.call.stop()
    await contender.end()
    if (removed < old) throw new Error(`Only ${removed} of ${old} were removed.`)
    const lines = [["before the removal", before], ["during the removal", during]] as const
    return {
      lines: [
        ...lines.flatMap(([what, millis]) => delayLines(what, millis, `${millis.length} events`)),
        { label: "deliveries removed", value: removed / took, unit: "/s" as const }
      ],
      verdicts: [{ label: "p99, during to before", ratio: percentile(during, 0.99) / percentile(before, 0.99), target: 2, better: "lower" as const }]
    }
  }
}
