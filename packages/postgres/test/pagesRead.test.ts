/** How much calls read whose caller has a few rows among very many of others: a number of pages that does not grow with these. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { assert } from "vitest"
import type { PageRequest } from "@waybill/core/transit-events"
import { pageEntries } from "../src/audit/AuditStorePostgres.ts"
import { PgClient, Sql } from "../src/index.ts"
import * as documents from "../src/invoices/DocumentSql.ts"
import * as invoices from "../src/invoices/InvoiceSql.ts"
import { accountKnownTo } from "../src/shipment-status/CarrierShipmentSql.ts"
import * as statuses from "../src/shipment-status/ShipmentStatusSql.ts"
import * as eventPages from "../src/transit-events/TransitEventPageSql.ts"
import { pagesRead } from "./PlanScans.ts"
import { freshSchema, testStorage } from "./TestStorage.ts"

const many = 20_000
const mostPages = 150

const name = freshSchema()
const schema = Sql.raw(`"${name}"`)

/** Of one tenant. A carrier and an actor have ten of all rows, spread evenly; another one has the others. Each shipment has an account of its own as well, so that a plan for all accounts expects few shipments. */
const isFew = `mod(n, ${many / 10}) = 7`
const rows: Readonly<Record<string, string>> = {
  shipment_accounts: `(tenant_id, account, shipment_id, pickup_at)
    SELECT 't', a, 'S' || lpad(n::text, 6, '0'), 'epoch'::timestamptz + n * interval '1 s' FROM %, unnest(ARRAY[CASE WHEN ${isFew} THEN 'FEW' ELSE 'MANY' END, CASE WHEN ${isFew} THEN ' dot 2' ELSE ' dot 1' END, 'OWN' || n]) AS a`,
  shipment_statuses: `(tenant_id, shipment_id, state, verified, public, covered, pickup_at)
    SELECT 't', 'S' || lpad(n::text, 6, '0'), '{}', '', '', true, 'epoch'::timestamptz + n * interval '1 s' FROM %`,
  transit_events: `(tenant_id, event_id, shipment_id, sequence, type_bit, occurred_at, recorded_at, body)
    SELECT 't', 'E' || n, 'S' || lpad(n::text, 6, '0'), 1, 1, 'epoch'::timestamptz + mod(n * 7, ${many}) * interval '1 s', 'epoch'::timestamptz + n * interval '1 s', decode(repeat('00', 500), 'hex') FROM %`,
  invoices: `(tenant_id, unique_id, dot, mc, shipment_id, invoice_number, accounts, body)
    SELECT 't', 'U' || n, CASE WHEN ${isFew} THEN '2' ELSE '1' END, '', 'S', 'N', '{}', '' FROM %`,
  document_records: `(tenant_id, invoice_number, dot, mc, shipment_id, accounts, doc)
    SELECT 't', 'N' || n, CASE WHEN ${isFew} THEN '2' ELSE '1' END, '', 'S', '{}', '{}' FROM %`,
  document_files: `(tenant_id, invoice_number, dot, mc, file_id, document_type, content_id, size, sha256, media_type)
    SELECT 't', 'N' || n, CASE WHEN ${isFew} THEN '2' ELSE '1' END, '', 'F', 'POD', gen_random_uuid(), 1, '', '' FROM %`,
  audit_entries: `(tenant_id, entry_id, at, actor_kind, actor_name, action, object_kind, object_id, result, status, request_id)
    SELECT 't', lpad(to_hex(n), 32, '0')::uuid, now(), 'operator', CASE WHEN ${isFew} THEN 'few' ELSE 'many' END, 'a', 'o', 'i', 'ok', 200, 'r' FROM %`
}

const few = [" dot 2"]
const carrier = { _tag: "Carrier", dot: "2", mc: "9" } as const
const everything = { _tag: "All" } as const
const range = { account: "MANY", from: 0, to: many * 1000, limit: 100, bytes: 1e9 }
const between = { seen: "4:4:", upto: "999999999:999999999:", from: (many - 100) * 1000, after: undefined, limit: 100 }
const eventsOf = (filter: object): PageRequest => ({
  tenantId: "t", visibility: { _tag: "Granted", grants: [" dot 1"] }, filter: { shipmentId: undefined, eventTypes: undefined, occurredFrom: undefined, occurredTo: undefined, order: "asc", ...filter },
  snapshot: undefined, after: undefined, skip: 0, limit: 10, count: false
})

const calls: Readonly<Record<string, Sql.Statement>> = {
  "an account of another carrier": accountKnownTo(schema, "t", "MANY", few),
  "what a carrier picked up of the account of another": statuses.findPickedUp(schema, "t", { ...range, carrier: few }),
  "what a carrier picked up of its account": statuses.findPickedUp(schema, "t", { ...range, account: "FEW", carrier: few }),
  "what a carrier with most shipments picked up of an account with few": statuses.findPickedUp(schema, "t", { ...range, account: "FEW", carrier: [" dot 1"] }),
  "events since a position": eventPages.since(schema, "t", everything, between),
  "events of a carrier with nearly all shipments": eventPages.page(schema, eventsOf({})),
  "events of a short time of a carrier with nearly all shipments": eventPages.page(schema, eventsOf({ occurredFrom: (many - 10) * 1000 })),
  "number of events of a short time of a carrier with nearly all shipments": eventPages.count(schema, eventsOf({ occurredFrom: (many - 10) * 1000 }), undefined),
  "invoices of a carrier with both numbers": invoices.listInvoices(schema, "t", carrier, { uniqueId: undefined, shipmentId: undefined, invoiceNumber: undefined, dot: undefined, mc: undefined }, { after: undefined, limit: 50 }),
  "documents of a carrier with both numbers": documents.selectRecords(schema, "t", carrier, { invoiceNumber: undefined, dot: undefined, mc: undefined, documentTypes: undefined }, { after: undefined, limit: 50, newestFirst: false }),
  "audit entries of an actor": pageEntries(schema, { actor: "few", tenantId: undefined, from: undefined, before: undefined, limit: 50 })
}

layer(testStorage(name), { excludeTestServices: true })("a call that concerns few rows among many of others", (it) => {
  it.effect(`reads at most ${mostPages} pages`, Effect.fnUntraced(function*() {
    const sql = yield* PgClient.PgClient
    for (const [table, values] of Object.entries(rows)) {
      yield* sql.unsafe(`INSERT INTO "${name}".${table} ${values.replace("%", `generate_series(1, ${many}) AS n`)}`).unprepared
      yield* sql.unsafe(`VACUUM (ANALYZE) "${name}".${table}`).unprepared
    }
    const read = yield* Effect.forEach(Object.entries(calls), ([call, statement]) => Effect.map(pagesRead(statement), (pages) => `${call}: ${pages.join(", ")}`))
    assert.deepEqual(read.filter((line) => line.match(/\d+/g)!.some((pages) => Number(pages) > mostPages)), [], read.join("\n"))
  }), 120_000)
})
