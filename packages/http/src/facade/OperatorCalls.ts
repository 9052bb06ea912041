/** The methods for operators: one use case of core each. */
import {
  ApiKeys,
  AuditLog,
  Clients,
  Explanations,
  ShipmentJourneys,
  Statistics,
  SubscriptionEdits,
  Subscriptions,
  TenantHealths,
  TenantLimits,
  TenantPickups,
  TenantRemoval,
  Tenants
} from "@waybill/core"
import { Deliveries, SigningSecrets } from "@waybill/core/delivery"
import { Effect, Redacted } from "effect"
import { unconfirmed } from "../operator/OperatorHandlers.ts"
import type { ServiceFailure } from "../shared/ProblemOf.ts"
import { hostActor, recorded, recordedWithin } from "./AuditedMethods.ts"
import type { ApiKeyMethods, SecretMethods, TenantDeleteOptions } from "./OperatorMethods.ts"
import { plain } from "./Plain.ts"
import { type Around, ofTenant, type Run } from "./Run.ts"
import type { Waybill, WaybillWithin } from "./Waybill.ts"

type OperatorMethods = Pick<
  Waybill,
  "tenants" | "apiKeys" | "audit" | "clients" | "limits" | "secrets" | "deliveries" | "allPickups" | "allSubscriptions" | "statistics" | "journeys"
>

// a line or two for each method
export const operatorMethodsOf = (run: Run): OperatorMethods => ({
  tenants: {
    put: (tenantId, settings) => run(Effect.flatMap(Tenants, (tenants) => tenants.put(tenantId, plain(settings)))),
    list: (query = {}) => run(Effect.flatMap(Tenants, (tenants) => tenants.page(plain(query)))),
    suspend: (tenantId) => run(ofTenant(tenantId, Tenants, (tenants) => tenants.suspend(tenantId))),
    resume: (tenantId) => run(ofTenant(tenantId, Tenants, (tenants) => tenants.resume(tenantId))),
    // optional for hosts without types
    delete: (tenantId, options?: Partial<TenantDeleteOptions>) =>
      run(options?.confirm === tenantId ? ofTenant(tenantId, TenantRemoval, (removal) => removal.remove(tenantId)) : Effect.fail(unconfirmed(tenantId))),
    health: () => run(Effect.flatMap(TenantHealths, ({ all }) => all))
  },
  apiKeys: {
    create: (...given) => run(credentials.createKey(...given)),
    list: (tenantId, query = {}) => run(ofTenant(tenantId, ApiKeys, (keys) => keys.list(tenantId, plain(query)))),
    revoke: (...given) => run(credentials.revokeKey(...given))
  },
  audit: { list: (query = {}) => run(Effect.flatMap(AuditLog, (log) => log.list(plain(query)))) },
  clients: {
    list: (tenantId, query = {}) => run(ofTenant(tenantId, Clients, (clients) => clients.list(tenantId, plain(query)))),
    delete: (tenantId, client) => run(ofTenant(tenantId, Clients, (clients) => clients.remove(tenantId, client)))
  },
  limits: {
    get: (tenantId) => run(ofTenant(tenantId, TenantLimits, (limits) => limits.get(tenantId))),
    put: (tenantId, change) => run(ofTenant(tenantId, TenantLimits, (limits) => limits.put(tenantId, plain(change))))
  },
  secrets: {
    put: (...given) => run(credentials.putSecret(...given)),
    list: (tenantId, query = {}) => run(ofTenant(tenantId, SigningSecrets, (secrets) => secrets.list(tenantId, plain(query)))),
    reseal: (tenantId) => run(ofTenant(tenantId, SigningSecrets, (secrets) => secrets.reseal(tenantId))),
    delete: (...given) => run(credentials.deleteSecret(...given))
  },
  deliveries: {
    list: (tenantId, query = {}) => run(ofTenant(tenantId, Deliveries, (deliveries) => deliveries.list(tenantId, plain(query)))),
    get: (tenantId, deliveryId) => run(ofTenant(tenantId, Deliveries, (deliveries) => deliveries.get(tenantId, deliveryId))),
    retry: (tenantId, deliveryId) => run(ofTenant(tenantId, Deliveries, (deliveries) => deliveries.retry(tenantId, deliveryId))),
    dismiss: (tenantId, deliveryId) => run(ofTenant(tenantId, Deliveries, (deliveries) => deliveries.dismiss(tenantId, deliveryId))),
    retryDeadLetters: (tenantId, filter) => run(ofTenant(tenantId, Deliveries, (deliveries) => deliveries.retryDeadLetters(tenantId, plain(filter)))),
    dismissDeadLetters: (tenantId, filter) => run(ofTenant(tenantId, Deliveries, (deliveries) => deliveries.dismissDeadLetters(tenantId, plain(filter)))),
    recover: (tenantId, subscriptionId, since) =>
      run(ofTenant(tenantId, Deliveries, (deliveries) => deliveries.recover(tenantId, subscriptionId, plain({ since })))),
    replay: (tenantId, subscriptionId, range) =>
      run(ofTenant(tenantId, Subscriptions, (subscriptions) => subscriptions.replay(tenantId, subscriptionId, plain(range))))
  },
  allPickups: {
    list: (tenantId, query = {}) => run(ofTenant(tenantId, TenantPickups, (all) => all.list(tenantId, plain(query)))),
    decide: (tenantId, pickupId, decision) => run(ofTenant(tenantId, TenantPickups, (all) => all.decide(tenantId, hostActor, pickupId, plain(decision))))
  },
  allSubscriptions: allSubscriptionsOf(run),
  statistics: { get: (tenantId, query = {}) => run(ofTenant(tenantId, Statistics, (statistics) => statistics.get(tenantId, plain(query)))) },
  journeys: {
    find: (tenantId, reference) =>
      run(Effect.map(ofTenant(tenantId, ShipmentJourneys, (journeys) => journeys.find(tenantId, { reference })), ({ data }) => data)),
    get: (tenantId, shipmentId) => run(ofTenant(tenantId, ShipmentJourneys, (journeys) => journeys.get(tenantId, shipmentId)))
  }
})

