/** Plans of frequent statements on empty, analysed tables, the usual state of queue tables. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { assert } from "vitest"
import * as control from "../src/delivery/DeliveryControlSql.ts"
import * as log from "../src/delivery/DeliveryLogSql.ts"
import * as drops from "../src/delivery/DeliveryDropSql.ts"
import * as queue from "../src/delivery/DeliveryQueueSql.ts"
import { settle } from "../src/delivery/DeliverySettleSql.ts"
import { PgClient, Sql } from "../src/index.ts"
import * as chargeSubscriptions from "../src/freight-charges/ChargeSubscriptionSql.ts"
import * as chargeWindows from "../src/freight-charges/ChargeWindowSql.ts"
import * as charges from "../src/freight-charges/FreightBillSql.ts"
import * as payloads from "../src/freight-charges/FreightChargePayloads.ts"
import * as documentStatements from "../src/invoices/DocumentSql.ts"
import * as invoices from "../src/invoices/InvoiceSql.ts"
import * as pickups from "../src/pickups/PickupSql.ts"
import * as shipments from "../src/shared/ShipmentSql.ts"
import * as statuses from "../src/shipment-status/ShipmentStatusSql.ts"
import * as events from "../src/transit-events/TransitEventSql.ts"
import * as subscriptions from "../src/transit-events/TransitSubscriptionSql.ts"
import { indexConditions, planOf, seqScans, showsGenericPlans, updatesFrom, wholeTenants } from "./PlanScans.ts"
import { freshSchema, testStorage } from "./TestStorage.ts"

const schema = freshSchema()
const quoted = `"${schema}"`
const sources = [
  events.transitEventPayloads,
  statuses.shipmentStatusPayloads,
  payloads.freightChargePayloads,
  payloads.freightChargeWindowPayloads
]

const id = "00000000-0000-4000-8000-000000000000"
const carrier = { dot: "1", mc: "" }
const claims = {
  tenant: Sql.tenant("t"), shipmentIds: Sql.textArray([]), needed: Sql.int4Array([]), highest: Sql.int8Array([]), accounts: Sql.textArray([]),
  carriers: Sql.textArray([]), written: Sql.boolArray([]), writer: Sql.textArray(undefined)
}
const subscription = { id, client: "c", doc: "{}", typeMask: 1, shipmentIds: [], matched: true, createdAt: 0, updatedAt: 0 }
const pickup = {
  pickupId: id, number: "1", isTest: false, client: "c", accounts: [], carrier: undefined, doc: "{}", createdAt: 0, pros: []
}
const pickupEntry = { pickupId: id, position: 1, at: 0, doc: "{}" }
const invoice = { uniqueId: "U", carrier, shipmentId: "S", invoiceNumber: "N", accounts: [], body: new Uint8Array() }
const documents = { invoiceNumber: "N", carrier, shipmentId: "S", accounts: [], doc: "{}", files: [] }

/** A plan depends on the text alone, so the values are any. */
const statementsIn = (quoted: string) => {
  const schema = Sql.raw(quoted)
  const own = Sql.tenant("t")
  const none = Sql.textArray([])
  const statements = {
    ...positional(quoted),
    "find events": events.findEvents(schema, own, none),
    "last events of a shipment": events.recentEvents(schema, "t", "S", { events: 1, bytes: 1 }),
    "lock shipments and take numbers": shipments.lockShipments(schema, claims),
    "append": events.append(schema, events.appendedEvents("t", [], undefined)),
    "replace accounts": shipments.replaceAccounts(schema, own, none),
    "lock shipments": subscriptions.lockShipments(schema, "t", []),
    "whether a client sees a shipment": subscriptions.seesShipment(schema, "t", "c", "S"),
    "history": subscriptions.queueHistory(schema, "t", subscription, []),
    "read statuses": statuses.readStatuses(schema, "t", []),
    "put statuses": statuses.putStatuses(schema, "t", []),
    "copy positions to keys and accounts": statuses.placeShipments(schema, "t", []),
    "replace keys": statuses.replaceKeys(schema, "t", []),
    "replace references": statuses.replaceReferences(schema, "t", []),
    "add notices": statuses.addNotices(schema, "t", [], undefined),
    "resolve keys": statuses.resolveKeys(schema, "t", [], []),
    "look up": statuses.findStatuses(schema, "t", []),
    "search statuses": statuses.searchStatuses(schema, "t", { keys: [], prefixes: [], shipmentId: "S" }, 1),
    "history of a shipment": statuses.readHistory(schema, "t", "S", 1),
    "picked up": statuses.findPickedUp(schema, "t", { account: "A", from: 0, to: 1, limit: 1 }),
    "account known": statuses.accountKnown(schema, "t", "A"),
    "lock old shipments": statuses.lockOldShipments(schema, "t", 0),
    "prune shipments": statuses.pruneShipments(schema, "t", 0, []),
    "lock bills": charges.lockBills(schema, "t", []),
    "viewers of charges": charges.viewers(schema, "t", []),
    "put bills": charges.putBills(schema, "t", []),
    "store charge notices": charges.storeNotices(schema, "t", { notices: [], notifications: [], traceparent: undefined }),
    "bills of a PRO": charges.billsBeginning(schema, "t", [], 1),
    "open bills": charges.openBills(schema, "t", [], { limit: 1 }),
    "in flight": chargeSubscriptions.inFlight(schema, "t", "c", id, { limit: 1 }),
    "windows that hold a bill": chargeWindows.windowsWith(schema, "t", id, []),
    "windows due": chargeWindows.windowsDue(schema, 1),
    "next closing": chargeWindows.nextClosing(schema),
    "due windows": chargeWindows.dueWindows(schema, "t"),
    "lock due windows": chargeWindows.lockDueWindows(schema, "t", []),
    "close windows": chargeWindows.closeWindows(schema, "t", []),
    "insert charge subscription": chargeSubscriptions.insertSubscription(schema, "t", { id, client: "c", doc: "{}", webhookUrl: "", accounts: [], createdAt: 0 }),
    "cancel charge subscription": chargeSubscriptions.cancelSubscription(schema, "t", "c", id),
    "prune charge lists": charges.pruneLists(schema, "t", 0),
    "insert pickup": pickups.insertPickup(schema, "t", pickup, pickupEntry),
    "update pickup": pickups.updatePickup(schema, "t", pickup, pickupEntry),
    "pickup by number": pickups.pickupOfNumber(schema, "t", "all", { number: "1", isTest: false }, false),
    "pickups by PRO": pickups.pickupsOfPros(schema, "t", [], 1),
    "history of pickups": pickups.historiesOf(schema, "t", []),
    "invoices of a shipment": invoices.historyOfShipment(schema, "t", "S", { entries: 1, bytes: 1 }),
    "put invoice": invoices.putInvoice(schema, "t", invoice),
    "move invoice history": invoices.moveHistory(schema, "t", "U", carrier, { dot: "9", mc: "9" }),
    "remove invoice": invoices.removeInvoice(schema, "t", carrier, "U"),
    "add documents": documentStatements.addDocuments(schema, "t", documents),
    "remove documents": documentStatements.removeDocuments(schema, "t", carrier, "N", ["F"])
  }
  const texts = Object.entries(statements).map(([name, statement]) => [name, typeof statement === "string" ? statement : statement.text] as const)
  return Object.fromEntries(texts) as { readonly [K in keyof typeof statements]: string }
}

