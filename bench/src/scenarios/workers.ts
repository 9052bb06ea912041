/** Throughput of several worker processes on one database. */
import { query } from "../machine/PostgresServer.ts"
import { median } from "../measure/Stats.ts"
import { type Bench, type ContenderProcess, joinContender, type Scenario, startContender } from "./Bench.ts"

const counts = [1, 2, 4, 8]

/** Fills the queue, starts all workers at once, and returns deliveries per second. */
const drainTogether = async (bench: Bench, workers: ReadonlyArray<ContenderProcess>, count: number): Promise<number> => {
  const [first] = workers
  await first!.call.fill(count)
  await bench.postgres.settle(first!.database)
  await bench.receiver.reset({})
  const startedAt = performance.timeOrigin + performance.now()
  await Promise.all(workers.map((worker) => worker.call.start()))
  for (let before = -1, unchanged = 0;;) {
    const { requests } = await bench.receiver.counted()
    if (requests >= count) break
    unchanged = requests === before ? unchanged + 1 : 0
    if (unchanged > 1000) throw new Error(`The workers deliver nothing any more, after ${requests} of ${count} deliveries.`)
    before = requests
    await new Promise((done) => setTimeout(done, 20))
  }
  await Promise.all(workers.map((worker) => worker.call.stop()))
  const { last, requests } = await bench.receiver.counted()
  if (requests !== count) throw new Error(`${requests} deliveries of ${count} events.`)
  const [left] = await query(first!.database, "SELECT count(*) AS open FROM waybill.deliveries WHERE state <> 'delivered'")
  if (left!["open"] !== "0") throw new Error(`${left!["open"]} deliveries are not settled.`)
  return count * 1000 / (last - startedAt)
}

export const workers: Scenario = {
  name: "workers",
  title: "deliveries/s of 1 to 8 worker processes on one database, one event each, 200 destinations",
  run: async (bench) => {
    const options = { tuned: "throughput", batchMaxSize: 1 } as const
    const first = await startContender(bench, "waybill", { ...options, destinations: bench.quick ? 20 : 200 })
    const all = [first]
    while (all.length < counts.at(-1)!) all.push(await joinContender(bench, first, options))
    // the start of eight processes, and the last of them, must be a small part
    const count = bench.quick ? 2_000 : 240_000
    const rates = new Map<number, Array<number>>(counts.map((each) => [each, []]))
    for (let round = 0; round <= (bench.quick ? 1 : 2); round++) {
      for (const each of counts) {
        const rate = await drainTogether(bench, all.slice(0, each), count)
        if (round > 0) rates.get(each)!.push(rate)
      }
    }
    for (const worker of all) await worker.end()
    const at = (each: number) => median(rates.get(each)!)
    return {
      lines: counts.map((each) => ({ label: `${each} ${each === 1 ? "process" : "processes"}`, value: at(each), unit: "/s" as const, rounds: rates.get(each)! })),
      verdicts: [{ label: "8 processes to 1", ratio: at(8) / at(1), target: 1, better: "higher" }],
      remarks: ["Workers, Postgres and the receiver share the machine: if one process and Postgres use all processors, more processes cannot be faster, and must not be slower."]
    }
  }
}
