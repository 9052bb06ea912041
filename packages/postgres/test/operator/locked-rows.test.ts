/** Background work leaves out rows that a transaction of a host has locked, does the rest at once, and comes back to them. */
import { layer } from "@effect/vitest"
import { AuditStore, Backlogs, MailStore, NoticeStore, Subscriptions, TenantLimits, UniqueIds } from "@waybill/core"
import { DeliveryQueue, StatisticsStore } from "@waybill/core/delivery"
import { ChargeSubscriptionStore, FreightBillStore } from "@waybill/core/freight-charges"
import { DocumentContents } from "@waybill/core/invoices"
import { PickupStore } from "@waybill/core/pickups"
import { ShipmentStatusStore } from "@waybill/core/shipment-status"
import { TransitEvents, TransitSubscriptions, TransitSubscriptionStore } from "@waybill/core/transit-events"
import { reportedEvent, TestWaybill } from "@waybill/testkit"
import { chargeFixtures, fixtures } from "@waybill/conformance/suites"
import { Effect } from "effect"
import { assert } from "vitest"
import { openTransaction } from "../OpenTransaction.ts"
import { rowsIn, testService } from "../TestService.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"
import { auditEntry } from "./AuditEntry.ts"

const schema = freshSchema()
const rows = rowsIn(schema)
const { freshTenant, idOf, subscribe } = fixtures

const day = 86_400_000
const long = Date.UTC(2020, 0, 1)

/** The same for the areas. */
const makeAreaPrunes = Effect.fnUntraced(function*(tenantId: string) {
  const [bills, pickups, statuses, subscriptions] = [yield* FreightBillStore, yield* PickupStore, yield* ShipmentStatusStore, yield* ChargeSubscriptionStore]
  const [queue, transit] = [yield* DeliveryQueue, yield* TransitSubscriptionStore]
  for (const n of [1, 2]) {
    yield* chargeFixtures.publishBills(tenantId, [{ billId: `bill ${n}`, state: "removed" }])
    yield* chargeFixtures.subscribeToCharges(tenantId, { n, accounts: [`${n}`] })
    yield* subscriptions.cancel(tenantId, "client", idOf(n))
    yield* rows("INSERT INTO @shipments (tenant_id, shipment_id) VALUES ($1, $2)", [tenantId, `S${n}`])
    yield* rows(
      `INSERT INTO @shipment_statuses (tenant_id, shipment_id, state, verified, public, covered, pickup_at, delivered_at) VALUES ($1, $2, '{}', '', '', true, $3, $3)`,
      [tenantId, `S${n}`, new Date(long)]
    )
    for (const [pickup, client, createdAt] of [[n, "client", long], [n + 2, `client ${n}`, long + day]] as const) {
      yield* rows(
        "INSERT INTO @pickups (tenant_id, pickup_id, accounts, status, waits, doc, is_test, client, created_at) VALUES ($1, $2, '{}', 'new', false, '{}', false, $3, $4)",
        [tenantId, idOf(pickup), client, new Date(createdAt)]
      )
    }
    yield* rows("INSERT INTO @pickup_usage (tenant_id, client, bytes) VALUES ($1, $2, 0)", [tenantId, `client ${n}`])
    yield* subscribe(tenantId, { n: n + 2 })
    yield* transit.remove(tenantId, "client", idOf(n + 2))
    yield* queue.closeDestination(tenantId, idOf(n + 2))
    yield* rows("INSERT INTO @pickup_answers (tenant_id, client, key, fingerprint, answer, answered_at) VALUES ($1, 'client', $2, '', '', $3)", [tenantId, `key ${n}`, new Date(long)])
  }
  yield* rows("INSERT INTO @pickup_usage (tenant_id, client, bytes) VALUES ($1, 'client', 0)", [tenantId])
  yield* rows("UPDATE @freight_bills SET ended_at = $2 WHERE tenant_id = $1", [tenantId, new Date(long)])
  yield* rows("UPDATE @freight_charge_subscriptions SET cancelled_at = $2 WHERE tenant_id = $1", [tenantId, new Date(long)])
  yield* rows("UPDATE @transit_subscriptions SET deleted_at = $2 WHERE tenant_id = $1", [tenantId, new Date(long)])
  yield* rows("UPDATE @delivery_destinations SET state_since = $2 WHERE tenant_id = $1", [tenantId, new Date(long)])
  return [
    { table: "freight_bills", first: "bill_id = 'bill 1'", prune: bills.prune(tenantId, { ended: long + day, noticed: 0 }) },
    { table: "freight_charge_subscriptions", first: `id = '${idOf(1)}'`, prune: bills.prune(tenantId, { ended: 0, noticed: long + day }) },
    { table: "transit_subscriptions", first: `id = '${idOf(3)}'`, prune: transit.prune(tenantId, long + day) },
    { table: "delivery_destinations", first: `destination_id = '${idOf(3)}'`, prune: queue.prune(tenantId, long + day) },
    { table: "shipments", first: "shipment_id = 'S1'", prune: statuses.prune(tenantId, { delivered: long + day, noticed: 0 }) },
    { table: "pickups", first: `pickup_id = '${idOf(1)}'`, prune: pickups.prune(tenantId, { ordered: long + day, answered: 0 }) },
    { table: "pickup_usage", first: "client = 'client 1'", prune: pickups.prune(tenantId, { ordered: long + 2 * day, answered: 0 }) },
    { table: "pickup_answers", first: "key = 'key 1'", prune: pickups.prune(tenantId, { ordered: 0, answered: long + day }) }
  ]
})

