/** The effect of one subscription with a large backlog on the others. */
import { percentile } from "../measure/Stats.ts"
import { type Bench, type Scenario, startContender } from "./Bench.ts"
import { delayLines, delays } from "./latency.ts"

const perSecond = 200

/** The response time of the slow receiver. */
const slowMillis = 1000

const backlogs = [
  { label: "drained at full speed, 200 events a POST", path: "/big", batchMaxSize: 200 },
  { label: "drained at full speed, one event a POST", path: "/big", batchMaxSize: 1 },
  { label: "its receiver takes a second to answer", path: "/slow", batchMaxSize: 200 }
]

const measure = async (bench: Bench, extra: typeof backlogs[number]) => {
  const waiting = bench.quick ? 20_000 : 300_000
  const seconds = bench.quick ? 1 : 10
  const contender = await startContender(bench, "waybill", { tuned: "latency", destinations: bench.quick ? 50 : 1000, batchMaxSize: 200, extra })
  await contender.call.start()
  await delays(bench, contender, { count: perSecond, perSecond })
  const without = await delays(bench, contender, { count: perSecond * seconds, perSecond })
  await contender.call.stop()
  await contender.call.fillExtra(waiting)
  await bench.postgres.settle(contender.database)
  await contender.call.start()
  // a worker that has just started owns no partition yet, with or without a backlog
  await delays(bench, contender, { count: perSecond, perSecond, slowMillis })
  // as long as the backlog lasts, whole seconds, at most as many as without it
  const withBacklog: Array<number> = []
  let lasted = 0
  while (lasted < seconds && !await contender.call.extraIsEmpty()) {
    withBacklog.push(...await delays(bench, contender, { count: perSecond, perSecond, slowMillis }))
    lasted += 1
  }
  await bench.receiver.reset({})
  await contender.call.stop()
  await contender.end()
  return { without, withBacklog, lasted }
}

export const isolation: Scenario = {
  name: "isolation",
  title: "milliseconds from commit to received over 1,000 healthy destinations, 200 events a second, with a backlog of 300,000 entries in another destination",
  run: async (bench) => {
    const lines = []
    const verdicts = []
    for (const backlog of backlogs) {
      const { without, withBacklog, lasted } = await measure(bench, backlog)
      for (const [what, millis] of [["without backlog", without], ["with backlog", withBacklog]] as const) {
        lines.push(...delayLines(`${backlog.label}: ${what}`, millis, `${millis.length} events${what === "with backlog" ? `, the backlog lasted ${lasted} s or more` : ""}`))
      }
      verdicts.push({ label: `${backlog.label}: p99`, ratio: percentile(withBacklog, 0.99) / percentile(without, 0.99), target: 2, better: "lower" as const })
    }
    return { lines, verdicts }
  }
}
