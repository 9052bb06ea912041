/** Subscriptions to transit events in memory. */
import { type ReplayRequest, TransitSubscriptionStore } from "@waybill/core/transit-events"
import { Option } from "effect"
import { DestinationTables } from "../delivery/DestinationTables.ts"
import { editableIn } from "../subscriptions/EditableSubscriptions.ts"
import { storeLayer } from "../shared/StoreLayer.ts"
import { TransitEventTables } from "./TransitEventTables.ts"

export const layer = storeLayer(TransitSubscriptionStore, { destinations: DestinationTables, rows: TransitEventTables }, (parts) => {
  const { operate, rows } = parts
  const { documents, find, own, prune, remove } = editableIn(parts, (tenantId) => rows.of(tenantId), (tenantId, id) => rows.dropSubscription(tenantId, id))

  const replay = (tenantId: string, id: string, { from, shipmentIds, to }: ReplayRequest, now: number): Option.Option<number> => {
    const record = rows.of(tenantId).subscriptions.get(id)
    if (record === undefined) return Option.none()
    const again = rows.history(tenantId, record, shipmentIds).filter((event) => event.storedAt >= from && (to === undefined || event.storedAt < to))
    return Option.some(rows.queue(tenantId, id, again, undefined, now))
  }

  return {
    insert: (tenantId, record) =>
      operate((now) => {
        rows.putSubscription(tenantId, record)
        if (record.shipmentIds !== undefined) rows.queue(tenantId, record.id, rows.history(tenantId, record, undefined), undefined, now)
      }),
    update: (tenantId, record) =>
      operate(() => {
        if (rows.of(tenantId).subscriptions.has(record.id)) rows.putSubscription(tenantId, record)
      }),
    find,
    page: (tenantId, client, state, { limit, skip }) =>
      operate(() => {
        const all = own(tenantId, client).filter(({ destination }) => destination.state === state)
        return { rows: all.slice(skip, skip + limit), totalCount: all.length }
      }),
    remove,
    prune,
    clientSees: (tenantId, client, shipmentId) => operate(() => rows.clientSees(tenantId, client, shipmentId)),
    documents,
    replay: (tenantId, id, request) => operate((now) => replay(tenantId, id, request, now))
  }
})
