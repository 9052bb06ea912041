/** Plans of frequent statements, on the default settings of the planner, in the states that queue tables get into. */
import { layer } from "@effect/vitest"
import { Deferred, Effect, type Scope } from "effect"
import { assert } from "vitest"
import { type DeliveryQuery, pauseByOperator, pauseForPurge } from "@waybill/core/delivery"
import type { PageRequest } from "@waybill/core/transit-events"
import * as clients from "../src/access/ClientSql.ts"
import * as keys from "../src/access/KeySql.ts"
import { pageEntries } from "../src/audit/AuditStorePostgres.ts"
import * as backlogs from "../src/delivery/operator/BacklogSql.ts"
import * as control from "../src/delivery/operator/DeliveryControlSql.ts"
import * as lists from "../src/delivery/operator/DeliveryListSql.ts"
import * as log from "../src/delivery/operator/DeliveryLogSql.ts"
import * as retries from "../src/delivery/operator/DeliveryRetrySql.ts"
import * as destinations from "../src/delivery/DestinationSql.ts"
import * as drops from "../src/delivery/DropRecordsSql.ts"
import * as unsendable from "../src/delivery/worker/DropSql.ts"
import * as flights from "../src/delivery/worker/FlightSql.ts"
import { lockFreeDestinations } from "../src/delivery/worker/FreeDestinationSql.ts"
import * as frozen from "../src/delivery/worker/FreezeSql.ts"
import { load } from "../src/delivery/worker/LoadSql.ts"
import * as ownership from "../src/delivery/worker/OwnershipSql.ts"
import * as secrets from "../src/delivery/secrets/SecretSql.ts"
import { settle } from "../src/delivery/worker/SettleSql.ts"
import * as statistics from "../src/delivery/statistics/StatisticsSql.ts"
import { findForTake } from "../src/delivery/worker/TakeSql.ts"
import { PgArray } from "../src/client/PgBulk.ts"
import { PgClient, Sql } from "../src/index.ts"
import * as chargeSubscriptions from "../src/freight-charges/ChargeSubscriptionSql.ts"
import * as chargeWindows from "../src/freight-charges/ChargeWindowSql.ts"
import * as charges from "../src/freight-charges/FreightBillSql.ts"
import * as payloads from "../src/freight-charges/FreightChargePayloads.ts"
import * as documentStatements from "../src/invoices/DocumentSql.ts"
import * as invoices from "../src/invoices/InvoiceSql.ts"
import * as pickups from "../src/pickups/PickupSql.ts"
import * as invoiceAccounts from "../src/shared/InvoiceAccountsSql.ts"
import * as shipments from "../src/shared/ShipmentSql.ts"
import { accountKnownTo } from "../src/shipment-status/CarrierShipmentSql.ts"
import * as statuses from "../src/shipment-status/ShipmentStatusSql.ts"
import * as statusSubscriptions from "../src/shipment-status/StatusSubscriptionSql.ts"
import * as eventPages from "../src/transit-events/TransitEventPageSql.ts"
import * as events from "../src/transit-events/TransitEventSql.ts"
import { isBetweenNumbers, pruneSubscriptions, replayEntries, replayStepEnd } from "../src/subscriptions/SubscriptionSql.ts"
import * as subscriptions from "../src/transit-events/TransitSubscriptionSql.ts"
import { planOf, planWith, seqScans, wholeTenants } from "./PlanScans.ts"
import { freshSchema, testStorage } from "./TestStorage.ts"
import { withSql } from "./client/database.ts"

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
  carriers: Sql.textArray([]), written: Sql.boolArray([]), writer: Sql.textArray(undefined), anyCarrier: Sql.raw("true")
}
const subscription = { id, client: "c", doc: "{}", typeMask: 1, shipmentIds: [], matched: true, createdAt: 0, updatedAt: 0 }
const pickup = {
  pickupId: id, number: "1", isTest: false, client: "c", accounts: [], carrier: undefined, status: "Accepted", waits: false, doc: "{}", createdAt: 0, pros: []
}
const pickupChange = { body: new Uint8Array(), traceparent: undefined }
const pickupEntry = { pickupId: id, position: 1, at: 0, doc: "{}" }
const invoice = { uniqueId: "U", carrier, shipmentId: "S", invoiceNumber: "N", accounts: [], body: new Uint8Array() }
const anyInvoice = { uniqueId: undefined, shipmentId: undefined, invoiceNumber: undefined, dot: undefined, mc: undefined }
const anyDocuments = { invoiceNumber: undefined, dot: undefined, mc: undefined, documentTypes: undefined }
const documents = { invoiceNumber: "N", carrier, shipmentId: "S", accounts: [], doc: "{}", files: [] }

