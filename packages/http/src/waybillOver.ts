/** The service as promises and handlers, over layers of the caller's own. */
import {
  ApiKeys,
  AuditLog,
  Clients,
  DeferredStatuses,
  Deliveries,
  DeliveryWorker,
  mapPaced,
  ShipmentJourneys,
  SigningSecrets,
  Statistics,
  type StorageAdapter,
  Subscriptions,
  TenantHealths,
  TenantRemoval,
  TenantLimits,
  Tenants,
  Wakeups
} from "@waybill/core"
import { ChargeWindows } from "@waybill/core/freight-charges"
import { TransitEvents } from "@waybill/core/transit-events"
import { Effect, Redacted } from "effect"
import type { HostPrincipal } from "./access/AuthenticatorHost.ts"
import { withAudit } from "./facade/AuditedMethods.ts"
import { withBounds } from "./facade/Bounds.ts"
import { documentReadsOf, invoiceReadsOf } from "./facade/InvoiceCalls.ts"
import { allPickupsOf } from "./facade/AllPickups.ts"
import { allSubscriptionsOf } from "./facade/AllSubscriptions.ts"
import { lookupsOf, methodsOf, ofTenant, webhookTestOf } from "./facade/Methods.ts"
import { pickupReadsOf } from "./facade/PickupCalls.ts"
import { plain } from "./facade/Plain.ts"
import { portalMethodsOf } from "./facade/PortalMethods.ts"
import { type Run, servedPrincipal } from "./facade/Run.ts"
import { Service, type ServiceOptions } from "./facade/Service.ts"
import type { Waybill } from "./facade/Waybill.ts"
import { unconfirmed } from "./operator/OperatorHandlers.ts"

export interface WaybillOverOptions<Tx = never> extends ServiceOptions {
  /** Makes an effect join a transaction of the host, for `within`: `joined` of the storage adapter in `layer`. Without it, `within` throws. */
  readonly joined?: StorageAdapter<Tx>["joined"]
}

/**
 * The object that `createWaybill` returns, over layers of your own: for a program with Effect whose other parts have no Effect, and
 * for tests. A pickup desk comes from `pickupDeskLayer`, below `Waybill.layer`.
 */
