/** Adds subscriptions to hostile receivers to a tenant, each with waiting events, and pauses or resumes them. */
import { TransitSubscriptions } from "@waybill/core/transit-events"
import { Effect } from "effect"
import { query } from "../machine/PostgresServer.ts"
import { serve } from "../machine/Child.ts"
import { queueShipments, storeEvents } from "./Fill.ts"
import { shipmentOf } from "./SampleEvent.ts"
import { customer, tenantId } from "./Tenant.ts"
import { runWaybill } from "./Waybill.ts"

const [database] = process.argv.slice(2)
const runtime = runWaybill({ database: database! })

/** Offset from the shipments of other destinations. */
const firstShipment = 50_000_000

const destinations: Array<{ readonly customer: ReturnType<typeof customer>; readonly id: string }> = []

const set = (status: "active" | "paused") =>
  runtime.runPromise(Effect.flatMap(TransitSubscriptions, (subscriptions) =>
    Effect.forEach(destinations, (destination) => subscriptions.patch(destination.customer, destination.id, { status }), { concurrency: 4, discard: true })))

const handlers = {
  /** One paused subscription for each address, with the given number of waiting shipments and its own settings. */
  add: async (urls: ReadonlyArray<string>, shipments: number, delivery: Readonly<Record<string, number>>) => {
    for (const [n, endpointUrl] of urls.entries()) {
      const who = customer(1_000_000 + n)
      const { id } = await runtime.runPromise(Effect.flatMap(TransitSubscriptions, (subscriptions) =>
        subscriptions.create(who, {
          endpointUrl,
          hmacSecretId: "secret",
          delivery: { batchMaxSize: 1, rateLimitPerMinute: 6_000_000, ...delivery }
        })))
      destinations.push({ customer: who, id })
    }
    await storeEvents(database!, { from: firstShipment, to: firstShipment + urls.length * shipments, perShipment: 1 })
    await queueShipments(database!, { destinationIds: destinations.map(({ id }) => id), first: shipmentOf(firstShipment) })
    await set("paused")
  },
  pause: () => set("paused"),
  resume: () => set("active"),
  /** Attempts so far. First ones in flight have no row in `deliveries` yet. */
  attempts: async () => {
    const [row] = await query(database!, `
      SELECT coalesce(sum(d.attempt), 0) AS count
      FROM (SELECT destination_id, attempt FROM waybill.deliveries WHERE tenant_id = $1 UNION ALL
        SELECT u.destination_id, u.attempt FROM waybill.delivery_flights AS f CROSS JOIN LATERAL unnest(f.deliveries) AS u
        WHERE f.tenant_id = $1 AND NOT EXISTS (
          SELECT FROM waybill.deliveries AS d WHERE d.tenant_id = $1 AND d.delivery_id = (left(f.flight::text, 32) || lpad(to_hex(u.ordinal), 4, '0'))::uuid)
          AND u.delivery_id IS NULL) AS d
      WHERE d.destination_id = ANY($2)`, [tenantId, destinations.map(({ id }) => id)])
    return Number(row!["count"])
  }
}

export type HostileDestinationsHandlers = typeof handlers

serve(handlers, () => runtime.dispose())
