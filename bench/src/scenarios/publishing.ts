/** Publishing in full calls: validate, number, store, match, queue, in one transaction each. */
import { query } from "../machine/PostgresServer.ts"
import { median } from "../measure/Stats.ts"
import { bareTables } from "../waybill/BareTable.ts"
import type { PublisherHandlers } from "../waybill/publisher-process.ts"
import { publisherModule, type Scenario, startMeasured } from "./Bench.ts"

const perCall = 1000

export const publishing: Scenario = {
  name: "publishing",
  title: "events a second published in calls of 1,000, two subscriptions matching each; against a bare binary INSERT … SELECT unnest",
  run: async (bench) => {
    const database = await bench.postgres.database("bench_publishing")
    for (const statement of bareTables) await query(database, statement)
    const publisher = await startMeasured<PublisherHandlers>(bench, publisherModule, [database, "waybill"])
    await publisher.call.prepare(2, bench.receiver.url)
    // both subscribers see the same account
    await query(database, "UPDATE waybill.client_accounts SET account = 'A0'")
    const calls = bench.quick ? 5 : 40
    const rounds = new Map<string, Array<number>>()
    for (let round = 0; round <= (bench.quick ? 1 : 5); round++) {
      for (const atOnce of [1, 2]) {
        const how = atOnce === 1 ? "one call at a time" : "two calls at once"
        const seconds = {
          [known(how)]: await publisher.call.publish(calls, perCall, atOnce, calls * perCall / 2),
          [`Waybill, every event a new shipment, ${how}`]: await publisher.call.publish(calls, perCall, atOnce),
          [bare("primary key only", how)]: await publisher.call.insert("bare_key", calls, perCall, atOnce),
          [bare("same indexes", how)]: await publisher.call.insert("bare_indexed", calls, perCall, atOnce)
        }
        if (round === 0) continue
        for (const [label, each] of Object.entries(seconds)) rounds.set(label, [...rounds.get(label) ?? [], calls * perCall / each])
      }
      await bench.postgres.settle(database)
    }
    await publisher.end()
    const rate = (label: string) => median(rounds.get(label)!)
    return {
      lines: Array.from(rounds, ([label, each]) => ({ label, value: median(each), unit: "/s" as const, rounds: each })),
      verdicts: ([["one call at a time", 0.4], ["two calls at once", 0.45]] as const).map(([how, target]) => ({
        label: `${how}, to bare with same indexes`,
        ratio: rate(known(how)) / rate(bare("same indexes", how)),
        target,
        better: "higher" as const
      })),
      remarks: ["Indexes of the log besides its primary key: (tenant, event id, shipment) unique, (tenant, shipment, sequence, event id), (tenant, occurred at), BRIN on recorded at."]
    }
  }
}

const known = (how: string) => `Waybill, shipments known, ${how}`

const bare = (indexes: string, how: string) => `bare, ${indexes}, ${how}`
