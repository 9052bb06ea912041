/** Destinations and deliveries in memory, as subscriptions and operators see them. */
import { closedBreaker, DeliveryQueue, type DeliveryState, totalCount } from "@waybill/core/delivery"
import { Option } from "effect"
import { storeLayer } from "../shared/StoreLayer.ts"
import { carrying, destinationOverviews, dueOf, isInFlight, listed, matchingDeliveries, matchingDestinations, oldestOf, summaryOf } from "./DeliveryLogMemory.ts"
import { type Delivery, type DestinationRows, DestinationTables, joinedPayloads, statusByClient, type Tenant } from "./DestinationTables.ts"

/** Most rows one call of `prune` removes. */
const pruneLimit = 2000

export const layer = storeLayer(DeliveryQueue, { rows: DestinationTables }, ({ journal, operate, rows }) => {
  const retry = (tenant: Tenant, delivery: Delivery, now: number): DeliveryState => {
    const { destinationId, state } = delivery
    const destination = tenant.destinations.get(destinationId)
    if (destination === undefined) return state === "sending" ? state : "cancelled"
    if (state === "sending" || state === "cancelled") return state
    rows.write(destination, delivery, "waiting", now, now)
    journal.set(delivery, "tries", 0)
    rows.signal(destination, undefined)
    return state
  }

  const retryDead = (tenant: Tenant, deliveries: ReadonlyArray<Delivery>, now: number): number =>
    deliveries.filter(({ state }) => state === "dead").filter((each) => retry(tenant, each, now) === "dead").length

  const prune = (tenant: Tenant, before: number): number => {
    const { closed, deliveries } = tenant
    const settled = journal.dropWhere(deliveries, ({ settledAt = Infinity }) => settledAt < before, pruneLimit)
    if (settled > 0) return settled
    const kept = new Set(rows.deliveries(tenant).map(({ destinationId }) => destinationId))
    return journal.dropWhere(closed, ({ closedAt, destinationId, entries }) => closedAt! < before && entries.length === 0 && !kept.has(destinationId), pruneLimit)
  }

  return {
    openDestination: (tenantId, destination) =>
      operate((now) => {
        rows.open(tenantId, destination, now)
        return [...rows.of(tenantId).destinations.values()].filter(({ settings: { client, source } }) => client === destination.client && source === destination.source).length
      }),
    countDestinations: (tenantId) => operate(() => rows.of(tenantId).destinations.size),
    changeDestination: (tenantId, settings) =>
      operate((now) => {
        const destination = rows.find(tenantId, settings.destinationId)
        if (destination === undefined) return
        const { client, endpointUrl, envelope, signing, source, whenDead } = destination.settings
        journal.set(destination, "settings", { ...settings, client, envelope, signing, source, whenDead })
        if (destination.status.state !== settings.state) rows.setStatus(destination, statusByClient(settings.state, now))
        // another address is another destination
        if (endpointUrl !== settings.endpointUrl) journal.set(destination, "breaker", closedBreaker)
        rows.raiseVersion(destination)
        rows.signal(destination, undefined)
      }),
    closeDestination: (tenantId, destinationId) =>
      operate((now) => {
        const destination = rows.find(tenantId, destinationId)
        if (destination !== undefined) rows.close(destination, now)
      }),
    accessRestored: (tenantId, client) =>
      operate(() => {
        for (const destination of rows.of(tenantId).destinations.values()) {
          if (destination.settings.client === (client ?? destination.settings.client)) rows.signal(destination, undefined)
        }
      }),
    destinationStatus: (tenantId, destinationId) => operate(() => Option.fromUndefinedOr(rows.find(tenantId, destinationId)?.status)),
    destinations: (tenantId, query) => operate((now) => ({ now, destinations: destinationOverviews(rows, tenantId, query, now) })),
    countMatching: (tenantId, match) => operate(() => Math.min(totalCount, matchingDestinations(rows, tenantId, match).length)),
    list: (tenantId, query) => operate(() => listed(rows, tenantId, query)),
    count: (tenantId, match) => operate(() => Math.min(totalCount, matchingDeliveries(rows, tenantId, match).length)),
    carrying: (tenantId, keys, range) => operate(() => carrying(rows, tenantId, keys, range)),
    find: (tenantId, deliveryId) =>
      operate(() =>
        Option.map(rows.delivery(tenantId, deliveryId), (delivery) => {
          const { settings: { endpointUrl, envelope } } = rows.destinationOf(rows.of(tenantId), delivery)
          return { ...summaryOf(delivery), endpointUrl, sentAt: delivery.sentAt, envelope, body: joinedPayloads(delivery.entries) }
        })
      ),
    retry: (tenantId, deliveryId) =>
      operate((now) => Option.map(rows.delivery(tenantId, deliveryId), (delivery) => retry(rows.of(tenantId), delivery, now))),
    recover: (tenantId, destinationId, since) =>
      operate((now) => {
        const tenant = rows.of(tenantId)
        const deliveries = [...tenant.deliveries.values()].filter((each) => each.destinationId === destinationId && each.settledAt !== undefined && each.settledAt >= since)
        return retryDead(tenant, deliveries, now)
      }),
    retryDead: (tenantId, deliveryIds) =>
      operate((now) => {
        const tenant = rows.of(tenantId)
        return retryDead(tenant, deliveryIds.flatMap((id) => tenant.deliveries.get(id) ?? []), now)
      }),
    prune: (tenantId, before) => operate(() => prune(rows.of(tenantId), before)),
    depth: operate((now) => depthOf(rows, now))
  }
})

const depthOf = (rows: DestinationRows, now: number) => {
  const depth = { waitingEntries: 0, unsettled: 0, dead: 0, lagMillis: 0 }
  for (const tenant of rows.byTenant.values()) {
    for (const destination of tenant.destinations.values()) {
      depth.waitingEntries += destination.entries.length
      if (destination.status.state === "active") depth.lagMillis = Math.max(depth.lagMillis, now - Math.min(oldestOf(destination) ?? now, dueOf(destination) ?? now))
    }
    for (const delivery of rows.deliveries(tenant)) {
      if (isInFlight(delivery)) depth.unsettled += 1
      if (delivery.state === "dead") depth.dead += 1
    }
  }
  return depth
}
