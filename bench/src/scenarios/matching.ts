/** Cost of publishing with very many subscriptions that do not match. */
import { query } from "../machine/PostgresServer.ts"
import { median } from "../measure/Stats.ts"
import type { PublisherHandlers } from "../waybill/publisher-process.ts"
import { addUnrelated } from "../waybill/Unrelated.ts"
import { publisherModule, type Scenario, startMeasured } from "./Bench.ts"

export const matching: Scenario = {
  name: "matching",
  title: "publishing with 1,000,000 unrelated subscriptions against 1,000; two match",
  run: async (bench) => {
    const database = await bench.postgres.database("bench_matching")
    const sizes = bench.quick ? { few: 100, many: 20_000 } : { few: 1000, many: 1_000_000 }
    const sides = await Promise.all((["few", "many"] as const).map(async (schema) => {
      const publisher = await startMeasured<PublisherHandlers>(bench, publisherModule, [database, schema])
      await publisher.call.prepare(2, bench.receiver.url)
      await query(database, `UPDATE ${schema}.client_accounts SET account = 'A0'`)
      await addUnrelated(database, schema, sizes[schema])
      return { schema, publisher }
    }))
    await bench.postgres.settle(database)
    const kinds = [
      { label: "one event", calls: bench.quick ? 50 : 1000, events: 1 },
      { label: "one of a call of 1,000", calls: bench.quick ? 2 : 20, events: 1000 }
    ]
    const micros = new Map<string, Array<number>>()
    const note = (label: string, value: number) => {
      if (!micros.has(label)) micros.set(label, [])
      micros.get(label)!.push(value)
    }
    for (let round = 0; round <= (bench.quick ? 1 : 5); round++) {
      for (const { calls, events, label } of kinds) {
        for (const { publisher, schema } of sides) {
          const seconds = await publisher.call.publish(calls, events, 1)
          const match = await publisher.call.match(calls, events)
          if (round === 0) continue
          note(`publish, ${label}, ${schema}`, seconds * 1e6 / calls / events)
          note(`match only, ${label}, ${schema}`, match * 1e6 / calls / events)
        }
      }
    }
    for (const { publisher } of sides) await publisher.end()
    const ratio = (label: string) => median(micros.get(`${label}, many`)!) / median(micros.get(`${label}, few`)!)
    const labels = kinds.flatMap(({ label }) => [`publish, ${label}`, `match only, ${label}`])
    return {
      lines: labels.flatMap((label) =>
        (["few", "many"] as const).map((schema) => ({
          label: `${label}, unrelated subscriptions: ${sizes[schema].toLocaleString("en-US")}`,
          value: median(micros.get(`${label}, ${schema}`)!),
          unit: "µs" as const,
          rounds: micros.get(`${label}, ${schema}`)!
        }))
      ),
      verdicts: labels.map((label) => ({ label, ratio: ratio(label), target: 1.2, better: "lower" as const })),
      remarks: ["Match only: the matching part of the statement that stores events, on its own, one round trip a call."]
    }
  }
}