const positional = (quoted: string) => ({
  "claim": queue.claim(quoted, sources),
  "claim destinations with signals": queue.claim(quoted, sources, "arrived"),
  "claim due destinations": queue.claim(quoted, sources, "due"),
  "tenants due": queue.tenantsDue(quoted),
  "due deliveries": queue.dueDeliveries(quoted, sources),
  "freeze": queue.freeze(quoted),
  "drop entries without access": drops.dropUnseen(quoted, sources),
  "withdraw deliveries": drops.withdraw(quoted, sources),
  "count a backlog": drops.countBacklog(quoted),
  "drop entries beyond quotas": drops.dropExcess(quoted),
  "forget drops": drops.forgetDrops(quoted),
  "restore access": queue.accessRestored(quoted, "client"),
  "settle": settle(quoted),
  "next due": queue.nextDue(quoted),
  "destination overviews": log.destinationOverviews(quoted, false),
  "destination overviews of a client": log.destinationOverviews(quoted, true),
  "list deliveries, newest first": log.listDeliveries(quoted, { direction: "DESC", client: undefined, isOfDestination: false, state: undefined, where: "" }),
  "list a destination's deliveries": log.listDeliveries(quoted, { direction: "DESC", client: undefined, isOfDestination: true, state: undefined, where: " AND d.destination_id = $3::uuid" }),
  "list a client's deliveries": log.listDeliveries(quoted, { direction: "DESC", client: "$3", isOfDestination: false, state: undefined, where: "" }),
  "list dead letters": log.listDeliveries(quoted, { direction: "ASC", client: undefined, isOfDestination: false, state: "dead", where: "" }),
  "pause a subscription": control.pauseDestination(quoted),
  "resume a subscription": control.resumeDestination(quoted),
  "begin a purge": control.beginPurge(quoted),
  "purge": control.purgeNext(quoted),
  "end a purge": control.endPurge(quoted),
  "keep the newest drops": control.trimDrops(quoted),
  "dismiss a delivery": control.dismiss(quoted),
  "trace a subject": control.traceDestination(quoted, sources),
  "trace its deliveries": control.traceDeliveriesOf(quoted),
  "health of a tenant": control.health(quoted),
  "newest deliveries": log.newestBound(quoted),
  "deliveries that carry a shipment": log.carryingDeliveries(quoted),
  "prune charge windows": payloads.pruneWindows(quoted),
  "prune charge notices": payloads.pruneNotices(quoted)
})