const eventsOf = (grants: ReadonlyArray<string>, filter: object): PageRequest => ({
  tenantId: "t", visibility: { _tag: "Granted", grants }, filter: { shipmentId: undefined, eventTypes: undefined, occurredFrom: undefined, occurredTo: undefined, order: "asc", ...filter },
  snapshot: undefined, after: undefined, skip: 0, limit: 1, count: false
})

/** The values are any that a caller may have. */
const statementsIn = (quoted: string) => {
  const schema = Sql.raw(quoted)
  const own = Sql.tenant("t")
  const none = Sql.textArray([])
  const replayed = subscriptions.replayedEvents(schema, "t", { from: 0, to: 1, shipmentIds: undefined })
  const replayedShipments = subscriptions.replayedEvents(schema, "t", { from: 0, to: 1, shipmentIds: ["S"] })
  const statements = {
    ...ofOwners(schema),
    ...ofDeliveries(schema),
    "find keys": keys.findKeys(schema, "t", [id]),
    "note uses of keys": keys.touchKeys(schema, "t", [{ id, client: "c", at: 0 }]),
    "note uses of clients": keys.touchClients(schema, "t", [{ id, client: "c", at: 0 }]),
    "keys of a client": keys.keysOf(schema, "t", "c"),
    "whether a client has access": clients.clientIsLive(schema, "t", "c"),
    "rows of a client": clients.clientRows(schema, "t", "c"),
    "take accounts from a client": clients.takeAccounts(schema, "t", { client: "c", origin: "key", accounts: ["A"], seesAll: false }),
    "account known to a carrier": accountKnownTo(schema, "t", "A", [" dot 1"]),
    "picked up by a carrier": statuses.findPickedUp(schema, "t", { account: "A", from: 0, to: 1, limit: 1, bytes: 1, carrier: [" dot 1"] }),
    "invoices of a carrier": invoices.listInvoices(schema, "t", { _tag: "Carrier", dot: "1", mc: "2" }, anyInvoice, { after: undefined, limit: 1 }),
    "documents of a carrier": documentStatements.selectRecords(schema, "t", { _tag: "Carrier", dot: "1", mc: "2" }, anyDocuments, { after: undefined, limit: 1, newestFirst: false }),
    "audit entries of an actor": pageEntries(schema, { actor: "a", tenantId: undefined, from: undefined, before: undefined, limit: 1 }),
    "audit entries of a tenant": pageEntries(schema, { actor: "a", tenantId: "t", from: undefined, before: undefined, limit: 1 }),
    "find events": events.findEvents(schema, own, { eventIds: none, shipmentIds: none }),
    "events with an id": events.eventsWithId(schema, "t", "E", 1),
    "last events of a shipment": events.recentEvents(schema, "t", "S", { events: 1, bytes: 1 }),
    "lock shipments and take numbers": shipments.lockShipments(schema, claims),
    "append": events.append(schema, events.appendedEvents("t", [], undefined)),
    "replace accounts": shipments.replaceAccounts(schema, own, none),
    "replace accounts of invoices": invoiceAccounts.replaceAccountsOf(schema, own, invoiceAccounts.invoices, { shipmentIds: Sql.textArray(["S"]) }),
    "replace accounts of documents": invoiceAccounts.replaceAccountsOf(schema, own, invoiceAccounts.documents, { shipmentIds: Sql.textArray(["S"]) }),
    "lock shipments of invoices": invoiceAccounts.lockInvoiced(schema, own, none),
    "lock shipments": subscriptions.lockShipments(schema, "t", []),
    "page of transit subscriptions": subscriptions.pageSubscriptions(schema, "t", "c", "active", { skip: 0, limit: 1 }),
    "number of transit subscriptions": subscriptions.countSubscriptions(schema, "t", "c", "active"),
    "whether a client sees a shipment": subscriptions.seesShipment(schema, "t", "c", "S"),
    "page of events of a carrier": eventPages.page(schema, eventsOf([" dot 1"], {})),
    "page of events of a time": eventPages.page(schema, eventsOf([" dot 1"], { occurredFrom: 0, occurredTo: 1 })),
    "count events of a time": eventPages.count(schema, eventsOf(["A", "B", "C", "D", "E"], { occurredFrom: 0 }), undefined),
    "replay events": replayEntries(schema, subscriptions.transitSubscriptions(schema), "t", id, replayed.entries(isBetweenNumbers(replayed.number, 1, 2))),
    "end of a replay's step": replayStepEnd(replayed, 1, 2),
    "replay shipments": replayEntries(schema, subscriptions.transitSubscriptions(schema), "t", id, replayedShipments.entries(isBetweenNumbers(replayed.number, 1, 2))),
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
    "history of a shipment": statuses.readHistory(schema, "t", "S", { entries: 1, bytes: 1 }),
    "picked up": statuses.findPickedUp(schema, "t", { account: "A", from: 0, to: 1, limit: 1, bytes: 1 }),
    "account known": statuses.accountKnown(schema, "t", "A"),
    "lock old shipments": statuses.lockOldShipments(schema, "t", 0),
    "prune shipments": statuses.pruneShipments(schema, "t", 0, []),
    "lock bills": charges.lockBills(schema, "t", []),
    "viewers of charges": charges.viewers(schema, "t", []),
    "put bills": charges.putBills(schema, "t", []),
    "store charge notices": charges.storeNotices(schema, "t", { notices: [], notifications: [], traceparent: undefined }),
    "bills of a PRO": charges.billsBeginning(schema, "t", [], 1),
    "open bills": charges.openBills(schema, "t", [], { limit: 1 }),
    "open bills that a list does not have": charges.openBills(schema, "t", [], { limit: 1, unlistedBy: id }),
    "remove changed bills from a list": chargeSubscriptions.removeChanged(schema, "t", id),
    "remove cursors of a query": eventPages.deleteCursors(schema, "t", "q"),
    "prune cursors": eventPages.pruneCursors(schema, "t"),
    "in flight": chargeSubscriptions.inFlight(schema, "t", "c", id, { limit: 1, bytes: 1 }),
    "windows that hold a bill": chargeWindows.windowsWith(schema, "t", id, []),
    "windows due": chargeWindows.windowsDue(schema, { after: "t", limit: 1 }),
    "next closing": chargeWindows.nextClosing(schema),
    "due windows": chargeWindows.dueWindows(schema, "t"),
    "lock due windows": chargeWindows.lockDueWindows(schema, "t"),
    "lock a due window": chargeWindows.lockDueWindow(schema, "t", id),
    "close windows": chargeWindows.closeWindows(schema, "t", []),
    "subscriptions to a reference": statusSubscriptions.mostOfReference(schema, "t", "c", ["r"], 1),
    "insert charge subscription": chargeSubscriptions.insertSubscription(schema, "t", { id, client: "c", doc: "{}", webhookUrl: "", accounts: [], createdAt: 0 }),
    "cancel charge subscription": chargeSubscriptions.cancelSubscription(schema, "t", "c", id),
    "prune charge subscriptions": charges.pruneSubscriptions(schema, "t", 0),
    "prune transit subscriptions": pruneSubscriptions(Sql.raw(`${quoted}.transit_subscriptions`), "t", 0),
    "prune pickup subscriptions": pruneSubscriptions(Sql.raw(`${quoted}.pickup_subscriptions`), "t", 0),
    "insert pickup": pickups.insertPickup(schema, "t", pickup, pickupEntry, pickupChange),
    "update pickup": pickups.updatePickup(schema, "t", pickup, pickupEntry, pickupChange),
    "pickup by number": pickups.pickupOfNumber(schema, "t", "all", { number: "1", isTest: false }, false),
    "pickups by PRO": pickups.pickupsOfPros(schema, "t", [], 1),
    "waiting pickups": pickups.listedPickups(schema, "t", { waiting: true, after: id, limit: 1 }),
    "all pickups": pickups.listedPickups(schema, "t", { waiting: false, after: id, limit: 1 }),
    "changes of pickups": pickups.changes(schema, "t", { viewer: { carrier: [" dot 1"] }, after: 0, since: 0, status: "Accepted", limit: 1, bytes: 1 }),
    "history of pickups": pickups.historiesOf(schema, "t", [], 1),
    "history of an invoice": invoices.historyOfInvoice(schema, "t", { dot: "1", mc: "" }, "I", 1),
    "invoices of a shipment": invoices.historyOfShipment(schema, "t", "S", { entries: 1, bytes: 1 }),
    "list the invoices of accounts": invoices.listInvoices(schema, "t", { _tag: "Accounts", accounts: ["A"] }, anyInvoice, { after: undefined, limit: 1 }),
    "list the invoices of a shipment": invoices.listInvoices(schema, "t", { _tag: "Accounts", accounts: ["A"] }, { ...anyInvoice, shipmentId: "S" }, { after: undefined, limit: 1 }),
    "put invoice": invoices.putInvoice(schema, "t", invoice),
    "replace accounts of an invoice": invoiceAccounts.replaceAccountsOf(schema, own, invoiceAccounts.invoices, invoices.keyOf(carrier, "U")),
    "shipment of an invoice": invoiceAccounts.shipmentOf(schema, own, invoiceAccounts.invoices, invoices.keyOf(carrier, "U")),
    "move invoice history": invoices.moveHistory(schema, "t", "U", carrier, { dot: "9", mc: "9" }),
    "remove invoice": invoices.removeInvoice(schema, "t", carrier, "U"),
    "list the documents of accounts": documentStatements.selectRecords(schema, "t", { _tag: "Accounts", accounts: ["A"] }, anyDocuments, { after: undefined, limit: 1, newestFirst: false }),
    "documents of a number": documentStatements.selectRecords(schema, "t", { _tag: "Accounts", accounts: ["A"] }, { ...anyDocuments, invoiceNumber: "N" }, { after: undefined, limit: 1, newestFirst: true }),
    "replace accounts of a record": invoiceAccounts.replaceAccountsOf(schema, own, invoiceAccounts.documents, invoices.keyOf(carrier, "N")),
    "shipment of a record": invoiceAccounts.shipmentOf(schema, own, invoiceAccounts.documents, invoices.keyOf(carrier, "N")),
    "add documents": documentStatements.addDocuments(schema, "t", documents),
    "move a document": documentStatements.moveContent(schema, "t", { carrier, invoiceNumber: "N" }, { from: id, to: id }),
    "remember contents": documentStatements.discardContent(schema, "t", id),
    "claim remembered contents": documentStatements.claimDiscarded(schema, "t", 0, 1),
    "forget contents": documentStatements.forgetDiscarded(schema, "t", [id]),
    "count remembered contents": documentStatements.countDiscarded(schema, "t"),
    "remove documents": documentStatements.removeDocuments(schema, "t", carrier, "N", ["F"])
  }
  return Object.entries<Sql.Statement>(statements)
}

