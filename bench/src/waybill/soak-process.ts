/** A process that publishes evenly, delivers, and prunes finished deliveries, like a server in production. */
import "effect/schema/SchemaJITCompiler/enable"
import { Retention } from "@waybill/core"
import { DeliveryWorker } from "@waybill/core/delivery"
import { TransitEvents } from "@waybill/core/transit-events"
import { Effect, Fiber } from "effect"
import { setTimeout as after } from "node:timers/promises"
import { serve } from "../machine/Child.ts"
import { sampleEvent, shipmentOf } from "./SampleEvent.ts"
import { accountOf, carrier, createTenant, subscribe } from "./Tenant.ts"
import { runWaybill } from "./Waybill.ts"

const [database, receiver, keepSettledMillis] = process.argv.slice(2) as [string, string, string]
const runtime = runWaybill({ database, connections: 12, delivery: { keepSettledMillis: Number(keepSettledMillis) } })

/** Customers with one subscription each. */
let destinations = 0
/** Events of one call, as a carrier's system sends a small backlog. */
const perCall = 20
/** Concurrent shipments; each gets an event in turn. */
const concurrentShipments = 50_000

let published = 0
const publishCall = async (marks: { next: number } | undefined) => {
  // events without a mark have 0
  const mark = marks === undefined ? 0 : marks.next++
  const events = Array.from({ length: perCall }, (_, place) => {
    const n = published++ % concurrentShipments
    return sampleEvent(shipmentOf(n), [accountOf(n % destinations)], `mark-${String(place === 0 ? mark : 0).padStart(8, "0")}`)
  })
  await runtime.runPromise(Effect.flatMap(TransitEvents, (service) => service.append(carrier, events)))
  return performance.timeOrigin + performance.now()
}

let worker: Fiber.Fiber<void, unknown> | undefined

const handlers = {
  prepare: async (subscribers: number) => {
    destinations = subscribers
    await runtime.runPromise(Effect.gen(function*() {
      yield* createTenant
      for (let n = 0; n < subscribers; n++) yield* subscribe(n, { endpointUrl: `${receiver}/hook`, batchMaxSize: 200 })
    }))
    worker = runtime.runFork(Effect.flatMap(DeliveryWorker, ({ run }) => run))
  },
  /** Publishes as fast as answers come, two calls at a time, while it delivers; events a second. */
  capacity: async (millis: number) => {
    const until = performance.now() + millis
    const before = published
    await Promise.all([1, 2].map(async () => {
      while (performance.now() < until) await publishCall(undefined)
    }))
    return (published - before) * 1000 / millis
  },
  /** Publishes evenly for `seconds`, each call with a mark from 1; returns the commit time of each. */
  publishEvenly: async (perSecond: number, millis: number) => {
    const marks = { next: 1 }
    const committed: Array<number> = []
    const begin = performance.now()
    const under = new Set<Promise<void>>()
    for (let call = 0; call * perCall * 1000 / perSecond < millis; call++) {
      const wait = begin + call * perCall * 1000 / perSecond - performance.now()
      if (wait > 0) await after(wait)
      const mark = marks.next
      const running = publishCall(marks).then((at) => void (committed[mark - 1] = at))
      under.add(running)
      void running.finally(() => under.delete(running))
    }
    await Promise.all(under)
    return committed
  },
  sweep: () => runtime.runPromise(Effect.flatMap(Retention, ({ sweep }) => sweep)),
  memory: () => process.memoryUsage.rss(),
  stop: async () => {
    if (worker !== undefined) await runtime.runPromise(Fiber.interrupt(worker))
  }
}

export type SoakHandlers = typeof handlers

serve(handlers, () => runtime.dispose())