/** Two old rows of each table that retention prunes, and how to prune them. */
const makePrunes = Effect.fnUntraced(function*(tenantId: string) {
  const [audit, contents, ids, mails, notices, statistics] =
    [yield* AuditStore, yield* DocumentContents, yield* UniqueIds, yield* MailStore, yield* NoticeStore, yield* StatisticsStore]
  for (const n of [1, 2]) {
    yield* mails.put(tenantId, "key:shop", { id: `mail ${n}`, to: "edi@shipper.example", subject: "Subject", text: "Text" })
    yield* notices.claim(tenantId, { subscriptionId: idOf(n), kind: "failing", day: 1 })
    yield* statistics.add(tenantId, [{ destinationId: idOf(n), at: long, deliveries: 1, failures: 0, latencyMillis: 1, maxLatencyMillis: 1 }])
    yield* audit.put([auditEntry({ id: ids.nextAt(long), at: long, tenantId })])
    yield* rows("INSERT INTO @document_contents (tenant_id, content_id, written_at) VALUES ($1, $2, $3)", [tenantId, idOf(n), new Date(long)])
  }
  yield* rows("UPDATE @mails SET created_at = $2 WHERE tenant_id = $1", [tenantId, new Date(long)])
  return [
    ...yield* makeAreaPrunes(tenantId),
    { table: "mails", first: "id = 'mail 1'", prune: mails.prune(tenantId, long + day) },
    { table: "endpoint_notices", first: `destination_id = '${idOf(1)}'`, prune: notices.prune(tenantId, 2) },
    { table: "delivery_minutes", first: `destination_id = '${idOf(1)}'`, prune: statistics.prune(tenantId, { minutes: long + day, hours: 0 }) },
    { table: "audit_entries", first: `entry_id = (SELECT min(entry_id::text)::uuid FROM "${schema}".audit_entries WHERE tenant_id = '${tenantId}')`, prune: audit.prune(ids.nextAt(long + day)) },
    { table: "document_contents", first: `content_id = '${idOf(1)}'`, prune: contents.sweep(tenantId, long + day) }
  ]
})

layer(testService(testStorage(schema)), { excludeTestServices: true })("rows that a transaction has locked", (it) => {
  it.effect("are left out by retention until it has ended", Effect.fnUntraced(function*() {
    const tenantId = freshTenant()
    yield* TestWaybill.tenant(tenantId)
    for (const { first, prune, table } of yield* makePrunes(tenantId)) {
      const commit = yield* openTransaction(rows(`SELECT FROM @${table} WHERE tenant_id = $1 AND ${first} FOR UPDATE`, [tenantId]))
      assert.strictEqual(yield* prune, 1, table)
      assert.strictEqual(yield* prune, 0, table)
      yield* commit
      assert.strictEqual(yield* prune, 1, table)
    }
  }))

  it.effect("of one subscription keep the excess of no other one waiting", Effect.fnUntraced(function*() {
    const tenant = yield* TestWaybill.tenant(freshTenant())
    const { tenantId } = tenant
    const [events, subscriptions, backlogs, all] = [yield* TransitEvents, yield* TransitSubscriptions, yield* Backlogs, yield* Subscriptions]
    const ids: Array<string> = []
    for (const name of ["one", "other"]) {
      const customer = tenant.customer(name, ["A"])
      const { id } = yield* TestWaybill.subscribe(tenant, customer, { endpointUrl: "https://receiver.example/hook" })
      yield* subscriptions.patch(customer, id, { status: "paused" })
      ids.push(id)
    }
    for (const shipmentId of ["S1", "S2", "S3"]) yield* events.append(tenant.carrier, [reportedEvent(shipmentId, { accounts: ["A"] })])
    yield* (yield* TenantLimits).put(tenantId, { waitingPerSubscription: 1 })
    const dropped = Effect.map(all.list(tenantId, {}), ({ data }) => ids.map((id) => data.find(({ subscriptionId }) => subscriptionId === id)?.dropped))
    const commit = yield* openTransaction(rows("SELECT FROM @delivery_destinations WHERE tenant_id = $1 AND destination_id = $2 FOR UPDATE", [tenantId, ids.toSorted()[0]]))
    assert.strictEqual(yield* backlogs.sweep, 2)
    assert.deepStrictEqual((yield* dropped).toSorted(), [0, 2])
    yield* commit
    assert.strictEqual(yield* backlogs.sweep, 2)
    assert.deepStrictEqual(yield* dropped, [2, 2])
  }))
})