const atStart = { key: "", sequence: 0, ref: 0 }
const endpoint = { host: "h", url: undefined }
const anyDelivery = { state: undefined, destinationId: undefined, since: undefined, order: "newest", after: undefined, limit: 1 } as const

const owned = [{ tenantId: "t", partition: 0, epoch: 1 }]
const taken = { destinationId: id, after: undefined, batches: 1, bytes: 1, inFlight: [], again: [] }
const taking = { tenantId: "t", owned, flight: id, sentAt: 0, from: [taken], sources: sources.map(({ source }) => source), signals: 1, skip: [], unrequested: 0, unrequestedBytes: 1, maxBatchBytes: 1, lookAt: 1 }
const signal = { no: 1, location: "(0,1)" }
const entry = { destinationId: id, ref: 1, location: "(0,1)", traceparent: null, ordinal: 0 }
const outcome = { destinationId: id, deliveryId: id, flight: id, attempt: 1, state: "waiting", dueInMillis: 0, notCounted: false, record: undefined } as const
const change = { destinationId: id, endpointUrl: "u", breaker: { failures: 0, openUntil: undefined }, pause: undefined, always: false, cause: id }
const settling = { tenantId: "t", owned, outcomes: [outcome], ended: [{ partition: 0, flight: id }], destinations: [] }
const interrupted = { partitions: [0], flight: undefined }
const worker = { workerId: "w", leaseMillis: 1 }