const credentials = {
  createKey: (...[tenantId, request]: Parameters<ApiKeyMethods["create"]>) =>
    Effect.map(ofTenant(tenantId, ApiKeys, (keys) => keys.create(tenantId, plain(request))), ({ id, key }) => ({ id, key: Redacted.value(key) })),
  revokeKey: (...[tenantId, id]: Parameters<ApiKeyMethods["revoke"]>) => ofTenant(tenantId, ApiKeys, (keys) => keys.revoke(tenantId, id)),
  putSecret: (...[tenantId, hmacSecretId, settings = {}]: Parameters<SecretMethods["put"]>) =>
    Effect.map(
      ofTenant(tenantId, SigningSecrets, (secrets) => secrets.put(tenantId, hmacSecretId, plain(settings))),
      (put) => ({ hmacSecretId: put.hmacSecretId, secret: Redacted.value(put.secret) })
    ),
  deleteSecret: (...[tenantId, hmacSecretId]: Parameters<SecretMethods["delete"]>) =>
    ofTenant(tenantId, SigningSecrets, (secrets) => secrets.remove(tenantId, hmacSecretId))
}

/** Keys and secrets in a transaction of the host, which creates a customer with them. */
export const credentialsWithin = (run: Run, around: Around): Pick<WaybillWithin, "apiKeys" | "secrets"> => ({
  apiKeys: {
    create: (...given) => run(recordedWithin(around, recorded.apiKeys.create, given, credentials.createKey(...given))),
    revoke: (...given) => run(recordedWithin(around, recorded.apiKeys.revoke, given, credentials.revokeKey(...given)))
  },
  secrets: {
    put: (...given) => run(recordedWithin(around, recorded.secrets.put, given, credentials.putSecret(...given))),
    delete: (...given) => run(recordedWithin(around, recorded.secrets.delete, given, credentials.deleteSecret(...given)))
  }
})

/** Methods for subscriptions of every client and area. */
const allSubscriptionsOf = (run: Run): Waybill["allSubscriptions"] => {
  const subscriptions = <A, E extends ServiceFailure>(tenantId: string, call: (all: Subscriptions["Service"]) => Effect.Effect<A, E>) =>
    run(ofTenant(tenantId, Subscriptions, call))

  return {
    list: (tenantId, query = {}) => subscriptions(tenantId, (all) => all.list(tenantId, plain(query))),
    get: (tenantId, id) => subscriptions(tenantId, (all) => all.get(tenantId, id)),
    edit: (tenantId, id, change) => run(ofTenant(tenantId, SubscriptionEdits, (all) => all.edit(tenantId, id, plain(change)))),
    pause: (tenantId, id, reason) => subscriptions(tenantId, (all) => all.pause(tenantId, id, { reason })),
    resume: (tenantId, id) => subscriptions(tenantId, (all) => all.resume(tenantId, id)),
    purge: (tenantId, id) => subscriptions(tenantId, (all) => all.purge(tenantId, id)),
    purgeMatching: (tenantId, filter) => subscriptions(tenantId, (all) => all.purgeMatching(tenantId, plain(filter))),
    explain: (tenantId, id, subject) => run(ofTenant(tenantId, Explanations, (all) => all.explain(tenantId, { subscriptionId: id, ...subject }))),
    remove: (tenantId, id) => subscriptions(tenantId, (all) => all.remove(tenantId, id))
  }
}
