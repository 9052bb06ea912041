/** Carriers' subscriptions to pickups in memory. */
import { compareText } from "@waybill/core"
import { type PickupSubscriptionRecord, PickupSubscriptionStore, type StoredPickupSubscription } from "@waybill/core/pickups"
import { Effect, Layer, Option } from "effect"
import { DestinationTables } from "../delivery/DestinationTables.ts"
import { MemoryDatabase } from "../shared/MemoryDatabase.ts"
import { documentsIn } from "../shared/SubscriptionDocuments.ts"
import { PickupTables } from "./PickupTables.ts"

export const PickupSubscriptionStoreMemory = {
  layer: Layer.effect(
    PickupSubscriptionStore,
    Effect.gen(function*() {
      const { journal, operate } = yield* MemoryDatabase
      const destinations = yield* DestinationTables
      const tables = yield* PickupTables

      const stored = (tenantId: string, { matched: _, ...record }: PickupSubscriptionRecord): ReadonlyArray<StoredPickupSubscription> => {
        const destination = destinations.find(tenantId, record.id)
        return destination === undefined ? [] : [{ ...record, destination: destination.status }]
      }

      const own = (tenantId: string, client: string) =>
        [...tables.of(tenantId).subscriptions.values()].filter((record) => record.client === client)

      const put = (tenantId: string, record: PickupSubscriptionRecord) => journal.put(tables.of(tenantId).subscriptions, record.id, record)

      return PickupSubscriptionStore.of({
        insert: (tenantId, record) => operate(() => put(tenantId, record)),
        update: (tenantId, record) =>
          operate(() => {
            const before = tables.of(tenantId).subscriptions.get(record.id)
            if (before !== undefined) put(tenantId, { ...record, client: before.client, createdAt: before.createdAt })
          }),
        find: (tenantId, client, id) =>
          operate(() => Option.fromUndefinedOr(own(tenantId, client).filter((record) => record.id === id).flatMap((record) => stored(tenantId, record))[0])),
        list: (tenantId, client, { after, limit }) =>
          operate(() =>
            own(tenantId, client)
              .filter(({ id }) => after === undefined || id > after)
              .flatMap((record) => stored(tenantId, record))
              .sort((a, b) => compareText(a.id, b.id))
              .slice(0, limit)
          ),
        remove: (tenantId, client, id) =>
          operate(() => {
            const { removed, subscriptions } = tables.of(tenantId)
            if (subscriptions.get(id)?.client !== client) return removed.get(id) === client ? "gone" : "unknown"
            journal.drop(subscriptions, id)
            journal.put(removed, id, client)
            return "removed"
          }),
        documents: (tenantId, ids) => operate(() => documentsIn(ids, (id) => tables.of(tenantId).subscriptions.get(id)?.doc)),
        clientSees: (tenantId, client, pickupId) => operate(() => tables.clientSees(tenantId, client, pickupId)),
        replay: (tenantId, id, range) =>
          operate((now) => Option.map(Option.fromUndefinedOr(tables.of(tenantId).subscriptions.get(id)), (record) => tables.replay(tenantId, record, range, now)))
      })
    })
  )
}
