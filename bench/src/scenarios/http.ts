/** Lookups and intake over HTTP against a hand-written Fastify server, with the same statements on the same tables. */
import { startChild } from "../machine/Child.ts"
import type { Load, LoadHandlers } from "../machine/load-process.ts"
import { median } from "../measure/Stats.ts"
import type { FastifyHandlers } from "../peers/fastify-process.ts"
import type { LookupHandlers } from "../waybill/lookup-process.ts"
import { sampleEvent } from "../waybill/SampleEvent.ts"
import { storeShipments } from "../waybill/SampleShipment.ts"
import { accountOf } from "../waybill/Tenant.ts"
import { type Scenario, startMeasured } from "./Bench.ts"

/** `#` is replaced by the number of the call, so every event has a different shipment. */
const callOf = (events: number) => JSON.stringify({ events: Array.from({ length: events }, (_, n) => sampleEvent(`H#-${n}`, [accountOf(0)])) })

const cases: ReadonlyArray<{ readonly label: string; readonly events: number } & Pick<Load, "connections" | "path" | "body">> = [
  { label: "public lookups by PRO", events: 1, path: "/in-transit/v1/shipment/pro/#/public", connections: 64 },
  { label: "intake, one event a call", events: 1, path: "/intake/v1/transit-events", body: callOf(1), connections: 16 },
  { label: "intake, 100 events a call", events: 100, path: "/intake/v1/transit-events", body: callOf(100), connections: 4 }
]

export const http: Scenario = {
  name: "http",
  title: "lookups and events a second over HTTP, against a hand-written Fastify server with the same SQL",
  run: async (bench) => {
    const database = await bench.postgres.database("bench_http")
    const ours = await startMeasured<LookupHandlers>(bench, new URL("../waybill/lookup-process.ts", import.meta.url), [database, "stored"])
    const waybill = await ours.call.listen()
    const theirs = await startChild<FastifyHandlers>(new URL("../peers/fastify-process.ts", import.meta.url), [database])
    const fastify = await theirs.call.listen()
    const shipments = bench.quick ? 1_000 : 100_000
    await storeShipments(database, { from: 0, to: shipments })
    await bench.postgres.settle(database)
    const load = await startChild<LoadHandlers>(new URL("../machine/load-process.ts", import.meta.url), [])
    const ask = ({ carrierKey, port }: { readonly carrierKey: string; readonly port: number }, { body, connections, path }: typeof cases[number]) =>
      load.call.run({
        port,
        path,
        ...(body === undefined ? {} : { body }),
        spread: shipments,
        headers: body === undefined ? {} : { "x-api-key": carrierKey, "content-type": "application/json" },
        connections,
        millis: bench.quick ? 500 : 5000,
        expected: 200
      })
    const lines = []
    const verdicts = []
    for (const each of cases) {
      const rounds = { ours: [] as Array<number>, theirs: [] as Array<number>, ratio: [] as Array<number> }
      for (let round = 0; round <= (bench.quick ? 1 : 5); round++) {
        const one = await ask(waybill, each)
        const other = await ask(fastify, each)
        // the first round warms up
        if (round === 0) continue
        rounds.ours.push(one.perSecond * each.events)
        rounds.theirs.push(other.perSecond * each.events)
        rounds.ratio.push(other.perSecond / one.perSecond)
      }
      lines.push(
        { label: `${each.label}, Waybill`, value: median(rounds.ours), unit: "/s" as const, rounds: rounds.ours },
        { label: `${each.label}, hand-written Fastify`, value: median(rounds.theirs), unit: "/s" as const, rounds: rounds.theirs }
      )
      verdicts.push({ label: `${each.label}, Fastify to Waybill`, ratio: median(rounds.ratio), target: 1.5, better: "lower" as const })
    }
    await load.end()
    await ours.end()
    await theirs.end()
    return { lines, verdicts, remarks: ["Fastify checks a constant key and nothing else, and detects no duplicates. The published events have no subscribers."] }
  }
}