export const waybillOver = <Tx = never>(options: WaybillOverOptions<Tx>): Waybill<Tx> => {
  const service = new Service(options)
  const { joined = unjoinable } = options
  const run: Run = (effect) => service.run(effect)
  const alone = methodsOf(run, (effect) => effect)

  return withAudit((effect) => service.run(effect), withBounds(run, {
    ...alone,
    events: { ...alone.events, list: (principal, query = {}) => service.run(listEvents(principal, query)) },
    shipments: { ...alone.shipments, ...lookupsOf(run) },
    chargeSubscriptions: { ...alone.chargeSubscriptions, ...webhookTestOf(run) },
    invoices: { ...alone.invoices, ...invoiceReadsOf(run) },
    documents: { ...alone.documents, ...documentReadsOf(run) },
    pickups: { ...alone.pickups, ...pickupReadsOf(run) },
    tenants: {
      put: (tenantId, settings) => service.run(Effect.flatMap(Tenants, (tenants) => tenants.put(tenantId, plain(settings)))),
      list: (query = {}) => service.run(Effect.flatMap(Tenants, (tenants) => tenants.page(plain(query)))),
      suspend: (tenantId) => service.run(ofTenant(tenantId, Tenants, (tenants) => tenants.suspend(tenantId))),
      resume: (tenantId) => service.run(ofTenant(tenantId, Tenants, (tenants) => tenants.resume(tenantId))),
      delete: (tenantId, { confirm }) =>
        service.run(confirm === tenantId ? ofTenant(tenantId, TenantRemoval, (removal) => removal.remove(tenantId)) : Effect.fail(unconfirmed(tenantId))),
      health: () => service.run(Effect.flatMap(TenantHealths, ({ all }) => all))
    },
    apiKeys: {
      create: (tenantId, request) =>
        service.run(Effect.map(ofTenant(tenantId, ApiKeys, (keys) => keys.create(tenantId, plain(request))), ({ id, key }) => ({ id, key: Redacted.value(key) }))),
      list: (tenantId, query = {}) => service.run(ofTenant(tenantId, ApiKeys, (keys) => keys.list(tenantId, plain(query)))),
      revoke: (tenantId, id) => service.run(ofTenant(tenantId, ApiKeys, (keys) => keys.revoke(tenantId, id)))
    },
    audit: { list: (query = {}) => service.run(Effect.flatMap(AuditLog, (log) => log.list(plain(query)))) },
    clients: {
      list: (tenantId, query = {}) => service.run(ofTenant(tenantId, Clients, (clients) => clients.list(tenantId, plain(query)))),
      delete: (tenantId, client) => service.run(ofTenant(tenantId, Clients, (clients) => clients.remove(tenantId, client)))
    },
    limits: {
      get: (tenantId) => service.run(ofTenant(tenantId, TenantLimits, (limits) => limits.get(tenantId))),
      put: (tenantId, change) => service.run(ofTenant(tenantId, TenantLimits, (limits) => limits.put(tenantId, plain(change))))
    },
    secrets: {
      put: (tenantId, hmacSecretId, settings = {}) =>
        service.run(Effect.map(
          ofTenant(tenantId, SigningSecrets, (secrets) => secrets.put(tenantId, hmacSecretId, plain(settings))),
          (put) => ({ hmacSecretId: put.hmacSecretId, secret: Redacted.value(put.secret) })
        )),
      list: (tenantId, query = {}) => service.run(ofTenant(tenantId, SigningSecrets, (secrets) => secrets.list(tenantId, plain(query)))),
      reseal: (tenantId) => service.run(ofTenant(tenantId, SigningSecrets, (secrets) => secrets.reseal(tenantId))),
      delete: (tenantId, hmacSecretId) => service.run(ofTenant(tenantId, SigningSecrets, (secrets) => secrets.remove(tenantId, hmacSecretId)))
    },
    deliveries: {
      list: (tenantId, query = {}) => service.run(ofTenant(tenantId, Deliveries, (deliveries) => deliveries.list(tenantId, plain(query)))),
      get: (tenantId, deliveryId) => service.run(ofTenant(tenantId, Deliveries, (deliveries) => deliveries.get(tenantId, deliveryId))),
      retry: (tenantId, deliveryId) => service.run(ofTenant(tenantId, Deliveries, (deliveries) => deliveries.retry(tenantId, deliveryId))),
      dismiss: (tenantId, deliveryId) => service.run(ofTenant(tenantId, Deliveries, (deliveries) => deliveries.dismiss(tenantId, deliveryId))),
      retryDeadLetters: (tenantId, filter) => service.run(ofTenant(tenantId, Deliveries, (deliveries) => deliveries.retryDeadLetters(tenantId, plain(filter)))),
      dismissDeadLetters: (tenantId, filter) => service.run(ofTenant(tenantId, Deliveries, (deliveries) => deliveries.dismissDeadLetters(tenantId, plain(filter)))),
      recover: (tenantId, subscriptionId, since) =>
        service.run(ofTenant(tenantId, Deliveries, (deliveries) => deliveries.recover(tenantId, subscriptionId, plain({ since })))),
      replay: (tenantId, subscriptionId, range) =>
        service.run(ofTenant(tenantId, Subscriptions, (subscriptions) => subscriptions.replay(tenantId, subscriptionId, plain(range))))
    },
    allPickups: allPickupsOf(run),
    allSubscriptions: allSubscriptionsOf(run),
    statistics: { get: (tenantId, query = {}) => service.run(ofTenant(tenantId, Statistics, (statistics) => statistics.get(tenantId, plain(query)))) },
    portal: portalMethodsOf(run),
    journeys: {
      find: (tenantId, reference) =>
        service.run(Effect.map(ofTenant(tenantId, ShipmentJourneys, (journeys) => journeys.find(tenantId, { reference })), ({ data }) => data)),
      get: (tenantId, shipmentId) => service.run(ofTenant(tenantId, ShipmentJourneys, (journeys) => journeys.get(tenantId, shipmentId)))
    },
    handler: (request, options = {}) => service.answer("whole", request, options),
    customerHandler: (request, options = {}) => service.answer("customers", request, options),
    operatorHandler: (request, options = {}) => service.answer("operators", request, options),
    portalHandler: (request, customer, options = {}) => service.answer("portal", request, options, customer),
    within: (transaction) => withBounds(run, methodsOf(run, joined(transaction))),
    wake: (tenantId) => service.run(Effect.flatMap(Wakeups, (wakeups) => wakeups.wake(tenantId))),
    runOnce: () => service.run(deliverOnce),
    start: () => service.start(),
    stop: () => service.stop()
  } satisfies Waybill<Tx>))
}

const listEvents = (given: HostPrincipal, query: object) =>
  Effect.flatMap(TransitEvents, (all) =>
    Effect.flatMap(servedPrincipal(given), (principal) =>
      Effect.flatMap(all.list(principal, plain(query)), (page) =>
        Effect.map(mapPaced(page.data, (event) => JSON.parse(decoder.decode(event))), (data) => ({ ...page, data })))))

const decoder = new TextDecoder()

const unjoinable = (): never => {
  throw new TypeError("This service joins no transactions. Give waybillOver the option joined.")
}

/** Closes charge windows and updates deferred statuses first, so that their notifications are sent in the same run. */
const deliverOnce = Effect.gen(function*() {
  const windows = yield* ChargeWindows
  const statuses = yield* DeferredStatuses
  const worker = yield* DeliveryWorker
  yield* windows.closeDue
  yield* statuses.applyDue
  return yield* worker.drain
})