const ofOwners = (schema: Sql.Statement) => ({
  "take": findForTake(schema, sources, taking),
  "take beside what is in flight": findForTake(schema, sources, { ...taking, from: [{ ...taken, inFlight: [id] }] }),
  "take of one area": findForTake(schema, sources, { ...taking, sources: ["transit-events"] }),
  "take of what signals name": findForTake(schema, sources, { ...taking, from: [], unrequested: 1 }),
  "take signals": findForTake(schema, sources, { ...taking, from: [], sources: [] }),
  "take from many destinations": findForTake(schema, sources, { ...taking, from: Array.from({ length: 256 }, () => taken) }),
  "take what is sent again": findForTake(schema, sources, { ...taking, from: [{ ...taken, inFlight: [id], again: [id] }] }),
  "take what was signalled": frozen.freeze(schema, taking, { signals: [signal], entries: [], again: [] }),
  "take entries": frozen.freeze(schema, taking, { signals: [signal], entries: [entry], again: [] }),
  "take many entries": frozen.freeze(schema, taking, { signals: [], entries: Array.from({ length: 1000 }, () => entry), again: [] }),
  "take and send again": frozen.freeze(schema, taking, { signals: [], entries: [entry], again: [id] }),
  "take bytes that are sent again": frozen.sentAgain(schema, sources, "t", [id]),
  "take what was not removed meanwhile": frozen.flownOf(schema, taking),
  "settle first attempts": settle(schema, settling, false),
  "settle first attempts a second time": settle(schema, settling, true),
  "settle further attempts": settle(schema, { ...settling, outcomes: [{ ...outcome, attempt: 2 }], destinations: [change] }, false),
  "take leases": ownership.takeLeases(schema, "t", worker, [0]),
  "renew leases that ran out": ownership.changeLeases(schema, "t", [0], ownership.renewExpired(worker)),
  "shorten leases": ownership.changeLeases(schema, "t", [0], ownership.shortenAhead),
  "raise epochs": ownership.raiseEpochs(schema, "t", [0]),
  "replace epochs": ownership.replaceEpochs(schema, "t", owned),
  "find the work of a partition": ownership.findWork(schema, "t", [0]),
  "keep rates": ownership.keepRates(schema, "t", [{ ...owned[0]!, idle: true, othersUntil: 1 }], [{ destinationId: id, mark: 0 }]),
  "release leases": ownership.releaseLeases(schema, "t", [{ ...owned[0]!, idle: true, othersUntil: 1 }]),
  "interrupt what was in flight": flights.interrupt(schema, "t", interrupted),
  "interrupt a lost take": flights.interrupt(schema, "t", { ...interrupted, flight: id }),
  "load destinations": load(schema, "t", [id]),
  "lock destinations that are free": lockFreeDestinations(schema, "t", [id]),
  "drop what waits in a closed destination": unsendable.dropClosed(schema, "t", id),
  "find entries without access": unsendable.unseenEntries(schema, sources, "t", id, ["S"]),
  "drop entries without access": unsendable.dropUnseen(schema, "t", id, [{ key: "S", sequence: 1, ref: 1 }]),
  "withdraw deliveries": unsendable.withdraw(schema, sources, "t", [id], [id])
})

