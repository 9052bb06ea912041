/** The cost of publishing if a client has as many paused subscriptions as its quota allows, which all match. */
import { query } from "../machine/PostgresServer.ts"
import { median } from "../measure/Stats.ts"
import type { PublisherHandlers } from "../waybill/publisher-process.ts"
import { publisherModule, type Scenario, startMeasured } from "./Bench.ts"

const perCall = 500

/** `eventSubscriptionsPerClient` by default. */
const mostOfClient = 100

export const paused: Scenario = {
  name: "paused",
  title: `calls of ${perCall} events with 1 and ${mostOfClient} paused subscriptions of one client`,
  run: async (bench) => {
    const database = await bench.postgres.database("bench_paused")
    const publisher = await startMeasured<PublisherHandlers>(bench, publisherModule, [database, "waybill"])
    await publisher.call.prepare(1, bench.receiver.url)
    const calls = bench.quick ? 3 : 10
    const measured = async () => {
      await query(database, "UPDATE waybill.delivery_destinations SET state = 'paused'")
      await bench.postgres.settle(database)
      const millis: Array<number> = []
      const before = await sizeOf(database)
      for (let call = 0; call < calls; call++) millis.push(await publisher.call.publish(1, perCall, 1) * 1000)
      return { millis, bytes: (await sizeOf(database) - before) / calls }
    }
    const one = await measured()
    await publisher.call.subscribeAgain(mostOfClient - 1, bench.receiver.url)
    const many = await measured()
    await publisher.end()
    return {
      lines: ([[1, one], [mostOfClient, many]] as const).map(([count, { bytes, millis }]) => (
        { label: `one call, ${count} paused`, value: median(millis), unit: "ms" as const, rounds: millis, note: `database +${(bytes / 1e6).toFixed(1)} MB a call` }
      )),
      verdicts: [],
      remarks: ["An entry is written for each event and subscription. Waiting entries are limited in the background by waitingPerSubscription and waitingDays."]
    }
  }
}

const sizeOf = async (database: string): Promise<number> => Number((await query(database, "SELECT pg_database_size(current_database()) AS size"))[0]!["size"])
