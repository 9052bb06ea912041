/** Which plans the hot statements get on empty, analysed tables: the moment that queue tables live in most of the time. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { assert } from "vitest"
import * as log from "../src/delivery/DeliveryLogSql.ts"
import * as queue from "../src/delivery/DeliveryQueueSql.ts"
import { PgClient } from "../src/index.ts"
import * as charges from "../src/freight-charges/FreightBillSql.ts"
import * as invoices from "../src/invoices/InvoiceSql.ts"
import * as pickups from "../src/pickups/PickupSql.ts"
import * as shipments from "../src/shared/ShipmentSql.ts"
import * as statuses from "../src/shipment-status/ShipmentStatusSql.ts"
import * as events from "../src/transit-events/TransitEventSql.ts"
import * as subscriptions from "../src/transit-events/TransitSubscriptionSql.ts"
import { indexConditions, planOf, showsGenericPlans, updatesFrom } from "./PlanScans.ts"
import { freshSchema, testStorage } from "./TestStorage.ts"

const schema = freshSchema()
const quoted = `"${schema}"`
const sources = [
  events.transitEventPayloads,
  statuses.shipmentStatusPayloads,
  charges.freightChargePayloads,
  charges.freightChargeWindowPayloads
]

const statements = {
  "claim": queue.claim(quoted, sources),
  "due deliveries": queue.dueDeliveries(quoted, sources),
  "freeze": queue.freeze(quoted),
  "settle": queue.settle(quoted),
  "next due": queue.nextDue(quoted),
  "lane overviews": log.laneOverviews(quoted),
  "list deliveries, newest first": log.listDeliveries(quoted, { direction: "DESC", isOfLane: false, state: undefined, where: "" }),
  "list a lane's deliveries": log.listDeliveries(quoted, { direction: "DESC", isOfLane: true, state: undefined, where: " AND d.lane_id = $3::uuid" }),
  "list dead letters": log.listDeliveries(quoted, { direction: "ASC", isOfLane: false, state: "dead", where: "" }),
  "newest deliveries": log.newestBound(quoted),
  "deliveries that carry a shipment": log.carryingDeliveries(quoted),
  "find events": events.findEvents(quoted),
  "last events of a shipment": events.recentEvents(quoted),
  "lock shipments and take numbers": shipments.lockShipments(quoted),
  "append": events.append(quoted),
  "replace accounts": shipments.replaceAccounts(quoted),
  "lock shipments": subscriptions.lockShipments(quoted),
  "history": subscriptions.queueHistory(quoted),
  "read statuses": statuses.readStatuses(quoted),
  "put statuses": statuses.putStatuses(quoted),
  "place shipments": statuses.placeShipments(quoted),
  "replace keys": statuses.replaceKeys(quoted),
  "replace references": statuses.replaceReferences(quoted),
  "add notices": statuses.addNotices(quoted),
  "resolve keys": statuses.resolveKeys(quoted),
  "look up": statuses.findStatuses(quoted),
  "search statuses": statuses.searchStatuses(quoted),
  "history of a shipment": statuses.readHistory(quoted),
  "picked up": statuses.findPickedUp(quoted),
  "account known": statuses.accountKnown(quoted),
  "lock bills": charges.lockBills(quoted),
  "viewers of charges": charges.viewers(quoted),
  "put bills": charges.putBills(quoted),
  "tell": charges.tell(quoted),
  "bills of a PRO": charges.billsBeginning(quoted),
  "open bills": charges.openBills(quoted),
  "in flight": charges.inFlight(quoted),
  "windows due": charges.windowsDue(quoted),
  "next closing": charges.nextClosing(quoted),
  "due windows": charges.dueWindows(quoted),
  "lock due windows": charges.lockDueWindows(quoted),
  "close windows": charges.closeWindows(quoted),
  "insert charge subscription": charges.insertSubscription(quoted),
  "cancel charge subscription": charges.cancelSubscription(quoted),
  "prune charge lists": charges.pruneLists(quoted),
  "prune charge windows": charges.pruneWindows(quoted),
  "prune charge notices": charges.pruneNotices(quoted),
  "insert pickup": pickups.insertPickup(quoted),
  "update pickup": pickups.updatePickup(quoted),
  "pickup by number": `${pickups.selectPickups(quoted)} AND p.number = $2 AND p.is_test = $3`,
  "pickups by PRO": pickups.pickupsOfPros(quoted),
  "what became of pickups": pickups.historiesOf(quoted),
  "invoices of a shipment": invoices.historyOfShipment(quoted),
  "put invoice": invoices.putInvoice(quoted),
  "remove invoice": invoices.removeInvoice(quoted),
  "add documents": invoices.addDocuments(quoted),
  "remove documents": invoices.removeDocuments(quoted)
}

layer(testStorage(schema), { excludeTestServices: true })("plans that are kept", (it) => {
  for (const [name, statement] of Object.entries(statements)) {
    it.effect(`read no table from end to end: ${name}`, (context) =>
      Effect.gen(function*() {
        const sql = yield* PgClient.PgClient
        if (!(yield* showsGenericPlans)) return context.skip()
        yield* sql.unsafe(`ANALYZE ${quoted}.delivery_entries, ${quoted}.deliveries, ${quoted}.delivery_arrivals, ${quoted}.transit_events, ${quoted}.shipment_statuses, ${quoted}.freight_bills`)
        const rows = yield* sql.unsafe<{ readonly "QUERY PLAN": string }>(`EXPLAIN (GENERIC_PLAN) ${statement}`).unprepared
        const plan = rows.map((row) => row["QUERY PLAN"]).join("\n")
        assert.notMatch(plan, /Seq Scan/, plan)
      }))
  }
  // planned while there are few, and run when there are a hundred thousand: one scan of a tenant's a lane would be without end
  for (const name of ["due deliveries", "freeze", "settle"] as const) {
    it.effect(`look for deliveries by lane or id, never among all of a tenant: ${name}`, (context) =>
      Effect.gen(function*() {
        if (!(yield* showsGenericPlans)) return context.skip()
        const conditions = indexConditions(yield* planOf(statements[name]), schema, "deliveries")
        assert.isNotEmpty(conditions)
        for (const condition of conditions) assert.match(condition, /\b(lane_id|delivery_id) =/)
      }))
  }
  it.effect("find each outcome of a settlement without comparing all with all", (context) =>
    Effect.gen(function*() {
      if (!(yield* showsGenericPlans)) return context.skip()
      assert.deepStrictEqual(updatesFrom(yield* planOf(statements["settle"]), schema, "deliveries"), ["Index Scan"])
    }))
})