const ofLists = (schema: Sql.Statement) => {
  const list = (query: Partial<DeliveryQuery>, destinations?: ReadonlyArray<string>) => lists.listDeliveries(schema, "t", { ...anyDelivery, ...query }, destinations)
  return {
    "destinations of a client's deliveries": lists.chosenDestinations(schema, "t", { state: undefined, client: "c" }, 1),
    "destinations of an endpoint's deliveries": lists.chosenDestinations(schema, "t", { state: "waiting", endpoint }, 1),
    "destination of its deliveries": lists.chosenDestinations(schema, "t", { state: "waiting", destinationId: id }, 1),
    "list deliveries, newest first": list({}),
    "list a destination's deliveries": list({ destinationId: id }, [id]),
    "list deliveries of few destinations": list({ client: "c" }, [id]),
    "list a client's deliveries": list({ client: "c" }),
    "list dead letters": list({ order: "oldest", state: "dead" }),
    "list deliveries that wait": list({ state: "waiting" }),
    "list deliveries that wait of few destinations": list({ client: "c", state: "waiting" }, [id]),
    "list deliveries that wait of a client": list({ client: "c", state: "waiting" }),
    "list deliveries of an endpoint": list({ endpoint }),
    "list dead letters by error": list({ order: "oldest", state: "dead", error: "timeout" }),
    "list failed deliveries by error": list({ error: "timeout" }),
    "list failed deliveries by error of few destinations": list({ client: "c", error: "timeout" }, [id]),
    "count deliveries": lists.countDeliveries(schema, "t", { state: undefined }, undefined),
    "count deliveries of few destinations": lists.countDeliveries(schema, "t", { state: undefined, client: "c" }, [id]),
    "count dead letters of an endpoint": lists.countDeliveries(schema, "t", { state: "dead", endpoint }, undefined)
  }
}

