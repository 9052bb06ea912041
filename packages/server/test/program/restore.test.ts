/** A backup restored into another database, after the first one was lost with deliveries in flight. */
import { migrate, migrations, PgClient } from "@waybill/postgres"
import { Effect, Redacted } from "effect"
import { randomUUID } from "node:crypto"
import pg from "pg"
import { describe, expect, inject, it, onTestFinished } from "vitest"
import { eventually, receiver, sharedSettings, startProgram } from "./Program.ts"
import { event, tenantOn } from "./Tenant.ts"

const pgUrl = inject("pgUrl")

const connected = async (url: string): Promise<pg.Client> => {
  const client = new pg.Client(url)
  await client.connect()
  return client
}

/** Another database on the same server, dropped at the end of the test. */
const otherDatabase = async (): Promise<string> => {
  const name = `restored_${randomUUID().slice(0, 8)}`
  const admin = await connected(pgUrl)
  await admin.query(`CREATE DATABASE ${name}`)
  onTestFinished(async () => {
    await admin.query(`DROP DATABASE ${name} WITH (FORCE)`)
    await admin.end()
  })
  const url = new URL(pgUrl)
  url.pathname = `/${name}`
  return url.href
}

/** Rows as in a dump: table by table, from one snapshot, with the state of sequences. */
const dump = async (url: string, schema: string) => {
  const client = await connected(url)
  await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
  const { rows: tables } = await client.query<{ name: string }>("SELECT tablename AS name FROM pg_tables WHERE schemaname = $1 AND tablename <> 'migrations'", [schema])
  const contents = []
  for (const { name } of tables) {
    const { rows } = await client.query<{ row: string }>(`SELECT to_jsonb(t)::text AS row FROM ${schema}.${name} AS t`)
    contents.push({ name, rows: rows.map(({ row }) => row) })
  }
  const { rows: counters } = await client.query<{ name: string; last: string }>(
    "SELECT sequencename AS name, last_value::text AS last FROM pg_sequences WHERE schemaname = $1 AND last_value IS NOT NULL", [schema])
  await client.end()
  return { contents, counters }
}

const restore = async (url: string, schema: string, { contents, counters }: Awaited<ReturnType<typeof dump>>) => {
  await Effect.runPromise(Effect.provide(migrate({ schema, migrations }), PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })))
  const client = await connected(url)
  for (const { name, rows } of contents) {
    await client.query(`INSERT INTO ${schema}.${name} OVERRIDING SYSTEM VALUE SELECT t.* FROM unnest($1::text[]) AS row, jsonb_populate_record(NULL::${schema}.${name}, row::jsonb) AS t`, [rows])
  }
  for (const { last, name } of counters) await client.query(`SELECT setval('${schema}.${name}', $1)`, [last])
  // As from a server whose transaction ids are ahead of this one's.
  await client.query(`UPDATE ${schema}.cluster SET system_identifier = 'another'`)
  await client.query(`UPDATE ${schema}.transit_events SET xid = (xid::text::numeric + 1000000000)::text::xid8`)
  await client.end()
}

describe("a restored backup", { timeout: 60_000 }, () => {
  it("continues from the state of the lost database: everything arrives in order, with the same ids", async () => {
    const { env, operatorKey } = sharedSettings(pgUrl, { WAYBILL_LEASE_SECONDS: "5", WAYBILL_ATTEMPT_TIMEOUT_SECONDS: "3" })
    const { program: lost, url } = await startProgram({ env })
    const tenant = await tenantOn(url, operatorKey)
    let well = false
    const hook = await receiver(({ path }, response) => {
      // /hanging never answers: its deliveries are in flight when the server stops.
      if (well || path === "/well") response.writeHead(200).end()
      else if (path === "/failing") response.writeHead(500).end()
    })
    for (const path of ["/well", "/failing", "/hanging"]) {
      await tenant.customerAt(url).createSubscription({ endpointUrl: `${hook.url}${path}`, hmacSecretId: "main", delivery: { batchMaxSize: 2, initialBackoffSeconds: 1 } })
    }
    const shipments = ["S-1", "S-2", "S-3"]
    for (const number of [1, 2, 3]) await tenant.intakeAt(url).publishTransitEvents(shipments.map((id) => event(id, number)))
    const at = (path: string) => hook.receptions.filter((reception) => reception.path === path)
    const eventsAt = (path: string) => new Set(at(path).flatMap(({ body }) => JSON.parse(body).events.map(({ eventId }: { eventId: string }) => eventId)))
    await eventually(() => eventsAt("/well").size === 9 && at("/failing").length > 0 && at("/hanging").length > 0 ? true : undefined)
    await eventually(async () => {
      const { data } = await tenant.operator.listDeliveries("acme", { state: "delivered" })
      return data.reduce((sum, { events }) => sum + events, 0) === 9 ? true : undefined
    })
    await lost.kill("SIGKILL")

    const backup = await dump(pgUrl, env["WAYBILL_SCHEMA"]!)
    const elsewhere = await otherDatabase()
    await restore(elsewhere, env["WAYBILL_SCHEMA"]!, backup)
    well = true
    const { url: again } = await startProgram({ env: { ...env, WAYBILL_DATABASE_URL: elsewhere } })
    // Keys and secrets are unchanged.
    await tenant.intakeAt(again).publishTransitEvents(shipments.map((id) => event(id, 4)))
    const paths = ["/well", "/failing", "/hanging"]
    await eventually(() => paths.every((path) => eventsAt(path).size === 12) ? true : undefined, { seconds: 40, what: () => `12 events each: ${paths.map((path) => eventsAt(path).size)}` })

    for (const path of paths) {
      const idOf = new Map<string, string>()
      const bodyOf = new Map<string, string>()
      const accepted = new Map<string, Array<number>>()
      for (const { body, id } of at(path)) {
        expect(bodyOf.get(id) ?? body).toBe(body)
        bodyOf.set(id, body)
        for (const { eventId, sequence, shipment } of JSON.parse(body).events) {
          expect(idOf.get(eventId) ?? id, `${eventId} at ${path} under a second id`).toBe(id)
          if (!idOf.has(eventId)) accepted.set(shipment.shipmentId, [...accepted.get(shipment.shipmentId) ?? [], sequence])
          idOf.set(eventId, id)
        }
      }
      expect([...accepted.values()]).toEqual(shipments.map(() => [1, 2, 3, 4]))
    }
    // Deliveries accepted before are not sent again.
    expect(at("/well").flatMap(({ body }) => JSON.parse(body).events)).toHaveLength(12)
    const { data } = await tenant.customerAt(again).listEvents()
    expect(data.map(({ eventId }) => eventId)).toEqual(shipments.flatMap((id) => [1, 2, 3, 4].map((number) => `${id}/${number}`)))
  })
})
