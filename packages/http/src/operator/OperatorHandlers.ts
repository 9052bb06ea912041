/** HTTP handlers of the operator API over core's use cases. An unknown tenant gets 404. */
import {
  ApiKeys,
  AuditLog,
  Clients,
  fault,
  InvalidInput,
  Explanations,
  ShipmentJourneys,
  Statistics,
  SubscriptionEdits,
  Subscriptions,
  TenantHealths,
  type Tenant,
  TenantLimits,
  TenantPickups,
  TenantRemoval,
  Tenants
} from "@waybill/core"
import { Deliveries, SigningSecrets } from "@waybill/core/delivery"
import { Effect, Redacted } from "effect"
import { makePortalLinks } from "../portal/PortalPage.ts"
import { accepted, json, jsonWithList, listPage, noContent } from "../shared/Answer.ts"
import type { HandlersOf } from "../shared/Contract.ts"
import { existingTenant } from "./ExistingTenant.ts"
import type { OperatorContract } from "./OperatorContract.ts"

export const OperatorHandlers = Effect.gen(function*() {
  const tenants = yield* Tenants
  const limits = yield* TenantLimits
  const audit = yield* AuditLog
  const apiKeys = yield* ApiKeys
  const clients = yield* Clients
  const removal = yield* TenantRemoval
  const secrets = yield* SigningSecrets
  const deliveries = yield* Deliveries
  const subscriptions = yield* Subscriptions
  const edits = yield* SubscriptionEdits
  const healths = yield* TenantHealths
  const statistics = yield* Statistics
  const explanations = yield* Explanations
  const journeys = yield* ShipmentJourneys
  const pickups = yield* TenantPickups
  const createLink = yield* makePortalLinks
  const within = existingTenant(tenants)

  const handlers: HandlersOf<typeof OperatorContract> = {
    putTenant: ({ body, params }) => Effect.map(tenants.put(params.tenantId, body), json),
    listTenants: ({ query }) => Effect.flatMap(tenants.page(query), listPage),
    suspendTenant: ({ params: { tenantId } }) => within(tenantId, Effect.map(tenants.suspend(tenantId), stateOf)),
    resumeTenant: ({ params: { tenantId } }) => within(tenantId, Effect.map(tenants.resume(tenantId), stateOf)),
    deleteTenant: ({ params: { tenantId }, query: { confirm } }) =>
      confirm === tenantId ? within(tenantId, Effect.as(removal.remove(tenantId), noContent)) : Effect.fail(unconfirmed(tenantId)),
    listApiKeys: ({ params: { tenantId }, query }) => within(tenantId, Effect.flatMap(apiKeys.list(tenantId, query), listPage)),
    listClients: ({ params: { tenantId }, query }) => within(tenantId, Effect.flatMap(clients.list(tenantId, query), listPage)),
    removeClient: ({ params: { client, tenantId } }) => within(tenantId, Effect.as(clients.remove(tenantId, client), noContent)),
    getLimits: ({ params: { tenantId } }) => Effect.map(within(tenantId, limits.get(tenantId)), json),
    putLimits: ({ body, params: { tenantId } }) => Effect.map(within(tenantId, limits.put(tenantId, body)), json),
    listAudit: ({ query }) => Effect.flatMap(audit.list(query), listPage),
    createApiKey: ({ body, params: { tenantId } }) =>
      within(tenantId, Effect.map(apiKeys.create(tenantId, body), ({ id, key }) => json({ id, key: Redacted.value(key) }, { status: 201 }))),
    createPortalLink: ({ body, params: { tenantId }, site }) =>
      within(tenantId, Effect.map(createLink(tenantId, body, site.urlOf), (link) => json(link, { status: 201 }))),
    revokeApiKey: ({ params: { id, tenantId } }) => within(tenantId, Effect.as(apiKeys.revoke(tenantId, id), noContent)),
    putSecret: ({ body, params: { hmacSecretId, tenantId } }) =>
      within(tenantId, Effect.map(secrets.put(tenantId, hmacSecretId, body), (put) => json({ hmacSecretId: put.hmacSecretId, secret: Redacted.value(put.secret) }))),
    listSecrets: ({ params: { tenantId }, query }) => within(tenantId, Effect.flatMap(secrets.list(tenantId, query), listPage)),
    deleteSecret: ({ params: { hmacSecretId, tenantId } }) => within(tenantId, Effect.as(secrets.remove(tenantId, hmacSecretId), noContent)),
    listDeliveries: ({ params: { tenantId }, query }) => within(tenantId, Effect.flatMap(deliveries.list(tenantId, query), listPage)),
    getDelivery: ({ params: { deliveryId, tenantId } }) => within(tenantId, Effect.map(deliveries.get(tenantId, deliveryId), json)),
    retryDelivery: ({ params: { deliveryId, tenantId } }) => within(tenantId, Effect.as(deliveries.retry(tenantId, deliveryId), accepted)),
    dismissDelivery: ({ params: { deliveryId, tenantId } }) => within(tenantId, Effect.as(deliveries.dismiss(tenantId, deliveryId), accepted)),
    retryDeadLetters: ({ body, params: { tenantId } }) =>
      within(tenantId, Effect.map(deliveries.retryDeadLetters(tenantId, body), ({ changed, nextCursor }) => json({ retried: changed, nextCursor }, { status: 202 }))),
    dismissDeadLetters: ({ body, params: { tenantId } }) =>
      within(tenantId, Effect.map(deliveries.dismissDeadLetters(tenantId, body), ({ changed, nextCursor }) => json({ dismissed: changed, nextCursor }, { status: 202 }))),
    purgeSubscriptions: ({ body, params: { tenantId } }) =>
      within(tenantId, Effect.map(subscriptions.purgeMatching(tenantId, body), (purged) => json(purged, { status: 202 }))),
    listAllSubscriptions: ({ params: { tenantId }, query }) => within(tenantId, Effect.flatMap(subscriptions.list(tenantId, query), listPage)),
    getSubscriptionStatus: ({ params: { subscriptionId, tenantId } }) => within(tenantId, Effect.map(subscriptions.get(tenantId, subscriptionId), json)),
    editSubscription: ({ body, params: { subscriptionId, tenantId } }) => within(tenantId, Effect.map(edits.edit(tenantId, subscriptionId, body), json)),
    pauseSubscription: ({ body, params: { subscriptionId, tenantId } }) => within(tenantId, Effect.map(subscriptions.pause(tenantId, subscriptionId, body), json)),
    purgeSubscription: ({ params: { subscriptionId, tenantId } }) =>
      within(tenantId, Effect.map(subscriptions.purge(tenantId, subscriptionId), (dropped) => json({ dropped }, { status: 202 }))),
    removeSubscription: ({ params: { subscriptionId, tenantId } }) => within(tenantId, Effect.as(subscriptions.remove(tenantId, subscriptionId), noContent)),
    explainDelivery: ({ params: { tenantId }, query }) => within(tenantId, Effect.map(explanations.explain(tenantId, query), json)),
    getHealth: () => Effect.map(healths.all, json),
    getStatistics: ({ params: { tenantId }, query }) => within(tenantId, Effect.map(statistics.get(tenantId, query), json)),
    recoverSubscription: ({ body, params: { subscriptionId, tenantId } }) =>
      within(tenantId, Effect.map(deliveries.recover(tenantId, subscriptionId, body), (recovered) => json({ recovered }, { status: 202 }))),
    resumeSubscription: ({ params: { subscriptionId, tenantId } }) => within(tenantId, Effect.map(subscriptions.resume(tenantId, subscriptionId), json)),
    replaySubscription: ({ body, params: { subscriptionId, tenantId } }) =>
      within(tenantId, Effect.map(subscriptions.replay(tenantId, subscriptionId, body), (queued) => json({ queued }, { status: 202 }))),
    findShipments: ({ params: { tenantId }, query }) => within(tenantId, Effect.map(journeys.find(tenantId, query), json)),
    getShipmentJourney: ({ params: { shipmentId, tenantId } }) =>
      within(tenantId, Effect.flatMap(journeys.get(tenantId, shipmentId), (journey) => jsonWithList(journey, "entries"))),
    listPickups: ({ params: { tenantId }, query }) => within(tenantId, Effect.flatMap(pickups.list(tenantId, query), listPage)),
    decidePickupForCarrier: ({ body, params: { pickupId, tenantId }, principal }) =>
      within(tenantId, Effect.map(pickups.decide(tenantId, principal.client, pickupId, body), json))
  }
  return handlers
})

const stateOf = ({ state, tenantId }: Tenant) => json({ tenantId, state })

/** Requires a confirmation, so that a typo in a path cannot delete a tenant. */
export const unconfirmed = (tenantId: string) =>
  InvalidInput.of(fault(["confirm"], `To delete the tenant with everything of it, give confirm=${tenantId.slice(0, 100)}.`, "required"))
