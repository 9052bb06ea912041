/** Carriers' subscriptions to pickups in memory. */
import type { SubscriptionRow } from "@waybill/core"
import { PickupSubscriptionStore } from "@waybill/core/pickups"
import { Effect, Layer, Option } from "effect"
import { MemoryDatabase } from "../shared/MemoryDatabase.ts"
import { makeEditable } from "../subscriptions/EditableSubscriptions.ts"
import { PickupTables } from "./PickupTables.ts"

export const PickupSubscriptionStoreMemory = {
  layer: Layer.effect(
    PickupSubscriptionStore,
    Effect.gen(function*() {
      const { journal, operate } = yield* MemoryDatabase
      const tables = yield* PickupTables
      const { documents, find, own, remove } = yield* makeEditable(
        (tenantId) => tables.of(tenantId),
        (tenantId, id) => journal.drop(tables.of(tenantId).subscriptions, id)
      )

      const put = (tenantId: string, row: SubscriptionRow) => journal.put(tables.of(tenantId).subscriptions, row.id, row)

      return PickupSubscriptionStore.of({
        insert: (tenantId, row) => operate(() => put(tenantId, row)),
        update: (tenantId, row) =>
          operate(() => {
            const before = tables.of(tenantId).subscriptions.get(row.id)
            if (before !== undefined) put(tenantId, { ...row, client: before.client, createdAt: before.createdAt })
          }),
        find,
        list: (tenantId, client, { after, limit }) => operate(() => own(tenantId, client).filter(({ id }) => after === undefined || id > after).slice(0, limit)),
        remove,
        documents,
        clientSees: (tenantId, client, pickupId) => operate(() => tables.clientSees(tenantId, client, pickupId)),
        replay: (tenantId, id, range) =>
          operate((now) => Option.map(Option.fromUndefinedOr(tables.of(tenantId).subscriptions.get(id)), (row) => tables.replay(tenantId, row, range, now)))
      })
    })
  )
}
