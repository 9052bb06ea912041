/** Carriers' subscriptions to pickups in memory. */
import type { SubscriptionRow } from "@waybill/core"
import { PickupSubscriptionStore } from "@waybill/core/pickups"
import { Option } from "effect"
import { DestinationTables } from "../delivery/DestinationTables.ts"
import { editableIn } from "../subscriptions/EditableSubscriptions.ts"
import { storeLayer } from "../shared/StoreLayer.ts"
import { PickupTables } from "./PickupTables.ts"

export const layer = storeLayer(PickupSubscriptionStore, { destinations: DestinationTables, tables: PickupTables }, (parts) => {
  const { journal, operate, tables } = parts
  const { documents, find, own, prune, remove } = editableIn(
    parts,
    (tenantId) => tables.of(tenantId),
    (tenantId, id) => journal.drop(tables.of(tenantId).subscriptions, id)
  )

  const put = (tenantId: string, row: SubscriptionRow) => journal.put(tables.of(tenantId).subscriptions, row.id, row)

  return {
    insert: (tenantId, row) => operate(() => put(tenantId, row)),
    update: (tenantId, row) =>
      operate(() => {
        const before = tables.of(tenantId).subscriptions.get(row.id)
        if (before !== undefined) put(tenantId, { ...row, client: before.client, createdAt: before.createdAt })
      }),
    find,
    list: (tenantId, client, { after, limit }) => operate(() => own(tenantId, client).filter(({ id }) => after === undefined || id > after).slice(0, limit)),
    remove,
    prune,
    documents,
    clientSees: (tenantId, client, pickupId) => operate(() => tables.clientSees(tenantId, client, pickupId)),
    replay: (tenantId, id, range) =>
      operate((now) => Option.map(Option.fromUndefinedOr(tables.of(tenantId).subscriptions.get(id)), (row) => tables.replay(tenantId, row, range, now)))
  }
})
