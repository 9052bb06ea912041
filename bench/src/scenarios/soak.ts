/** An hour at 70 % of capacity: memory, latency and dead rows must not grow. */
import { query } from "../machine/PostgresServer.ts"
import { median, percentile } from "../measure/Stats.ts"
import type { SoakHandlers } from "../waybill/soak-process.ts"
import { type Bench, type Scenario, startMeasured } from "./Bench.ts"

export const soakModule = new URL("../waybill/soak-process.ts", import.meta.url)

const load = 0.7

/** Dead rows in the busy tables. */
const deadTuples = async (database: string): Promise<number> => {
  const [row] = await query(
    database,
    `SELECT coalesce(sum(n_dead_tup), 0)::int8 AS dead FROM pg_stat_user_tables
     WHERE schemaname = 'waybill' AND relname IN ('delivery_destinations', 'delivery_entries', 'delivery_signals', 'delivery_flights', 'delivery_leases', 'deliveries', 'shipments')`
  )
  return Number(row!["dead"])
}

interface Minute {
  readonly p50: number
  readonly p99: number
  readonly bytes: number
  readonly dead: number
}

/** Milliseconds from the commit of each call to the arrival of its first event; `undefined` when some do not arrive within a minute. */
export const delaysOf = async (bench: Bench, committed: ReadonlyArray<number>): Promise<ReadonlyArray<number> | undefined> => {
  for (let tries = 0; tries < 600; tries++) {
    const seen = await bench.receiver.marks()
    if (committed.every((_, call) => seen[call + 1]! > 0)) return committed.map((at, call) => Math.max(0, seen[call + 1]! - at))
    await new Promise((done) => setTimeout(done, 100))
  }
  return undefined
}

export const soak: Scenario = {
  name: "soak",
  title: "an hour at 70 % of its capacity, minute by minute; settled deliveries are removed after five minutes",
  run: async (bench) => {
    const minutes = bench.quick ? 3 : Number(process.env["WAYBILL_SOAK_MINUTES"] ?? 60)
    const minuteMillis = bench.quick ? 2_000 : 60_000
    const database = await bench.postgres.database("bench_soak")
    const service = await startMeasured<SoakHandlers>(bench, soakModule, [database, bench.receiver.url, String(minuteMillis * 5)])
    await service.call.prepare(100)
    await service.call.capacity(minuteMillis / 6)
    await bench.postgres.settle(database)
    const capacity = await service.call.capacity(minuteMillis / 3)
    const seen: Array<Minute> = []
    for (let minute = 0; minute < minutes; minute++) {
      await bench.receiver.reset({ watched: 2_000_000 })
      const [committed] = await Promise.all([
        service.call.publishEvenly(capacity * load, minuteMillis),
        service.call.sweep()
      ])
      const millis = await delaysOf(bench, committed)
      if (millis === undefined) throw new Error("Events did not arrive within a minute.")
      const now = { p50: percentile(millis, 0.5), p99: percentile(millis, 0.99), bytes: await service.call.memory(), dead: await deadTuples(database) }
      seen.push(now)
      console.error(`  soak, minute ${minute + 1}: p50 ${now.p50.toFixed(1)} ms, p99 ${now.p99.toFixed(1)} ms, ${(now.bytes / 2 ** 20).toFixed(0)} MB, ${now.dead} dead rows`)
    }
    await service.call.stop()
    await service.end()
    const third = Math.max(1, Math.floor(minutes / 3))
    const middle = seen.slice(third, 2 * third)
    const end = seen.slice(-third)
    const of = (part: ReadonlyArray<Minute>, what: keyof Minute) => median(part.map((each) => each[what]))
    const creep = (label: string, what: keyof Minute, target: number) => ({ label: `${label}, last third to middle third`, ratio: of(end, what) / of(middle, what), target, better: "lower" as const })
    return {
      lines: [
        { label: "capacity, publishing and delivering", value: capacity, unit: "/s" },
        { label: "p50 of the last third", value: of(end, "p50"), unit: "ms" },
        { label: "p99 of the last third", value: of(end, "p99"), unit: "ms", rounds: seen.filter((_, minute) => minute % 5 === 4).map(({ p99 }) => p99) },
        { label: "resident memory", value: of(end, "bytes") / 2 ** 20, unit: "MB", rounds: seen.filter((_, minute) => minute % 5 === 4).map(({ bytes }) => bytes / 2 ** 20) }
      ],
      verdicts: [creep("resident memory", "bytes", 1.1), creep("p99", "p99", 1.2), creep("dead rows", "dead", 1.3)],
      remarks: [
        `${minutes} minutes at ${Math.round(capacity * load).toLocaleString("en-US")} events/s. Dead rows of the last third, median of minutes: ${of(end, "dead").toLocaleString("en-US")}.`,
        `p99 of the worst minute: ${Math.max(...seen.map(({ p99 }) => p99)).toFixed(0)} ms.`
      ]
    }
  }
}
