/** Status subscriptions by reference, in memory. */
import { StatusSubscriptionStore } from "@waybill/core/shipment-status"
import { storeLayer } from "../shared/StoreLayer.ts"
import { documentsIn } from "../shared/SubscriptionDocuments.ts"
import { ShipmentStatusTables } from "./ShipmentStatusTables.ts"

export const layer = storeLayer(StatusSubscriptionStore, { rows: ShipmentStatusTables }, ({ operate, rows }) => ({
  insert: (tenantId, record) => operate(() => rows.putSubscription(tenantId, record)),
  mostOfReference: (tenantId, client, references) =>
    operate(() => {
      const { byReference, subscriptions } = rows.of(tenantId)
      return Math.max(0, ...references.map((reference) => [...byReference.get(reference) ?? []].filter((id) => subscriptions.get(id)!.client === client).length))
    }),
  remove: (tenantId, client, id) =>
    operate(() => {
      const record = rows.of(tenantId).subscriptions.get(id)
      if (record?.client !== client) return false
      rows.dropSubscription(tenantId, record)
      return true
    }),
  documents: (tenantId, ids) => operate(() => documentsIn(ids, (id) => rows.of(tenantId).subscriptions.get(id)?.doc))
}))
