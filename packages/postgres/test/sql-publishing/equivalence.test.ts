/** The SQL function and the service do the same with the same events: valid ones, damaged ones, repeated ones, and odd JSON. */
import { SeededRandom } from "@waybill/conformance/fixtures"
import { eventTypes, ReportedEvent } from "@waybill/core/transit-events"
import type { HostPrincipal } from "@waybill/http"
import { invoiceSample, reportedEvent } from "@waybill/testkit"
import type { Schema } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Service, startService } from "../host/Service.ts"

// Loaded by path, because another package's tests cannot be imported.
const hostile = (name: string) => import(new URL(`../../../http/test/hostile/${name}.ts`, import.meta.url).pathname)
const { specimenOf } = await hostile("Specimens") as { readonly specimenOf: (schema: Schema.Top) => (random: SeededRandom) => Record<string, unknown> }
const { damagedJson } = await hostile("HostileJson") as { readonly damagedJson: (body: unknown, random: SeededRandom) => string }

const specimen = specimenOf(ReportedEvent)
const tenants = ["by-service", "by-function"] as const
type Tenant = typeof tenants[number]

const carrierOf = (tenantId: Tenant): HostPrincipal => ({ tenantId, client: "tms", roles: ["carrier"] })
const customerOf = (tenantId: Tenant, client: string, accounts: ReadonlyArray<string>): HostPrincipal => ({ tenantId, client, roles: ["customer"], accounts })

let service: Service
/** Subscription ids of each tenant, in the same order. */
const subscriptions: Record<Tenant, Array<string>> = { "by-service": [], "by-function": [] }

beforeAll(async () => {
  service = await startService({ sqlPublishing: true })
  for (const tenantId of tenants) {
    await service.waybill.tenants.put(tenantId, { name: tenantId })
    await service.waybill.secrets.put(tenantId, "main", { anyClient: true })
    const base = { endpointUrl: service.hook("/events"), hmacSecretId: "main" }
    for (const [client, accounts] of [["a", ["A1"]], ["b", ["A1", "B"]], ["c", ["C"]]] as const) {
      for (const filters of [{}, { eventTypes: eventTypes.slice(0, 9) }, { shipmentIds: ["S-1", "A1"] }]) {
        const made = await service.waybill.subscriptions.create(customerOf(tenantId, client, accounts), { ...base, filters } as never)
        subscriptions[tenantId].push(made.id)
      }
    }
    const all = await service.waybill.subscriptions.create(carrierOf(tenantId), base)
    subscriptions[tenantId].push(all.id)
    for (const shipmentID of ["S-1", "A1"]) await service.waybill.invoices.create(carrierOf(tenantId), invoiceSample({ uniqueID: shipmentID, shipmentID }))
  }
})
afterAll(() => service.close())

const query = (sql: string, values: ReadonlyArray<unknown>) =>
  service.pool.query(sql.replaceAll("@", `"${service.schema}".`), [...values]).then(({ rows }) => rows as ReadonlyArray<any>)

const publish = (events: string) => query("SELECT * FROM @publish_transit_events($1, $2)", ["by-function", events])

const generated = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** Ids that the service or the function assigned differ, so only their form counts. */
const plainId = (id: string): string => generated.test(id) ? "assigned" : id

interface Outcome {
  readonly pointer?: string
  readonly rows?: ReadonlyArray<readonly [index: number, eventId: string, sequence: number, outcome: string]>
}

const byFunction = async (events: string): Promise<Outcome> => {
  try {
    const rows = await publish(events)
    return { rows: rows.map((row) => [row.index, plainId(row.event_id), Number(row.sequence), row.outcome]) }
  } catch (error) {
    const { code, detail, message } = error as { readonly code: string; readonly detail: string; readonly message: string }
    expect(code, message).toBe("22023")
    const [, index = "", path = ""] = /^\/events(?:\/(\d+)(.*))?$/.exec(detail)!
    expect(message.startsWith(index === "" ? "events: " : `events[${index}]${path.replaceAll("/", ".")}: `), message).toBe(true)
    return { pointer: detail }
  }
}

const byService = async (events: unknown): Promise<Outcome> => {
  const list = Array.isArray(events) ? events : [events]
  try {
    const results = await service.waybill.events.publish(carrierOf("by-service"), list as never)
    return { rows: results.map((each: any) => [each.index, plainId(each.eventId), each.sequence, each.result]) }
  } catch (error) {
    const { code, faults } = error as { readonly code: string; readonly faults: ReadonlyArray<{ readonly pointer: string }> }
    expect(code, String(error)).toBe("invalid_input")
    return { pointer: faults[0]!.pointer }
  }
}

/** Everything that a call stores, without what is assigned at random. */
const stored = async (tenantId: Tenant) => {
  const destinations = subscriptions[tenantId]
  const [events, shipments, accounts, invoices, entries, signals] = await Promise.all([
    query("SELECT event_id, shipment_id, sequence, type_bit, occurred_at::text, traceparent, convert_from(body, 'UTF8') AS body FROM @transit_events WHERE tenant_id = $1 ORDER BY event_no", [tenantId]),
    query("SELECT shipment_id, accounts, carrier, written, last_sequence, allocated, reassigned FROM @shipments WHERE tenant_id = $1 ORDER BY 1", [tenantId]),
    query("SELECT account, shipment_id, pickup_at FROM @shipment_accounts WHERE tenant_id = $1 ORDER BY 1, 2", [tenantId]),
    query("SELECT account, unique_id FROM @invoice_accounts WHERE tenant_id = $1 ORDER BY 1, 2", [tenantId]),
    query(
      `SELECT array_position($2::uuid[], q.destination_id) AS destination, q.key, q.sequence, q.size, e.shipment_id, e.sequence AS event_sequence
       FROM @delivery_entries AS q JOIN @transit_events AS e ON e.tenant_id = $1 AND e.event_no = q.ref
       WHERE q.tenant_id = $1 ORDER BY 1, q.key COLLATE "C", q.sequence, q.ref`,
      [tenantId, destinations]
    ),
    query("SELECT array_position($2::uuid[], destination_id) AS destination, key, count(*) FROM @delivery_signals WHERE tenant_id = $1 GROUP BY 1, 2 ORDER BY 1, 2", [tenantId, destinations])
  ])
  return {
    events: events.map((row) => ({ ...row, event_id: plainId(row.event_id), body: row.body.replace(row.event_id, plainId(row.event_id)) })),
    shipments,
    accounts,
    invoices,
    entries,
    signals
  }
}