const statements = statementsIn(quoted)

layer(testStorage(schema), { excludeTestServices: true })("cached plans", (it) => {
  for (const [name, statement] of Object.entries(statements)) {
    it.effect(`read no table by a full scan: ${name}`, (context) =>
      Effect.gen(function*() {
        const sql = yield* PgClient.PgClient
        if (!(yield* showsGenericPlans)) return context.skip()
        yield* sql.unsafe(`ANALYZE ${quoted}.delivery_entries, ${quoted}.deliveries, ${quoted}.delivery_arrivals, ${quoted}.transit_events, ${quoted}.shipment_statuses, ${quoted}.freight_bills`)
        assert.deepEqual(seqScans(yield* planOf(statement)), [])
      }))
  }
  // planned with few rows and run with a hundred thousand: one scan of a tenant's rows for each destination would take too long
  for (const name of ["due deliveries", "freeze", "settle"] as const) {
    it.effect(`find deliveries by destination or id, never among all of a tenant: ${name}`, (context) =>
      Effect.gen(function*() {
        if (!(yield* showsGenericPlans)) return context.skip()
        const conditions = indexConditions(yield* planOf(statements[name]), schema, "deliveries")
        assert.isNotEmpty(conditions)
        for (const condition of conditions) assert.match(condition, /\b(destination_id|delivery_id) =/)
      }))
  }
  it.effect("find each outcome of a settlement without comparing all pairs", (context) =>
    Effect.gen(function*() {
      if (!(yield* showsGenericPlans)) return context.skip()
      assert.deepStrictEqual(updatesFrom(yield* planOf(statements["settle"]), schema, "deliveries"), ["Index Scan"])
    }))
})

const young = freshSchema()

/** Statements that may read a whole tenant, and why. */
const readWhole: Readonly<Record<string, string>> = {
  "delivery_arrivals by delivery_arrivals_pkey": "the first thousand signals, which a claim removes",
  "tenants by tenants_pkey": "the tenant itself",
  "clients by clients_seeing_all": "the few clients that see everything",
  "freight_charge_notices by freight_charge_notices_pkey": "in a view, and only for destinations of windows, at most one an hour"
}

/** Statements that people or the sweep run rarely. They read in index order up to a limit, or tables that are analysed by then. */
const rare = new Set([
  "list deliveries, newest first", "list a client's deliveries", "list dead letters", "health of a tenant", "newest deliveries", "prune charge windows", "prune charge notices", "invoices of a shipment"
])

layer(testStorage(young), { excludeTestServices: true })("plans cached while the tables are small, and used while they grow", (it) => {
  for (const [name, statement] of Object.entries(statementsIn(`"${young}"`)).filter(([name]) => !rare.has(name))) {
    it.effect(`read no tenant's rows by a full scan: ${name}`, (context) =>
      Effect.gen(function*() {
        const sql = yield* PgClient.PgClient
        if (!(yield* showsGenericPlans)) return context.skip()
        // queue tables are empty when they are analysed; other tables have not been analysed yet
        yield* sql.unsafe(`ANALYZE "${young}".delivery_entries, "${young}".deliveries, "${young}".delivery_arrivals`)
        const whole = wholeTenants(yield* planOf(statement), young).filter((each) => readWhole[each] === undefined)
        assert.deepEqual(whole, [])
      }))
  }
})

const drained = freshSchema()

/** Rows of a backlog. After they are deleted, the pages of their indexes remain. */
const backlog = {
  delivery_entries: "(tenant_id, destination_id, key, sequence, ref, size) SELECT 't', gen_random_uuid(), n::text, n, n, 1 FROM generate_series(1, 20000) AS n",
  delivery_arrivals: "(tenant_id, destination_id) SELECT 't', gen_random_uuid() FROM generate_series(1, 20000)"
}

layer(testStorage(drained), { excludeTestServices: true })("plans cached while the queue is empty, and used for the next backlog", (it) => {
  for (const name of ["claim", "due deliveries", "freeze", "settle", "append", "history"] as const) {
    it.effect(`find waiting entries by destination, never among all of a tenant: ${name}`, (context) =>
      Effect.gen(function*() {
        const sql = yield* PgClient.PgClient
        if (!(yield* showsGenericPlans)) return context.skip()
        for (const [table, rows] of Object.entries(backlog)) {
          yield* sql.unsafe(`INSERT INTO "${drained}".${table} ${rows}`).unprepared
          yield* sql.unsafe(`DELETE FROM "${drained}".${table}`).unprepared
          yield* sql.unsafe(`VACUUM (ANALYZE) "${drained}".${table}`).unprepared
        }
        const whole = wholeTenants(yield* planOf(statementsIn(`"${drained}"`)[name]), drained).filter((each) => readWhole[each] === undefined)
        assert.deepEqual(whole, [])
      }))
  }
})
