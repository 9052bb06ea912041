/** A process that publishes and reads: through Waybill's use cases, and the same rows into a bare table. */
import "effect/schema/SchemaJITCompiler/enable"
import { TransitEvents } from "@waybill/core/transit-events"
import { PgClient, Sql } from "@waybill/postgres"
import { Effect } from "effect"
// the matching part of a statement, measured separately
import { matchShipments } from "../../../packages/postgres/src/transit-events/TransitEventSql.ts"
import { serve } from "../machine/Child.ts"
import { bareInsert } from "./BareTable.ts"
import { sampleBody, sampleEvent, shipmentOf } from "./SampleEvent.ts"
import { accountOf, carrier, createTenant, subscribe, tenantId } from "./Tenant.ts"
import { runWaybill } from "./Waybill.ts"

const [database, schema] = process.argv.slice(2) as [string, string]
const runtime = runWaybill({ database, schema })

let published = 0
/** The shipment of the next event, if each event has its own. None of those that scenarios fill, which belong to other accounts. */
let fresh = 2_000_000_000
let bare = 0

/** Runs `calls` of them, `atOnce` at a time, and returns the duration in seconds. */
const timed = async (calls: number, atOnce: number, call: () => Promise<unknown>): Promise<number> => {
  const begin = performance.now()
  let left = calls
  const loop = async () => {
    while (left-- > 0) await call()
  }
  await Promise.all(Array.from({ length: atOnce }, loop))
  return (performance.now() - begin) / 1000
}

/** With a `pool`, events go to that many shipments in turn; without, each to a new one. */
const publishCall = (events: number, pool: number | undefined) => {
  const shipments = Array.from({ length: events }, () => pool === undefined ? shipmentOf(fresh++) : `K${shipmentOf(published++ % pool).slice(1)}`)
  return runtime.runPromise(Effect.flatMap(TransitEvents, (service) =>
    service.append(carrier, shipments.map((shipmentId) => sampleEvent(shipmentId, [accountOf(0)])))))
}

const encoder = new TextEncoder()

const insertCall = (table: string, events: number) => {
  const from = bare
  bare += events
  const numbers = Array.from({ length: events }, (_, n) => from + n)
  return runtime.runPromise(Effect.flatMap(PgClient.PgClient, (sql) =>
    sql.withTransaction(sql.run(bareInsert(table, tenantId, {
      eventIds: numbers.map((n) => String(n).padStart(36, "0")),
      shipmentIds: numbers.map(shipmentOf),
      bodies: numbers.map((n) => encoder.encode(sampleBody(n)))
    })))))
}

const matchStatement = (shipmentIds: ReadonlyArray<string>) => Sql.statement`
WITH ships AS MATERIALIZED (SELECT unnest(${Sql.textArray(shipmentIds)}) AS shipment_id),
${matchShipments(Sql.raw(schema), Sql.tenant(tenantId))}
SELECT count(*) AS matched FROM matched`

/** Matches the shipments published last. */
const matchCall = (events: number) =>
  runtime.runPromise(Effect.flatMap(PgClient.PgClient, (sql) =>
    sql.one(Sql.int8, matchStatement(Array.from({ length: events }, (_, n) => shipmentOf(fresh - 1 - n)))))).then((matches) => {
      if (matches !== 2 * events) throw new Error(`${matches} matches for ${events} events.`)
    })

const list = async (query: object) => {
  const begin = performance.now()
  const page = await runtime.runPromise(Effect.flatMap(TransitEvents, (service) => service.list(carrier, query)))
  return { page, millis: performance.now() - begin }
}

const handlers = {
  prepare: (subscribers: number, receiver: string) =>
    runtime.runPromise(Effect.gen(function*() {
      yield* createTenant
      for (let n = 0; n < subscribers; n++) yield* subscribe(n, { endpointUrl: `${receiver}/hook`, batchMaxSize: 200 })
    })),
  /** Adds `count` subscriptions of the first customer. */
  subscribeAgain: (count: number, receiver: string) =>
    runtime.runPromise(Effect.repeat(subscribe(0, { endpointUrl: `${receiver}/hook`, batchMaxSize: 200 }), { times: count - 1 })),
  /** Seconds for calls of `events` each. */
  publish: (calls: number, events: number, atOnce: number, pool?: number) => timed(calls, atOnce, () => publishCall(events, pool)),
  /** Seconds for `calls` statements that only match. */
  match: (calls: number, events: number) => timed(calls, 1, () => matchCall(events)),
  /** Milliseconds of every page, and the cursor of the last one. */
  listPages: async (pages: number, pageSize: number) => {
    const times: Array<number> = []
    let cursor: string | undefined
    let lastCursor = ""
    for (let page = 1; page <= pages; page++) {
      const { millis, page: shown } = await list({ page, pageSize, ...(cursor === undefined ? {} : { cursor }) })
      if (shown.data.length !== pageSize) throw new Error(`Page ${page} has ${shown.data.length} events.`)
      times.push(millis)
      lastCursor = cursor ?? ""
      cursor = shown.nextCursor
    }
    return { millis: times, lastCursor }
  },
  /** Seconds for `calls` first pages, each with the events of another shipment. */
  ofShipment: (calls: number) => {
    let n = 0
    return timed(calls, 1, async () => {
      const { page } = await list({ shipmentId: shipmentOf(1_000_000_000 + n++), pageSize: 100 })
      if (page.data.length !== 5) throw new Error(`${page.data.length} events of a shipment.`)
    })
  },
  page: async (page: number, pageSize: number) => (await list({ page, pageSize })).millis,
  pageAt: async (cursor: string, pageSize: number, page: number) => (await list({ page, pageSize, cursor })).millis,
  /** A deep page without earlier pages: another filter has no cursors. */
  jump: async (page: number, pageSize: number) => (await list({ page, pageSize, eventTypes: ["ARRIVED_AT_TERMINAL"] })).millis,
  insert: (table: string, calls: number, events: number, atOnce: number) => timed(calls, atOnce, () => insertCall(table, events))
}

export type PublisherHandlers = typeof handlers

serve(handlers, () => runtime.dispose())
