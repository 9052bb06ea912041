/** Publishing in full calls: validate, number, store, match, queue, in one transaction each. */
import { query } from "../machine/PostgresServer.ts"
import { median } from "../measure/Stats.ts"
import { bareTables } from "../waybill/BareTable.ts"
import type { PublisherHandlers } from "../waybill/publisher-process.ts"
import { publisherModule, type Scenario, startMeasured } from "./Bench.ts"

const perCall = 1000

export const publishing: Scenario = {
  name: "publishing",
  title: "events a second published in calls of 1,000, two subscriptions matching each; beside a bare binary INSERT … SELECT unnest",
  run: async (bench) => {
    const database = await bench.postgres.database("bench_publishing")
    for (const statement of bareTables) await query(database, statement)
    const publisher = await startMeasured<PublisherHandlers>(bench, publisherModule, [database, "waybill"])
    await publisher.call.prepare(2, bench.receiver.url)
    // both subscribers see the same account
    await query(database, "UPDATE waybill.client_accounts SET account = 'A0'")
    const calls = bench.quick ? 5 : 40
    const rates = new Map<string, Array<number>>()
    const note = (label: string, seconds: number) => {
      if (!rates.has(label)) rates.set(label, [])
      rates.get(label)!.push(calls * perCall / seconds)
    }
    for (let round = 0; round <= (bench.quick ? 1 : 5); round++) {
      for (const atOnce of [1, 2]) {
        const seconds = [
          ["Waybill", await publisher.call.publish(calls, perCall, atOnce)],
          ["bare, primary key only", await publisher.call.insert("bare_key", calls, perCall, atOnce)],
          ["bare, same indexes", await publisher.call.insert("bare_indexed", calls, perCall, atOnce)]
        ] as const
        if (round > 0) for (const [label, value] of seconds) note(`${label}, ${atOnce === 1 ? "one call at a time" : "two calls at once"}`, value)
      }
      await bench.postgres.settle(database)
    }
    await publisher.end()
    const rate = (label: string) => median(rates.get(label)!)
    const ratio = (bare: string, how: string) => rate(`Waybill, ${how}`) / rate(`${bare}, ${how}`)
    return {
      lines: [...rates].map(([label, rounds]) => ({ label, value: median(rounds), unit: "/s" as const, rounds })),
      verdicts: [
        { label: "one at a time, to primary key only", ratio: ratio("bare, primary key only", "one call at a time"), target: 0.35, better: "higher" },
        { label: "one at a time, to same indexes", ratio: ratio("bare, same indexes", "one call at a time"), target: 0.35, better: "higher" },
        { label: "two at once, to primary key only", ratio: ratio("bare, primary key only", "two calls at once"), target: 0.35, better: "higher" },
        { label: "two at once, to same indexes", ratio: ratio("bare, same indexes", "two calls at once"), target: 0.35, better: "higher" }
      ],
      remarks: ["Indexes of the log beside its primary key: (tenant, event id) unique, (tenant, shipment, sequence, event id), (tenant, occurred at), BRIN on recorded at."]
    }
  }
}
