/** Cost of publishing, delivering and lookups as the log grows, with 1,000,000 subscriptions to other freight. */
import { storeEvents } from "../waybill/Fill.ts"
import { median } from "../measure/Stats.ts"
import type { PublisherHandlers } from "../waybill/publisher-process.ts"
import { addUnrelated } from "../waybill/Unrelated.ts"
import { type Bench, drainRound, publisherModule, type Scenario, startContender, startMeasured } from "./Bench.ts"

const slice = 250_000

export const growth: Scenario = {
  name: "growth",
  title: "cost with 10,000 to 10,000,000 stored events and 1,000,000 unrelated subscriptions",
  run: async (bench) => {
    const sizes = bench.quick ? [1_000, 10_000] : [10_000, 100_000, 1_000_000, 10_000_000]
    const contender = await startContender(bench, "waybill", { tuned: "throughput", destinations: 100, batchMaxSize: 1 })
    const publisher = await startMeasured<PublisherHandlers>(bench, publisherModule, [contender.database, "waybill"])
    await addUnrelated(contender.database, "waybill", bench.quick ? 1_000 : 1_000_000)
    const measured = new Map<string, Array<number>>()
    const note = (label: string, value: number) => measured.set(label, [...measured.get(label) ?? [], value])
    let stored = 0
    for (const size of sizes) {
      while (stored < size) {
        const to = Math.min(size, stored + slice)
        // other shipments than those that are published and delivered
        await storeEvents(contender.database, { from: 5_000_000_000 + stored, to: 5_000_000_000 + to, perShipment: 5 })
        stored = to
      }
      await bench.postgres.settle(contender.database)
      for (const [label, value] of Object.entries(await costs(bench, contender, publisher))) note(label, value)
    }
    await publisher.end()
    await contender.end()
    return {
      lines: Array.from(measured, ([label, values]) =>
        sizes.map((size, at) => ({ label: `${label}, ${size.toLocaleString("en-US")} events stored`, value: values[at]!, unit: "µs" as const }))).flat(),
      verdicts: Array.from(measured, ([label, values]) =>
        ({ label: `${label}, most to fewest stored`, ratio: values.at(-1)! / values[0]!, target: 1.5, better: "lower" as const }))
    }
  }
}

/** Microseconds, each the median of its rounds. */
const costs = async (
  bench: Bench,
  contender: Awaited<ReturnType<typeof startContender>>,
  publisher: Awaited<ReturnType<typeof startMeasured<PublisherHandlers>>>
): Promise<Readonly<Record<string, number>>> => {
  const rounds = bench.quick ? 1 : 5
  const count = bench.quick ? 500 : 20_000
  const calls = bench.quick ? 50 : 500
  const batches = bench.quick ? 1 : 10
  const figures = new Map<string, Array<number>>()
  const note = (label: string, value: number) => figures.set(label, [...figures.get(label) ?? [], value])
  for (let round = 0; round <= rounds; round++) {
    const one = await publisher.call.publish(calls, 1, 1) / calls
    const ofMany = await publisher.call.publish(batches, 1000, 1) / batches / 1000
    // entries that these two queued for the matching subscription
    await contender.call.drain(calls + batches * 1000)
    const { perSecond } = await drainRound(bench, contender, count)
    const seconds = {
      "publish one event": one,
      "publish one of a call of 1,000": ofMany,
      "deliver one event": 1 / perSecond,
      "first page of a shipment's events": await publisher.call.ofShipment(calls) / calls
    }
    if (round > 0) for (const [label, value] of Object.entries(seconds)) note(label, value * 1e6)
  }
  return Object.fromEntries(Array.from(figures, ([label, values]) => [label, median(values)]))
}
