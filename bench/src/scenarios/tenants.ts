/** The effect of one tenant on the customers of another. */
import { setTimeout as after } from "node:timers/promises"
import { percentile } from "../measure/Stats.ts"
import type { OtherTenantHandlers } from "../waybill/other-tenant-process.ts"
import { type Bench, type Scenario, startContender, startMeasured } from "./Bench.ts"
import { delayLines, delays } from "./latency.ts"

/** Longer than an attempt may last. */
const hangMillis = 60_000

const others = [
  {
    label: "700 destinations of one client never answer",
    perSecond: 50,
    destinations: [1, 700, { path: "/slow", batchMaxSize: 1 }],
    // each event is for all destinations
    publishing: [1, 1]
  },
  {
    label: "the other tenant publishes 100 times as many events",
    perSecond: 20,
    destinations: [100, 1, { path: "/other", batchMaxSize: 200 }],
    publishing: [20, 100]
  }
] as const

const rounds = 3

/** Healthy destinations without and with the other tenant, in turn. */
const measure = async (bench: Bench, { destinations: [customers, each, { batchMaxSize, path }], perSecond, publishing }: typeof others[number]) => {
  const count = bench.quick ? perSecond : perSecond * 10
  const contender = await startContender(bench, "waybill", { tuned: "latency", destinations: bench.quick ? 50 : 1000, batchMaxSize: 200 })
  const other = await startMeasured<OtherTenantHandlers>(bench, new URL("../waybill/other-tenant-process.ts", import.meta.url), [contender.database])
  await other.call.subscribe(customers, bench.quick ? Math.min(each, 50) : each, { endpointUrl: `${bench.receiver.url}${path}`, batchMaxSize })
  await bench.postgres.settle(contender.database)
  await contender.call.start()
  await delays(bench, contender, { count: 200, perSecond: 200 })
  const without: Array<number> = []
  const beside: Array<number> = []
  let published = 0
  for (let round = 0; round < (bench.quick ? 1 : rounds); round++) {
    without.push(...await delays(bench, contender, { count, perSecond }))
    await other.call.start(publishing[0], publishing[1])
    await delays(bench, contender, { count: perSecond * (bench.quick ? 1 : 3), perSecond, slowMillis: hangMillis })
    beside.push(...await delays(bench, contender, { count, perSecond, slowMillis: hangMillis }))
    published += await other.call.stop()
    // what hangs ends, and what waits is sent
    await bench.receiver.reset({})
    if (!bench.quick) await after(hangMillis / 3)
  }
  await other.end()
  await contender.call.stop()
  await contender.end()
  return { without, beside, published }
}

export const tenants: Scenario = {
  name: "tenants",
  title: "milliseconds from commit to received over 1,000 destinations of one tenant, without and with the work of another",
  run: async (bench) => {
    const lines = []
    const verdicts = []
    for (const other of others) {
      const { beside, published, without } = await measure(bench, other)
      for (const [what, millis] of [["without it", without], ["with it", beside]] as const) {
        lines.push(...delayLines(`${other.label}: ${what}`, millis, `${millis.length} events, ${published} of the other tenant`))
      }
      verdicts.push({ label: `${other.label}: p99`, ratio: percentile(beside, 0.99) / percentile(without, 0.99), target: 1.5, better: "lower" as const })
    }
    return { lines, verdicts }
  }
}