const ofDeliveries = (schema: Sql.Statement) => ({
  "add counts": statistics.addCounts(schema, "t", []),
  "add samples": statistics.addSamples(schema, "t", 0, []),
  "statistics of destinations": statistics.readSteps(schema, "t", { of: { destinationIds: [] }, from: 0, to: 60_000, stepMillis: 60_000, resolution: "minutes" }),
  "statistics of a client": statistics.readSteps(schema, "t", { of: { client: "c" }, from: 0, to: 60_000, stepMillis: 60_000, resolution: "minutes" }),
  "prune statistics": statistics.prune(schema, "t", "minutes", 0),
  "count a backlog": backlogs.countBacklog(schema, "t", 1, { destinationId: id, ...atStart }),
  "drop entries beyond quotas": backlogs.dropExcess(schema, "t", id, { queuedBefore: 0, limit: 1, reason: "over_age", dropped: 0 }, atStart),
  "purge": backlogs.purgeNext(schema, "t", id, atStart),
  "keep the newest drops": drops.trimDrops(schema, "t", [id]),
  "restore access of a client": destinations.accessRestored(schema, "t", "c"),
  "close a destination": destinations.closeDestination(schema, "t", id),
  "destination overviews": log.destinationOverviews(schema, "t", { state: undefined, after: undefined, limit: 1 }),
  "destination overviews of a client in a state": log.destinationOverviews(schema, "t", { client: "c", state: "paused", after: undefined, limit: 1 }),
  "destination overviews in a state": log.destinationOverviews(schema, "t", { state: "paused", after: undefined, limit: 1 }),
  "destination overviews of a client": log.destinationOverviews(schema, "t", { client: "c", state: undefined, after: undefined, limit: 1 }),
  ...ofLists(schema),
  "count destinations": log.countDestinations(schema, "t", { state: undefined }),
  "count destinations of an endpoint": log.countDestinations(schema, "t", { state: "active", endpoint }),
  "destination overviews of some": log.destinationOverviews(schema, "t", { destinationIds: [id], state: undefined, after: undefined, limit: 1 }),
  "destination overviews in trouble": log.destinationOverviews(schema, "t", { inTrouble: true, state: undefined, after: undefined, limit: 1 }),
  "destination overviews of an endpoint": log.destinationOverviews(schema, "t", { endpoint, state: undefined, after: undefined, limit: 1 }),
  "find a delivery": log.findDelivery(schema, "t", id, sources),
  "newest deliveries": log.newestBound(schema, "t", 1),
  "deliveries that carry a shipment": log.carryingDeliveries(schema, "t", [{ sources: ["transit-events"], keys: ["S"] }], { oldest: id, limit: 1 }),
  "prune deliveries": log.pruneDeliveries(schema, "t", 0),
  "prune destinations": log.pruneDestinations(schema, "t", 0),
  "lock a delivery": retries.lockRetried(schema, "t", id, sources),
  "retry a delivery": retries.retryDelivery(schema, "t", id),
  "whether a delivery is in flight": retries.isSending(schema, "t", id),
  "recover deliveries": retries.recoverDeliveries(schema, "t", id, 0, id),
  "lock the destinations of dead letters": retries.lockDestinationsOf(schema, "t", [id]),
  "retry dead letters": retries.retryDead(schema, "t", [id]),
  "dismiss dead letters": control.dismissDeadLetters(schema, "t", [id]),
  "pause a subscription": control.pauseDestination(schema, "t", id, pauseByOperator("r")),
  "resume a subscription": control.resumeDestination(schema, "t", id, "all"),
  "begin a purge": control.pauseDestination(schema, "t", id, pauseForPurge),
  "end a purge": control.resumeDestination(schema, "t", id, "purge"),
  "trace a subject": control.traceEntries(schema, "t", id, { key: "S", orderIds: ["E"] }, sources),
  "trace its deliveries": control.tracedDeliveries(schema, "t", id, "S", [1]),
  "deliveries of the last minute": control.recentDeliveries(schema, "t", id, 0),
  "health of a tenant": control.tenantHealth(schema, "t"),
  "prune charge windows": payloads.pruneWindows(schema, "t", 0),
  "prune charge notices": payloads.pruneNotices(schema, "t", 0),
  "raise the destinations of a secret": secrets.raiseSignedDestinations(schema, "t", "s"),
  "raise the destinations of a client": secrets.raiseDestinationsOfAccounts(schema, "t", "c")
})

/** Tables that are empty whenever their entries are sent, and may be full a second later. */
const queues = ["delivery_entries", "delivery_signals", "delivery_flights", "deliveries"]

/** Statements that may read a whole tenant, and why. */
const readWhole: Readonly<Record<string, string>> = {
  "delivery_flights by delivery_flights_pkey": "the flights of a tenant: what is in flight",
  "tenants by tenants_pkey": "the tenant itself",
  "pickup_feeds by pickup_feeds_pkey": "the one row of a tenant",
  "pickup_subscriptions by pickup_subscriptions_matched": "the few subscriptions of carriers, all of which a change concerns",
  "document_discards by document_discards_pkey": "what a move of documents left behind, while it runs",
  "clients by clients_seeing_all": "the few clients that see everything",
  "freight_charge_notices by freight_charge_notices_pkey": "in a view, and only for destinations of windows, at most one an hour"
}

