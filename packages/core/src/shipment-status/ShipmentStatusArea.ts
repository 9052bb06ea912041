/** Area A in the registries of the service. */
import { Effect, Layer } from "effect"
import type { AreaDescriptor, AreaRetention } from "../shared/Area.ts"
import { ShipmentReports } from "./ShipmentReports.ts"
import { ShipmentStatuses } from "./ShipmentStatuses.ts"
import { ShipmentStatusStore } from "./ShipmentStatusStore.ts"
import { shipmentStatusSource, StatusSubscriptions, type SubscribeRequest } from "./StatusSubscriptions.ts"
import { StatusSubscriptionStore } from "./StatusSubscriptionStore.ts"

export const shipmentStatusArea = {
  name: "shipment-status",
  stores: [ShipmentStatusStore, StatusSubscriptionStore],
  services: Layer.mergeAll(ShipmentReports.layer, ShipmentStatuses.layer, StatusSubscriptions.layer),
  subscriptions: {
    sources: [shipmentStatusSource],
    filtersOf: ({ referenceNumbers }: SubscribeRequest) => ({ referenceNumbers }),
    store: Effect.map(StatusSubscriptionStore, ({ documents, remove }) => ({ documents, end: remove }))
  },
  retention: Effect.map(ShipmentStatusStore, ({ prune }): AreaRetention => (tenantId, now, { keepDeliveredShipmentsMillis, keepNoticesMillis }) =>
    prune(tenantId, { delivered: now - keepDeliveredShipmentsMillis, noticed: now - keepNoticesMillis }))
} as const satisfies AreaDescriptor
