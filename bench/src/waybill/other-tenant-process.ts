/** Another tenant of the same database: it subscribes, and publishes evenly until it is told to stop. */
import { TransitEvents } from "@waybill/core/transit-events"
import { Effect } from "effect"
import { setTimeout as after } from "node:timers/promises"
import { serve } from "../machine/Child.ts"
import { sampleEvent, shipmentOf } from "./SampleEvent.ts"
import { accountOf, carrier, createTenantOf, customer, subscribeAs } from "./Tenant.ts"
import { runWaybill } from "./Waybill.ts"

const [database] = process.argv.slice(2)
const runtime = runWaybill({ database: database! })
const tenantId = "other"

let customers = 0
let published = 0
let publishedBefore = 0
let publishing: Promise<void> | undefined
let stopped = true

const publish = (events: number) => {
  const batch = Array.from({ length: events }, () => {
    const n = published++
    return sampleEvent(shipmentOf(n), [accountOf(n % customers)])
  })
  return runtime.runPromise(Effect.flatMap(TransitEvents, (service) => service.append({ ...carrier, tenantId }, batch)))
}

const handlers = {
  /** This many customers, each with this many subscriptions to the same address. */
  subscribe: (count: number, each: number, settings: { readonly endpointUrl: string; readonly batchMaxSize: number }) => {
    customers = count
    return runtime.runPromise(Effect.gen(function*() {
      yield* createTenantOf(tenantId)
      for (let n = 0; n < count; n++) for (let again = 0; again < each; again++) yield* subscribeAs({ ...customer(n), tenantId }, settings)
    }))
  },
  start: async (callsPerSecond: number, eventsPerCall: number) => {
    stopped = false
    publishedBefore = published
    publishing = (async () => {
      for (let next = performance.now(); !stopped; next = Math.max(next + 1000 / callsPerSecond, performance.now() - 1000)) {
        await after(Math.max(0, next - performance.now()))
        await publish(eventsPerCall)
      }
    })()
  },
  /** Returns the number of events published since the start. */
  stop: async () => {
    stopped = true
    await publishing
    return published - publishedBefore
  }
}

export type OtherTenantHandlers = typeof handlers

serve(handlers, () => runtime.dispose())
