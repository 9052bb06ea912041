/** Processor time of plain statements on one connection, in Waybill's process. */
import { median } from "../measure/Stats.ts"
import type { StatementsHandlers } from "../waybill/statements-process.ts"
import { type Scenario, startMeasured } from "./Bench.ts"

const module = new URL("../waybill/statements-process.ts", import.meta.url)

const statements = [
  { label: "one row read", method: "readOne", count: 4000 },
  { label: "1,000 rows inserted", method: "insert", count: 100 },
  { label: "1,000 rows read", method: "readMany", count: 200 },
  { label: "transaction of two reads", method: "transaction", count: 2000 }
] as const

const pools = { own: "Waybill's own pool", host: "a host's pool of pg" } as const

export const statementTimes: Scenario = {
  name: "statements",
  title: "processor time of plain statements in Waybill's process, on its own pool and on a host's",
  run: async (bench) => {
    const database = await bench.postgres.database("bench_statements")
    const contenders = []
    for (const kind of ["own", "host"] as const) {
      const child = await startMeasured<StatementsHandlers>(bench, module, [database, kind])
      await child.call.prepare()
      contenders.push({ kind, child })
    }
    const micros = new Map<string, Array<number>>()
    for (let round = 0; round <= (bench.quick ? 1 : 7); round++) {
      // rows to read are inserted in the round that does not count
      for (const { count, label, method } of round === 0 ? [statements[1], ...statements] : statements) {
        for (const { child, kind } of contenders) {
          const each = await child.call[method](bench.quick ? count / 20 : count)
          if (round > 0) micros.set(`${label}, ${pools[kind]}`, [...micros.get(`${label}, ${pools[kind]}`) ?? [], each])
        }
      }
    }
    await Promise.all(contenders.map(({ child }) => child.end()))
    const of = (label: string, kind: keyof typeof pools) => median(micros.get(`${label}, ${pools[kind]}`)!)
    return {
      lines: Array.from(micros, ([label, rounds]) => ({ label, value: median(rounds), unit: "µs" as const, rounds })),
      verdicts: statements.map(({ label }) => ({
        label: `${label}, own pool to a host's`,
        ratio: of(label, "own") / of(label, "host"),
        target: 1,
        better: "lower" as const
      }))
    }
  }
}
