/**
 * A hand-written server: Fastify, the driver, and the same statements that Waybill sends. It checks one key against
 * a constant, does not validate input, and has no areas, roles, duplicates, partial calls or error bodies.
 */
import Fastify from "fastify"
import { randomUUID } from "node:crypto"
import type { AddressInfo } from "node:net"
import { PgArray, Sql } from "@waybill/postgres"
import pg from "pg"
import * as shipments from "../../../packages/postgres/src/shared/ShipmentSql.ts"
import * as statuses from "../../../packages/postgres/src/shipment-status/ShipmentStatusSql.ts"
import * as events from "../../../packages/postgres/src/transit-events/TransitEventSql.ts"
import { serve } from "../machine/Child.ts"
import { tenantId } from "../waybill/Tenant.ts"

const [database] = process.argv.slice(2) as [string]

const schema = Sql.raw("waybill")
const tenant = Sql.tenant(tenantId)
const key = "hand-written"
const pool = new pg.Pool({ connectionString: database, max: 10 })

/** A prepared query of pg, which sends arrays as literals. */
const queryOf = (name: string, { text, values }: Sql.Statement) => ({
  name,
  text,
  values: values.map((value) => value instanceof PgArray ? value.literal() : value)
})

const app = Fastify({ bodyLimit: 32 * 1024 * 1024 })

app.get<{ Params: { pro: string } }>("/in-transit/v1/shipment/pro/:pro/public", async ({ params }, reply) => {
  const { rows } = await pool.query<{ body: Buffer }>(queryOf("find", statuses.findStatuses(schema, tenantId, [{ key: `pro ${params.pro}`, own: [] }])))
  if (rows[0] === undefined) return reply.code(404).send()
  return reply.type("application/json").send(rows[0].body)
})

interface GivenEvent {
  readonly occurredAt: string
  readonly parties: { readonly accounts: ReadonlyArray<string> }
  readonly shipment: { readonly shipmentId: string }
}

const arrayLiteral = (elements: ReadonlyArray<string>) => `{${elements.map((each) => `"${each}"`).join(",")}}`

app.post<{ Body: { readonly events: ReadonlyArray<GivenEvent> } }>("/intake/v1/transit-events", async ({ body, headers }, reply) => {
  if (headers["x-api-key"] !== key) return reply.code(401).send()
  const client = await pool.connect()
  try {
    await client.query("BEGIN")
    const needed = new Map<string, number>()
    const accounts = new Map<string, string>()
    for (const { parties, shipment } of body.events) {
      needed.set(shipment.shipmentId, (needed.get(shipment.shipmentId) ?? 0) + 1)
      accounts.set(shipment.shipmentId, arrayLiteral(parties.accounts))
    }
    const ids = [...needed.keys()]
    const { rows } = await client.query<{ shipment_id: string; first: string; reassigned: boolean }>(queryOf(
      "lock",
      shipments.lockShipments(schema, {
        tenant,
        shipmentIds: Sql.textArray(ids),
        needed: Sql.int4Array([...needed.values()]),
        highest: Sql.int8Array(ids.map(() => 0)),
        accounts: Sql.textArray(ids.map((id) => accounts.get(id)!)),
        carriers: Sql.textArray(ids.map(() => null)),
        written: Sql.boolArray(ids.map(() => true)),
        writer: Sql.textArray(undefined),
        anyCarrier: Sql.raw("true")
      })
    ))
    const changed = rows.filter(({ reassigned }) => reassigned).map(({ shipment_id }) => shipment_id)
    if (changed.length > 0) await client.query(queryOf("accounts", shipments.replaceAccounts(schema, tenant, Sql.textArray(changed))))
    const next = new Map(rows.map(({ first, shipment_id }) => [shipment_id, Number(first)]))
    const stored = body.events.map(({ parties: _, ...event }) => {
      const { shipmentId } = event.shipment
      const sequence = next.get(shipmentId)!
      next.set(shipmentId, sequence + 1)
      const eventId = randomUUID()
      return {
        eventId,
        shipmentId,
        sequence,
        type: "ARRIVED_AT_TERMINAL",
        typeBit: 8,
        occurredAt: Date.parse(event.occurredAt),
        body: Buffer.from(JSON.stringify({ eventId, sequence, ...event }))
      }
    })
    await client.query(queryOf("append", events.append(schema, events.appendedEvents(tenantId, stored, undefined))))
    await client.query("COMMIT")
    return { results: stored.map(({ eventId, sequence }, index) => ({ index, outcome: "accepted", eventId, sequence })) }
  } catch (error) {
    await client.query("ROLLBACK")
    throw error
  } finally {
    client.release()
  }
})

const handlers = {
  /** The port, and the carrier's key. */
  listen: async () => {
    await app.listen({ port: 0, host: "127.0.0.1" })
    return { port: (app.server.address() as AddressInfo).port, carrierKey: key }
  }
}

export type FastifyHandlers = typeof handlers

serve(handlers, async () => {
  await app.close()
  await pool.end()
})