/** Statements that people or the sweep run rarely. They read in index order up to a limit, or tables that are analysed by then. */
const rare = new Set([
  "list deliveries, newest first", "list a client's deliveries", "list dead letters", "list deliveries of an endpoint", "list dead letters by error",
  "list failed deliveries by error", "page of transit subscriptions", "number of transit subscriptions", "destinations of a client's deliveries", "list deliveries that wait of a client", "count deliveries", "count dead letters of an endpoint", "count destinations", "health of a tenant", "newest deliveries", "prune charge windows", "prune charge notices", "invoices of a shipment", "list the invoices of a shipment",
  "raise the destinations of a secret",
  "raise the destinations of a client", "trace its deliveries", "windows that hold a bill"
])

/** Statements that read all of a small table while it is small: once a minute in a process. */
const readsSmall = new Set(["windows due"])

const isEmpty = (value: unknown) => value instanceof PgArray && value.elements.length === 0

/** The generic plan, and the plan for some values. An empty list would make any plan look cheap. */
const plansOf = (statement: Sql.Statement) =>
  Effect.all(statement.values.some(isEmpty) ? [planOf(statement.text)] : [planOf(statement.text), planWith(statement)])

/** The faults in the plans of all statements, one line each. */
const judge = (schema: string, wrong: (name: string, plan: Effect.Success<ReturnType<typeof planOf>>) => ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const sql = yield* PgClient.PgClient
    const [server] = yield* sql<{ readonly isOlder: boolean }>`SELECT current_setting('server_version_num')::int < 170000 AS "isOlder"`
    const found = yield* Effect.forEach(statementsIn(`"${schema}"`), ([name, statement]) =>
      Effect.map(plansOf(statement), (plans) =>
        plans.flatMap((plan, n) =>
          wrong(name, plan)
            .filter((each) => !namesByList(name, server!.isOlder, each))
            .map((each) => `${name}, ${n === 0 ? "prepared" : "not prepared"}: ${each}`)
        )))
    return found.flat()
  })

/**
 * Before version 17 the planner rates a list of ids as a search for each of ten, and a scan of the tenant as cheaper while it believes that the table is
 * small. Takes do not look for rows by lists.
 */
const namesByList = (name: string, isOlder: boolean, place: string) =>
  isOlder && (!name.startsWith("take") || name === "take and send again") && name !== "settle first attempts" && /in (api_keys|deliveries|delivery_destinations|transit_cursors|freight_charge_in_flight) by/.test(place)

const wholeReads = (schema: string) => (name: string, plan: Effect.Success<ReturnType<typeof planOf>>) => [
  ...readsSmall.has(name) ? [] : seqScans(plan).map((each) => `full scan of ${each}`),
  ...rare.has(name) ? [] : wholeTenants(plan, schema).filter((each) => readWhole[each] === undefined).map((each) => `all rows of a tenant in ${each}`)
]

const queueScans = (schema: string) => (name: string, plan: Effect.Success<ReturnType<typeof planOf>>) =>
  wholeReads(schema)(name, plan).filter((each) => queues.some((queue) => each.includes(` ${queue} `)))

/** Rows of a backlog. Flights are few, however long it is. */
const backlog: Readonly<Record<string, string>> = {
  delivery_entries: "(tenant_id, destination_id, key, sequence, ref, size) SELECT %, gen_random_uuid(), n::text, n, n, 1",
  delivery_signals: "(tenant_id, partition, destination_id) SELECT %, n % 8, gen_random_uuid()",
  delivery_flights: "(tenant_id, partition, flight, sent_at, entries, deliveries) SELECT %, n % 8, gen_random_uuid(), now(), 0, '{}'",
  deliveries: "(tenant_id, delivery_id, destination_id, state, attempt, tries, refs, keys, sent_at, due_at) SELECT %, gen_random_uuid(), gen_random_uuid(), CASE n % 3 WHEN 0 THEN 'waiting' ELSE 'delivered' END, 1, 1, '{}', '{}', now(), now()"
}

/** `tenantId` is SQL. */
const fill = Effect.fnUntraced(function*(schema: string, tenantId: string, count: number) {
  const sql = yield* PgClient.PgClient
  for (const [table, rows] of Object.entries(backlog)) {
    const most = table === "delivery_flights" ? count / 100 : count
    yield* sql.unsafe(`INSERT INTO "${schema}".${table} ${rows.replace("%", tenantId)} FROM generate_series(1, ${most}) AS n`).unprepared
  }
})

const analyse = (schema: string, tables: ReadonlyArray<string>) =>
  Effect.flatMap(PgClient.PgClient, (sql) => Effect.forEach(tables, (table) => sql.unsafe(`VACUUM (ANALYZE) "${schema}".${table}`).unprepared))

