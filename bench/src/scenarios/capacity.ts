/** How many shipments, subscribers and deliveries a day the machine carries: the highest even rate whose events arrive in time. */
import type { Remote } from "../machine/Child.ts"
import type { Line } from "../measure/Report.ts"
import { percentile } from "../measure/Stats.ts"
import type { SoakHandlers } from "../waybill/soak-process.ts"
import { type Bench, type Scenario, startMeasured } from "./Bench.ts"
import { delaysOf, soakModule } from "./soak.ts"

/** A rate is carried when 99 of 100 calls arrive within this time. */
const inTimeMillis = 1000

/** The busiest hour of a day has so many times the events of an average hour. An assumption; the page of the results names it. */
const peakHour = 3

/** Events of a shipment from acknowledgement to delivery. An assumption as well. */
const eventsPerShipment = 10

const secondsPerDay = 86_400

interface Step {
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  readonly requestsPerSecond: number
}

const step = async (bench: Bench, service: Remote<SoakHandlers>, perSecond: number, millis: number): Promise<Step> => {
  await bench.receiver.reset({ watched: Math.ceil(perSecond * millis / 1000) + 1000 })
  const committed = await service.publishEvenly(perSecond, millis)
  const delays = await delaysOf(bench, committed)
  const { requests } = await bench.receiver.counted()
  // at a rate that is too high they arrive much later
  const at = (share: number) => delays === undefined ? Infinity : percentile(delays, share)
  return { perSecond, p50: at(0.5), p99: at(0.99), requestsPerSecond: requests * 1000 / millis }
}

/** Halves the range between a rate that is carried and one that is not. Five steps find it to 3 % of the first rate, which itself varies by more. */
const highest = async (bench: Bench, service: Remote<SoakHandlers>, capacity: number, { millis, steps }: { readonly millis: number; readonly steps: number }) => {
  let carried: Step | undefined
  let [low, high] = [0, capacity]
  for (let n = 0; n < steps; n++) {
    const tried = await step(bench, service, Math.max(1, (low + high) / 2), millis)
    console.error(`  capacity: ${Math.round(tried.perSecond)} events/s, p50 ${tried.p50.toFixed(1)} ms, p99 ${tried.p99.toFixed(1)} ms`)
    if (tried.p99 <= inTimeMillis) {
      carried = tried
      low = tried.perSecond
    } else high = tried.perSecond
  }
  return carried
}

const linesOf = (subscribers: number, { p50, p99, perSecond, requestsPerSecond }: Step): ReadonlyArray<Line> => {
  const perDay = (rate: number) => rate * secondsPerDay / peakHour
  const of = `${subscribers.toLocaleString("en-US")} subscribers`
  return [
    { label: `${of}: events in the busiest hour`, value: perSecond, unit: "/s", note: `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms` },
    { label: `${of}: deliveries in the busiest hour`, value: requestsPerSecond, unit: "/s" },
    { label: `${of}: shipments`, value: perDay(perSecond) / eventsPerShipment, unit: "/day" },
    { label: `${of}: events`, value: perDay(perSecond), unit: "/day" },
    { label: `${of}: deliveries`, value: perDay(requestsPerSecond), unit: "/day" }
  ]
}

export const capacity: Scenario = {
  name: "capacity",
  title: "the highest even rate whose events arrive within a second, and what that is in a day",
  run: async (bench) => {
    const lines: Array<Line> = []
    for (const subscribers of bench.quick ? [10, 50] : [100, 1_000, 10_000]) {
      const database = await bench.postgres.database(`bench_capacity_${subscribers}`)
      const service = await startMeasured<SoakHandlers>(bench, soakModule, [database, bench.receiver.url, "3600000"])
      await service.call.prepare(subscribers)
      const [warm, measured, millis] = bench.quick ? [500, 1_000, 1_000] : [10_000, 20_000, 30_000]
      await service.call.capacity(warm)
      await bench.postgres.settle(database)
      const most = await service.call.capacity(measured)
      await bench.postgres.settle(database)
      const found = await highest(bench, service.call, most, { millis, steps: bench.quick ? 2 : 5 })
      await service.call.stop()
      await service.end()
      lines.push({ label: `${subscribers.toLocaleString("en-US")} subscribers: published as fast as possible`, value: most, unit: "/s" })
      if (found !== undefined) lines.push(...linesOf(subscribers, found))
    }
    return {
      lines,
      verdicts: [],
      remarks: [
        `A rate is carried when the p99 of commit to received is at most ${inTimeMillis} ms for half a minute. A day is ${secondsPerDay / peakHour / 3600} busiest hours, a shipment ${eventsPerShipment} events, and each event has one subscriber.`,
        "A customer's subscription gets its events in batches of up to 200, so there are fewer deliveries than events."
      ]
    }
  }
}
