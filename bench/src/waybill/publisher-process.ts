/** A process that publishes: through Waybill's use case, and the same rows into a bare table. */
import { ApiKeys, Tenants, TransitEvents } from "@waybill/core"
import { byteaArray, int4Array, int8Array, PgClient, textArray, timestamptzArray } from "@waybill/postgres"
import { Effect } from "effect"
import { serve } from "../machine/Child.ts"
import { bareInsert } from "./BareTable.ts"
import { sampleBody, sampleEvent, shipmentOf } from "./SampleEvent.ts"
import { accountOf, carrier, createTenant, subscribe, tenantId } from "./Tenant.ts"
import { runWaybill } from "./Waybill.ts"

const [database, schema] = process.argv.slice(2) as [string, string]
const runtime = runWaybill({ database, schema })

let published = 0
let bare = 0

/** Runs `calls` of them, `atOnce` at a time, and answers the seconds that took. */
const timed = async (calls: number, atOnce: number, call: () => Promise<unknown>): Promise<number> => {
  const begin = performance.now()
  let left = calls
  const loop = async () => {
    while (left-- > 0) await call()
  }
  await Promise.all(Array.from({ length: atOnce }, loop))
  return (performance.now() - begin) / 1000
}

const publishCall = (events: number, account: string) => {
  const from = published
  published += events
  return runtime.runPromise(Effect.flatMap(TransitEvents, (service) =>
    service.publish(carrier, Array.from({ length: events }, (_, n) => sampleEvent(shipmentOf(from + n), [account])))))
}

const encoder = new TextEncoder()

const insertCall = (table: string, events: number) => {
  const from = bare
  bare += events
  const numbers = Array.from({ length: events }, (_, n) => from + n)
  return runtime.runPromise(Effect.flatMap(PgClient.PgClient, (sql) =>
    sql.withTransaction(sql.bulk(bareInsert(table), [
      tenantId,
      textArray(numbers.map((n) => String(n).padStart(36, "0"))),
      textArray(numbers.map(shipmentOf)),
      int8Array(numbers.map(() => 1)),
      int4Array(numbers.map(() => 8)),
      timestamptzArray(numbers.map(() => Date.now())),
      byteaArray(numbers.map((n) => encoder.encode(sampleBody(n))))
    ]))))
}

const handlers = {
  prepare: (subscribers: number, receiver: string) =>
    runtime.runPromise(Effect.gen(function*() {
      yield* Tenants
      yield* ApiKeys
      yield* createTenant
      for (let n = 0; n < subscribers; n++) yield* subscribe(n, { endpointUrl: `${receiver}/hook`, batchMaxSize: 200 })
    })),
  /** Seconds for calls of `events` each, seen by the customer `n`'s account. */
  publish: (calls: number, events: number, atOnce: number, n = 0) => timed(calls, atOnce, () => publishCall(events, accountOf(n))),
  insert: (table: string, calls: number, events: number, atOnce: number) => timed(calls, atOnce, () => insertCall(table, events))
}

export type PublisherHandlers = typeof handlers

serve(handlers, () => runtime.dispose())
