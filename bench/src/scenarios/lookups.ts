/** Lookups with a million shipments stored against the same routes answering a constant. */
import { startChild } from "../machine/Child.ts"
import type { LoadHandlers } from "../machine/load-process.ts"
import { processorMicros } from "../measure/ProcessorTime.ts"
import { median } from "../measure/Stats.ts"
import type { LookupHandlers } from "../waybill/lookup-process.ts"
import { storeShipments } from "../waybill/SampleShipment.ts"
import { type Scenario, startMeasured } from "./Bench.ts"

const connections = 64

const routes = [
  { label: "public, by PRO", path: "/in-transit/v1/shipment/pro/#/public", signedIn: false },
  { label: "verified, by PRO", path: "/in-transit/v1/shipment/pro/#/verified", signedIn: true },
  { label: "public, by BOL and postal code", path: "/in-transit/v1/shipment/bol/BOL#/60608/public", signedIn: false }
]

/** Processor time of a lookup: the median of the rounds, by process. */
const spent = (rounds: ReadonlyArray<ReadonlyArray<number>>): string =>
  `${[0, 1, 2].map((process) => median(rounds.map((round) => round[process]!)).toFixed(0)).join(" + ")} µs of processor time (server, Postgres, load)`

export const lookups: Scenario = {
  name: "lookups",
  title: `lookups a second over HTTP, ${connections} connections, 1,000,000 shipments stored, against the same routes answering a constant`,
  run: async (bench) => {
    const database = await bench.postgres.database("bench_lookups")
    const module = new URL("../waybill/lookup-process.ts", import.meta.url)
    const stored = await startMeasured<LookupHandlers>(bench, module, [database, "stored"])
    const real = await stored.call.listen()
    const constant = await startChild<LookupHandlers>(module, [database, "constant"])
    const flat = await constant.call.listen()
    const shipments = bench.quick ? 10_000 : 1_000_000
    const slice = Math.min(shipments, 50_000)
    for (let from = 0; from < shipments; from += slice) await storeShipments(database, { from, to: from + slice })
    await bench.postgres.settle(database)
    const load = await startChild<LoadHandlers>(new URL("../machine/load-process.ts", import.meta.url), [])
    const millis = bench.quick ? 1000 : 5000
    const ask = async ({ key, pid, port }: typeof real & { readonly pid: number }, route: typeof routes[number]) => {
      const processes = [pid, bench.postgres.pid, load.pid]
      const before = processes.map(processorMicros)
      const result = await load.call.run({
        port,
        path: route.path,
        spread: shipments,
        headers: route.signedIn ? { "x-api-key": key } : {},
        connections,
        millis,
        expected: 200
      })
      const micros = processes.map((each, n) => ((processorMicros(each) ?? NaN) - (before[n] ?? NaN)) / result.answers)
      return { ...result, micros }
    }
    const lines = []
    const verdicts = []
    for (const route of routes) {
      const rounds = { real: [] as Array<number>, flat: [] as Array<number>, ratio: [] as Array<number> }
      const micros = { real: [] as Array<ReadonlyArray<number>>, flat: [] as Array<ReadonlyArray<number>> }
      let p99 = 0
      for (let round = 0; round <= (bench.quick ? 1 : 5); round++) {
        const one = await ask({ ...real, pid: stored.pid }, route)
        const other = await ask({ ...flat, pid: constant.pid }, route)
        // the first round warms up
        if (round === 0) continue
        p99 = one.p99
        rounds.real.push(one.perSecond)
        rounds.flat.push(other.perSecond)
        rounds.ratio.push(one.perSecond / other.perSecond)
        micros.real.push(one.micros)
        micros.flat.push(other.micros)
      }
      lines.push(
        { label: `${route.label}, stored`, value: median(rounds.real), unit: "/s" as const, rounds: rounds.real, note: `p99 ${p99.toFixed(1)} ms, ${spent(micros.real)}` },
        { label: `${route.label}, a constant`, value: median(rounds.flat), unit: "/s" as const, rounds: rounds.flat, note: spent(micros.flat) }
      )
      verdicts.push({ label: `${route.label}, stored to constant`, ratio: median(rounds.ratio), target: 0.7, better: "higher" as const })
    }
    await load.end()
    await stored.end()
    await constant.end()
    return { lines, verdicts }
  }
}
