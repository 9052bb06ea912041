/** A deleted tenant leaves no rows in any table. */
import { layer } from "@effect/vitest"
import {
  ApiKeys,
  AuditStore,
  EndpointNotices,
  FreightChargeIntake,
  MailStore,
  NoticeStore,
  ShipmentIntake,
  Subscriptions,
  TenantLimits,
  TenantRemoval,
  UniqueIds
} from "@waybill/core"
import { DeliveryWorker, StatisticsStore } from "@waybill/core/delivery"
import { ChargeWindows } from "@waybill/core/freight-charges"
import { InvoiceDocuments, Invoices } from "@waybill/core/invoices"
import { Pickups, PickupSubscriptions } from "@waybill/core/pickups"
import { TransitEvents } from "@waybill/core/transit-events"
import { billChange, documentsSample, fileSample, invoiceSample, pickupRequest, postedShipment, reportedEvent, TestWaybill } from "@waybill/testkit"
import { fixtures } from "@waybill/conformance/suites"
import { Effect } from "effect"
import { assert } from "vitest"
import { rowsIn, testService } from "../TestService.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"
import { auditEntry } from "./AuditEntry.ts"

const schema = freshSchema()
const rows = rowsIn(schema)

/** Tables that keep rows of a deleted tenant, and why. */
const staying: Readonly<Record<string, string>> = {
  audit_entries: "who deleted it, and what was done before, is shown until retention removes it"
}

/** Tables that belong to no tenant. */
const ofNobody = ["cluster", "delivery_workers", "migrations"]

const webhookUrl = "https://receiver.example/hook"

/** A tenant with settings, documents and subscriptions of every area. */
const begin = Effect.fnUntraced(function*(tenantId: string) {
  const tenant = yield* TestWaybill.tenant(tenantId)
  const { carrier } = tenant
  const customer = tenant.customer("shop", ["A"])
  yield* (yield* TenantLimits).put(tenantId, { waitingDays: 30 })
  yield* (yield* ApiKeys).create(tenantId, { name: "shipper", roles: ["customer"], accounts: ["A"] })
  const all = yield* TestWaybill.subscribe(tenant, customer, { endpointUrl: webhookUrl })
  yield* TestWaybill.subscribe(tenant, customer, { endpointUrl: webhookUrl, filters: { shipmentIds: ["S"] } })
  yield* TestWaybill.follow(customer, { webhookUrl, referenceNumbers: [postedShipment("S").ProNumber] })
  yield* TestWaybill.subscribeToCharges(customer, { webhookUrl })
  yield* TestWaybill.subscribeToCharges(tenant.customer("hourly", ["A"]), { webhookUrl, frequency: "hourly" })
  yield* (yield* Invoices).create(carrier, invoiceSample({ accounts: ["A"] }))
  yield* (yield* InvoiceDocuments).upload(carrier, documentsSample({ accounts: ["A"], documents: [{ documentType: "POD", files: [fileSample("PDF", 70_000)] }] }))
  yield* (yield* Pickups).create(customer, pickupRequest({ orgAccountNumber: "A", day: "2099-11-20" }), { idempotencyKey: "once" })
  yield* (yield* PickupSubscriptions).create(carrier, { topics: ["pickups"], endpointUrl: webhookUrl, hmacSecretId: tenant.hmacSecretId })
  const id = yield* (yield* UniqueIds).next
  yield* (yield* StatisticsStore).add(tenantId, [{ destinationId: all.id, at: Date.now(), deliveries: 1, failures: 0, latencyMillis: 1, maxLatencyMillis: 1 }])
  yield* (yield* MailStore).put(tenantId, "key:shop", { id: "a.1", to: "edi@shipper.example", subject: "Subject", text: "Text" })
  const notices = yield* EndpointNotices
  const { webhook } = yield* notices.setContact(customer, { email: "edi@shipper.example", webhook: { endpointUrl: webhookUrl, hmacSecretId: tenant.hmacSecretId } })
  yield* (yield* NoticeStore).queue(tenantId, { webhookId: webhook!.subscriptionId, subscriptionId: all.id, noticeId: "a.1", body: new Uint8Array([123, 125]), traceparent: undefined })
  yield* (yield* NoticeStore).claim(tenantId, { subscriptionId: all.id, kind: "failing", day: 20_400 })
  yield* (yield* AuditStore).put([auditEntry({ id, at: Date.now(), tenantId })])
  return { tenant, customer, subscriptionId: all.id }
})

type Begun = Effect.Success<ReturnType<typeof begin>>