const empty = Effect.fnUntraced(function*(schema: string) {
  const sql = yield* PgClient.PgClient
  for (const table of queues) yield* sql.unsafe(`DELETE FROM "${schema}".${table}`).unprepared
})

/** On a slow machine autovacuum would analyse what is only analysed by `prepare`. */
const keepStatistics = (schema: string) =>
  Effect.flatMap(PgClient.PgClient, (sql) => Effect.forEach(queues, (table) => sql.unsafe(`ALTER TABLE "${schema}".${table} SET (autovacuum_enabled = off)`).unprepared))

/** The schema has no settings of the planner, and its sessions have none. */
const plans = (title: string, prepare: (schema: string) => Effect.Effect<unknown, unknown, PgClient.PgClientService | Scope.Scope>, wrong = wholeReads) => {
  const schema = freshSchema()
  layer(testStorage(schema), { excludeTestServices: true })(`plans ${title}`, (it) => {
    it.effect("read no table and no tenant by a full scan", Effect.fnUntraced(function*() {
      yield* keepStatistics(schema)
      yield* prepare(schema)
      const found = yield* judge(schema, wrong(schema))
      assert.deepEqual(found, [], found.join("\n"))
    }, Effect.scoped), 120_000)
  })
}

plans("of tables that were never analysed", () => Effect.void)

plans("of empty queues that were analysed", (schema) => analyse(schema, queues))

plans("of queues that were analysed while they were empty, and are full", (schema) => Effect.andThen(analyse(schema, queues), fill(schema, "'t'", 20_000)))

plans("of queues that other tenants fill", (schema) => Effect.andThen(fill(schema, "'other ' || n % 50", 100_000), analyse(schema, queues)))

/**
 * VACUUM then counts dead rows in partial indexes, but none in the table, so that the planner rates its other indexes as cheaper. The first two visit every
 * destination, once for each owner; the third is for the hourly sweep, the others are pages for people.
 */
const misledByDeadRows = new Set([
  "find the work of a partition", "release leases", "prune destinations",
  "list deliveries that wait", "list a destination's deliveries", "list deliveries of few destinations", "count deliveries of few destinations"
])

/** As long as a transaction is open that began before the rows were removed, VACUUM keeps them. */
const whileOpen = <R>(effect: Effect.Effect<unknown, unknown, R>) =>
  Effect.gen(function*() {
    const sql = yield* PgClient.PgClient
    const began = yield* Deferred.make<void>()
    yield* Effect.forkScoped(sql.withTransaction(Effect.andThen(sql`SELECT pg_current_xact_id()`, Effect.andThen(Deferred.succeed(began, undefined), Effect.never))))
    yield* Deferred.await(began)
    yield* effect
  })

/** Other tests may have such a transaction too, so there is no state without one. */
plans(
  "of queues that were full and are empty, and whose dead rows VACUUM keeps",
  (schema) => whileOpen(fill(schema, "'t'", 20_000).pipe(Effect.andThen(analyse(schema, queues)), Effect.andThen(empty(schema)), Effect.andThen(analyse(schema, queues)))),
  (schema) => (name, plan) => misledByDeadRows.has(name) ? [] : wholeReads(schema)(name, plan)
)

plans("of an installation that was analysed while all of it was empty", (schema) =>
  Effect.gen(function*() {
    const sql = yield* PgClient.PgClient
    const tables = yield* sql<{ name: string }>`SELECT tablename AS name FROM pg_tables WHERE schemaname = ${schema}`
    yield* analyse(schema, tables.map(({ name }) => name))
  }), queueScans)

const prepared = freshSchema()

layer(testStorage(prepared), { excludeTestServices: true })("prepared statements", (it) => {
  it.effect("keep one plan however short their arrays are: take, settle, load", withSql(function*(sql) {
    const schema = Sql.raw(`"${prepared}"`)
    const repeated = [findForTake(schema, sources, taking), frozen.freeze(schema, taking, { signals: [signal], entries: [entry], again: [] }), settle(schema, settling, false), load(schema, "t", [id])]
    yield* sql.withTransaction(Effect.gen(function*() {
      for (const { text, values } of repeated) {
        for (let n = 0; n < 10; n++) yield* sql.unsafe(text, values)
        const [plans] = yield* sql<{ custom: number; generic: number }>`
          SELECT custom_plans::int AS custom, generic_plans::int AS generic FROM pg_prepared_statements WHERE statement = ${text}`
        assert.isAbove(plans!.generic, 0, text)
        assert.isAtMost(plans!.custom, 5, text)
      }
    }))
  }))
})