const accepted: Array<Record<string, unknown>> = []

/** Spells the date-times of an event in another way, which is the same content or not. */
const respelled = (event: Record<string, unknown>, random: SeededRandom): Record<string, unknown> => {
  const spell = random.pick<(time: string) => string>([
    (time) => time.replace("Z", random.pick(["z", "+00:00", "-00:00"])).replace("T", "t"),
    (time) => time.replace(/(?=[Zz+-][^-]*$)/, time.includes(".") ? "0" : random.pick([".000", ".0"])),
    (time) => time.replace(/[Zz+-][^-]*$/, random.pick(["+00:01", "", ".500Z", ".5-06:00"])),
    (time) => random.pick([`${time} `, ` ${time}`, `${time}\n`])
  ])
  const time = /^\d{4}-\d{2}-\d{2}[Tt]/
  return JSON.parse(JSON.stringify(event), (_, value: unknown) => typeof value === "string" && time.test(value) ? spell(value) : value) as Record<string, unknown>
}

/** An event of a few shipments and ids, so that calls publish the same ones. */
const anyEvent = (random: SeededRandom): Record<string, unknown> => {
  if (accepted.length > 0 && random.share(0.3)) {
    const event = structuredClone(random.pick(accepted))
    return random.pick([
      () => event,
      () => ({ ...event, sequence: random.below(4) }),
      () => ({ ...event, parties: { accounts: ["B"] } }),
      () => ({ ...event, type: random.pick(eventTypes) }),
      () => Object.fromEntries(Object.entries(event).reverse()),
      () => respelled(event, random)
    ])()
  }
  const event = random.share(0.5) ? specimen(random) : reportedEvent(random.pick(["S-1", "S-2", "A1", "Spedition Müller", "😀", "\uffee-1"]))
  return {
    ...event,
    ...(random.share(0.5) ? { eventId: `event ${random.below(200)}` } : {}),
    ...(random.share(0.3) ? { sequence: random.below(20) } : {}),
    ...(random.share(0.3) ? { parties: { accounts: random.pick([["A1"], ["B", "A1", "B"], ["C"], []]) } } : {}),
    ...(random.share(0.2) ? { attributes: { 10: 1, 9: 2, b: [1.50, 1e15, 1e-7, -0, 123456.789e3], "a\"b\\": "x: y, z" } } : {}),
    ...(random.share(0.2) ? { reportedAt: "2026-11-20T08:16:00Z", attributes: { at: ["2026-11-20T08:16:00.5", "2026-11-20T08:16:00.100Z"], "2026-11-20T08:16:00z": {}, none: [] } } : {}),
    ...(random.share(0.1) ? { attributes: { z: 1e21, 10: random.pick([1, 2 ** 53]), "a/b": [[random.pick([1, -1e300])]] } } : {})
  }
}

const callOf = (random: SeededRandom): string => {
  const events = Array.from({ length: random.pick([1, 1, 2, 3, 5]) }, () => anyEvent(random))
  if (random.share(0.1)) events.push(respelled(events[0]!, random))
  const call = random.share(0.2) ? events[0] : events
  return random.share(0.5) ? damagedJson(call, random) : JSON.stringify(call)
}

const calls = 300

describe("publishing from SQL and through the service", () => {
  it("accept and refuse the same events with the same results, and store and queue the same", async () => {
    const counts = { accepted: 0, refused: 0, notJson: 0, invoices: 0 }
    for (let seed = 1; seed <= calls; seed++) {
      const text = callOf(new SeededRandom(seed))
      // jsonb refuses some texts before the function runs; from what it holds, both have to read the same
      const held = await service.pool.query("SELECT $1::jsonb::text AS held", [text]).then(({ rows }) => rows[0].held as string, () => undefined)
      if (held === undefined) {
        counts.notJson += 1
        continue
      }
      const events: unknown = JSON.parse(held)
      const ours = await byFunction(text)
      if (typeof events !== "object" || events === null) {
        expect(ours, text).toEqual({ pointer: "/events" })
        continue
      }
      const expected = await byService(events)
      expect(ours, `seed ${seed}: ${text.slice(0, 5000)}`).toEqual(expected)
      counts[expected.rows === undefined ? "refused" : "accepted"] += 1
      if (expected.rows !== undefined) {
        for (const event of Array.isArray(events) ? events : [events]) if (event.eventId !== undefined) accepted.push(event)
      }
      if (seed % 50 === 0) {
        const found = await stored("by-function")
        expect(found).toEqual(await stored("by-service"))
        counts.invoices += found.invoices.length
      }
    }
    expect(counts.invoices).toBeGreaterThan(0)
    expect(counts.accepted).toBeGreaterThan(calls / 5)
    expect(counts.refused).toBeGreaterThan(calls / 5)
  }, 120_000)
})