const report = Effect.fnUntraced(function*({ tenant: { carrier } }: Begun, n: number) {
  yield* (yield* ShipmentIntake).report(carrier, { shipments: [postedShipment("S", { accounts: ["A"], ShipmentMilestoneStatus: n === 1 ? "Picked-up" : "In Transit" })] })
  yield* (yield* TransitEvents).append(carrier, ["S", "T"].map((shipmentId) => reportedEvent(shipmentId, { accounts: ["A"] })))
  yield* (yield* FreightChargeIntake).report(carrier, { charges: [billChange("created", `B${n}`, { account: "A" })] })
})

/** Creates sent, waiting and dropped entries, and a closed charge window. */
const fill = Effect.fnUntraced(function*(tenantIds: ReadonlyArray<string>) {
  const tenants = yield* Effect.forEach(tenantIds, begin)
  yield* Effect.forEach(tenants, (each) => report(each, 1))
  for (const tenantId of tenantIds) {
    for (const table of ["subscriptions", "collected"]) yield* rows(`UPDATE @freight_charge_${table} SET closes_at = closes_at - interval '1 hour' WHERE tenant_id = $1`, [tenantId])
  }
  yield* (yield* ChargeWindows).closeDue
  yield* (yield* DeliveryWorker).drain
  for (const each of tenants) {
    yield* report(each, 2)
    yield* TestWaybill.subscribeToCharges(each.tenant.customer("late", ["A"]), { webhookUrl })
    yield* (yield* Subscriptions).purge(each.tenant.tenantId, each.subscriptionId)
    yield* (yield* TransitEvents).list(each.customer, { page: 1, pageSize: 1 })
    yield* rows("INSERT INTO @document_discards (tenant_id, content_id) VALUES ($1, gen_random_uuid())", [each.tenant.tenantId])
    yield* rows("INSERT INTO @transit_events_awaiting_status VALUES ($1, 'S', 1)", [each.tenant.tenantId])
    // rows that a worker leaves when it is killed while it sends
    yield* rows("INSERT INTO @delivery_leases VALUES ($1, 7, 'worker', now(), interval '1 minute') ON CONFLICT DO NOTHING", [each.tenant.tenantId])
    yield* rows("INSERT INTO @delivery_flights VALUES ($1, 7, gen_random_uuid(), now(), 0, '{}')", [each.tenant.tenantId])
  }
})

/** The number of rows of a tenant in each table. */
const countsOf = Effect.fnUntraced(function*(tenantId: string) {
  const tables = yield* rows<{ name: string }>(
    `SELECT c.table_name AS name FROM information_schema.columns AS c JOIN information_schema.tables AS t USING (table_schema, table_name)
     WHERE c.table_schema = $1 AND c.column_name = 'tenant_id' AND t.table_type = 'BASE TABLE' ORDER BY 1`,
    [schema]
  )
  const counts = yield* Effect.forEach(tables, ({ name }) =>
    Effect.map(rows<{ n: number }>(`SELECT count(*)::int AS n FROM @"${name}" WHERE tenant_id = $1`, [tenantId]), ([row]) => [name, row!.n] as const))
  return Object.fromEntries(counts)
})

const tablesWith = (counts: Readonly<Record<string, number>>, some: boolean) => Object.keys(counts).filter((name) => counts[name]! > 0 === some)

layer(testService(testStorage(schema)), { excludeTestServices: true })("a deleted tenant", (it) => {
  it.effect("leaves no row in any table except the audit log, and keeps other tenants", Effect.fnUntraced(function*() {
    const removal = yield* TenantRemoval
    const [gone, other] = [fixtures.freshTenant(), fixtures.freshTenant()]
    yield* fill([gone, other])
    const tables = yield* rows<{ name: string }>("SELECT table_name AS name FROM information_schema.tables WHERE table_schema = $1 AND table_type = 'BASE TABLE'", [schema])
    const before = yield* countsOf(other)
    assert.deepStrictEqual(tables.map(({ name }) => name).filter((name) => !(name in before)).sort(), ofNobody, "a table without a tenant")
    assert.deepStrictEqual(tablesWith(yield* countsOf(gone), false), [], "nothing shows that these are emptied")
    yield* removal.remove(gone)
    assert.strictEqual(yield* removal.sweep, 0)
    assert.deepStrictEqual(tablesWith(yield* countsOf(gone), true), [...Object.keys(staying), "tenants"].sort())
    yield* rows("UPDATE @tenants SET deleted_at = deleted_at - interval '61 seconds' WHERE tenant_id = $1", [gone])
    assert.strictEqual(yield* removal.sweep, 1)
    assert.deepStrictEqual(tablesWith(yield* countsOf(gone), true), Object.keys(staying))
    assert.deepStrictEqual(yield* countsOf(other), before)
  }))
})
