/** Adds subscriptions to hostile receivers to a tenant, each with waiting events, and pauses or resumes them. */
import { TransitSubscriptions } from "@waybill/core"
import { Effect } from "effect"
import { query } from "../machine/PostgresServer.ts"
import { serve } from "../machine/Child.ts"
import { storeEvents } from "./Fill.ts"
import { customer, tenantId } from "./Tenant.ts"
import { runWaybill } from "./Waybill.ts"

const [database] = process.argv.slice(2)
const runtime = runWaybill({ database: database! })

/** Shipments distributed evenly over the lanes. */
const queueSql = `
WITH lanes AS (
  SELECT id AS lane_id, row_number() OVER (ORDER BY id) - 1 AS place, count(*) OVER () AS lanes
  FROM waybill.transit_subscriptions WHERE tenant_id = $1 AND id = ANY($2)
),
queued AS (
  INSERT INTO waybill.delivery_entries (tenant_id, lane_id, key, sequence, ref, size)
  SELECT $1, l.lane_id, e.shipment_id, e.sequence, e.event_no, octet_length(e.body)
  FROM (SELECT * FROM waybill.transit_events WHERE tenant_id = $1 AND shipment_id >= $3) AS e
  JOIN lanes AS l ON l.place = substr(e.shipment_id, 2)::int8 % l.lanes
  ORDER BY e.event_no
  RETURNING lane_id
)
INSERT INTO waybill.delivery_arrivals (tenant_id, lane_id) SELECT DISTINCT $1::text, lane_id FROM queued`

/** Offset from the shipments of other lanes. */
const firstShipment = 50_000_000

const lanes: Array<{ readonly customer: ReturnType<typeof customer>; readonly id: string }> = []

const set = (status: "active" | "paused") =>
  runtime.runPromise(Effect.flatMap(TransitSubscriptions, (subscriptions) =>
    Effect.forEach(lanes, (lane) => subscriptions.patch(lane.customer, lane.id, { status }), { concurrency: 4, discard: true })))

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
      lanes.push({ customer: who, id })
    }
    await storeEvents(database!, { from: firstShipment, to: firstShipment + urls.length * shipments, perShipment: 1 })
    await query(database!, queueSql, [tenantId, lanes.map(({ id }) => id), `S${String(firstShipment).padStart(11, "0")}`])
    await set("paused")
  },
  pause: () => set("paused"),
  resume: () => set("active"),
  /** Attempts so far. */
  attempts: async () => {
    const [row] = await query(database!, "SELECT coalesce(sum(attempt), 0) AS count FROM waybill.deliveries WHERE tenant_id = $1 AND lane_id = ANY($2)", [tenantId, lanes.map(({ id }) => id)])
    return Number(row!["count"])
  }
}

export type HostileLanesHandlers = typeof handlers

serve(handlers, () => runtime.dispose())
