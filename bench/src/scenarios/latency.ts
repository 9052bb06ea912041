/** Time from commit to receipt of an event, under low load. */
import type { Line } from "../measure/Report.ts"
import { percentile } from "../measure/Stats.ts"
import { type Bench, type ContenderProcess, type Scenario, startContender } from "./Bench.ts"
import { labels } from "./deliveries.ts"

/** Milliseconds from commit to arrival of `count` events, published evenly. */
export const delays = async (
  bench: Bench,
  contender: ContenderProcess,
  { count, perSecond, slowMillis = 0 }: { readonly count: number; readonly perSecond: number; readonly slowMillis?: number }
): Promise<ReadonlyArray<number>> => {
  await bench.receiver.reset({ watched: count + 1, slowMillis })
  const committed = await contender.call.publishEvenly(count, perSecond, 1)
  for (let tries = 0; tries < 600; tries++) {
    const seen = await bench.receiver.marks()
    if (seen.slice(1).every((at) => at > 0)) return committed.map((at, n) => seen[n + 1]! - at)
    await new Promise((done) => setTimeout(done, 100))
  }
  throw new Error(`${contender.name} lost events.`)
}

/** Median and p99 of delays. */
export const delayLines = (label: string, millis: ReadonlyArray<number>, note?: string): ReadonlyArray<Line> =>
  [0.5, 0.99].map((share) => ({ label: `${label}, p${share * 100}`, value: percentile(millis, share), unit: "ms", ...(note === undefined ? {} : { note }) }))

export const latency: Scenario = {
  name: "latency",
  title: "milliseconds from commit to received, 50 events a second, publisher and worker in one process",
  run: async (bench) => {
    const tuned = "latency" as const
    const contenders = [
      await startContender(bench, "undici-signed", { tuned }),
      await startContender(bench, "waybill", { tuned, destinations: 100, batchMaxSize: 200 }),
      await startContender(bench, "graphile-worker", { tuned }),
      await startContender(bench, "pg-boss", { tuned })
    ]
    const all = new Map(contenders.map(({ name }) => [name, { first: Array<number>(), then: Array<number>() }]))
    for (let round = 0; round <= (bench.quick ? 1 : 3); round++) {
      for (const contender of contenders) {
        await contender.call.start()
        // while the others had their turns, pools closed connections: new ones load catalogs and plan again
        const first = await delays(bench, contender, { count: 100, perSecond: 50 })
        if (round > 0) {
          const own = all.get(contender.name)!
          own.first.push(...first)
          own.then.push(...await delays(bench, contender, { count: bench.quick ? 100 : 1000, perSecond: 50 }))
        }
        await contender.call.stop()
      }
    }
    for (const contender of contenders) await contender.end()
    const at = (name: string, share: number) => percentile(all.get(name)!.then, share)
    return {
      lines: contenders.flatMap(({ name }) => {
        const { first, then } = all.get(name)!
        return [...delayLines(`${labels[name]!}, first 100 after a start`, first), ...delayLines(labels[name]!, then)]
      }),
      verdicts: ([[0.5, 1.5], [0.99, 1.2]] as const).map(([share, target]) => ({
        label: `p${share * 100}, Waybill to graphile-worker`,
        ratio: at("waybill", share) / at("graphile-worker", share),
        target,
        better: "lower" as const
      })),
      remarks: ["graphile-worker without its local queue and with 24 workers; pg-boss with LISTEN/NOTIFY."]
    }
  }
}
