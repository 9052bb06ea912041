/** Waybill as a contender. */
import { Retention } from "@waybill/core"
import { deliveredEventsTotal, DeliveryWorker } from "@waybill/core/delivery"
import { TransitEvents } from "@waybill/core/transit-events"
import { Effect, Fiber, Metric } from "effect"
import { setTimeout as after } from "node:timers/promises"
import { type Contender, type ContenderOptions, nowMillis } from "../peers/Contender.ts"
import { query } from "../machine/PostgresServer.ts"
import { queueEvents, storeEvents } from "./Fill.ts"
import { sampleEvent, shipmentOf } from "./SampleEvent.ts"
import { accountOf, carrier, createTenant, customer, subscribe } from "./Tenant.ts"
import { runWaybill } from "./Waybill.ts"

const waitingSql = `
SELECT EXISTS (SELECT FROM waybill.delivery_entries AS e WHERE e.tenant_id = s.tenant_id AND e.destination_id = s.id) AS waiting
FROM waybill.transit_subscriptions AS s
WHERE s.client = $1`

export const makeWaybill = async (options: ContenderOptions): Promise<Contender> => {
  const { keepSettledMillis } = options
  const runtime = runWaybill({ database: options.database, ...(keepSettledMillis === undefined ? {} : { delivery: { keepSettledMillis } }) })
  const destinations = options.destinations ?? 1
  await runtime.runPromise(Effect.gen(function*() {
    yield* createTenant
    for (let n = 0; n < destinations; n++) {
      yield* subscribe(n, { endpointUrl: `${options.receiver}/hook`, batchMaxSize: options.batchMaxSize ?? 1 })
    }
    if (options.extra !== undefined) {
      yield* subscribe(destinations, { endpointUrl: `${options.receiver}${options.extra.path}`, batchMaxSize: options.extra.batchMaxSize })
    }
  }))
  const delivered = () => runtime.runSync(Effect.map(Metric.value(deliveredEventsTotal), ({ count }) => Number(count)))

  let worker: Fiber.Fiber<void, unknown> | undefined
  const start = async () => {
    worker = runtime.runFork(Effect.flatMap(DeliveryWorker, ({ run }) => run))
  }
  const stop = async () => {
    if (worker !== undefined) await runtime.runPromise(Fiber.interrupt(worker))
    worker = undefined
  }
  let stored = 0
  return {
    fill: async (count) => {
      // a shipment's events are sent one after the other; with one event per shipment nothing waits
      await storeEvents(options.database, { from: stored, to: stored + count, perShipment: 1 })
      await queueEvents(options.database, { count })
      stored += count
    },
    fillExtra: async (count) => {
      await storeEvents(options.database, { from: stored, to: stored + count, perShipment: 1 })
      await queueEvents(options.database, { count, client: customer(destinations).client })
      stored += count
    },
    extraIsEmpty: async () => {
      const [row] = await query(options.database, waitingSql, [customer(destinations).client])
      return row!["waiting"] === false
    },
    sweep: () => runtime.runPromise(Effect.flatMap(Retention, ({ sweep }) => sweep)),
    drain: async (count) => {
      const before = delivered()
      const startedAt = nowMillis()
      await start()
      while (delivered() - before < count) await after(5)
      await stop()
      const [left] = await query(options.database, "SELECT (SELECT count(*) FROM waybill.delivery_entries) AS entries, (SELECT count(*) FROM waybill.deliveries WHERE state <> 'delivered') AS open")
      if (left!["entries"] !== "0" || left!["open"] !== "0") throw new Error(`Not drained: ${JSON.stringify(left)}`)
      return startedAt
    },
    start,
    stop,
    publish: async (mark) => {
      const n = stored++
      await runtime.runPromise(Effect.flatMap(TransitEvents, (events) =>
        events.append(carrier, [sampleEvent(shipmentOf(n), [accountOf(n % destinations)], mark)])))
      return nowMillis()
    },
    close: () => runtime.dispose()
  }
}
