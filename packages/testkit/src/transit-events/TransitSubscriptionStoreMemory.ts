/** Subscriptions to transit events in memory. */
import { compareText } from "@waybill/core"
import { type ReplayRequest, type StoredSubscription, type SubscriptionRecord, TransitSubscriptionStore } from "@waybill/core/transit-events"
import { Effect, Layer, Option } from "effect"
import { DestinationTables } from "../delivery/DestinationTables.ts"
import { MemoryDatabase } from "../shared/MemoryDatabase.ts"
import { documentsIn } from "../shared/SubscriptionDocuments.ts"
import { TransitEventTables } from "./TransitEventTables.ts"

export const TransitSubscriptionStoreMemory = {
  layer: Layer.effect(
    TransitSubscriptionStore,
    Effect.gen(function*() {
      const { journal, operate } = yield* MemoryDatabase
      const destinations = yield* DestinationTables
      const rows = yield* TransitEventTables

      const stored = (tenantId: string, { client, createdAt, doc, id, updatedAt }: SubscriptionRecord): Option.Option<StoredSubscription> =>
        Option.map(Option.fromUndefinedOr(destinations.find(tenantId, id)), (destination) => ({ id, client, doc, createdAt, updatedAt, destination: destination.status }))

      const own = (tenantId: string, client: string, id: string): SubscriptionRecord | undefined => {
        const record = rows.of(tenantId).subscriptions.get(id)
        return record?.client === client ? record : undefined
      }

      const find = (tenantId: string, client: string, id: string) =>
        operate(() => Option.flatMap(Option.fromUndefinedOr(own(tenantId, client, id)), (record) => stored(tenantId, record)))

      const replay = (tenantId: string, id: string, { from, shipmentIds, to }: ReplayRequest, now: number): Option.Option<number> => {
        const record = rows.of(tenantId).subscriptions.get(id)
        if (record === undefined) return Option.none()
        const again = rows.history(tenantId, record, shipmentIds).filter((event) => event.storedAt >= from && (to === undefined || event.storedAt < to))
        return Option.some(rows.queue(tenantId, id, again, undefined, now))
      }

      return TransitSubscriptionStore.of({
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
            const all = [...rows.of(tenantId).subscriptions.values()]
              .filter((record) => record.client === client)
              .flatMap((record) => Option.toArray(stored(tenantId, record)))
              .filter((each) => each.destination.state === state)
              .sort((a, b) => compareText(a.id, b.id))
            return { rows: all.slice(skip, skip + limit), totalCount: all.length }
          }),
        remove: (tenantId, client, id) =>
          operate(() => {
            const { removed } = rows.of(tenantId)
            if (own(tenantId, client, id) === undefined) return removed.get(id) === client ? "gone" : "unknown"
            rows.dropSubscription(tenantId, id)
            journal.put(removed, id, client)
            return "removed"
          }),
        clientSees: (tenantId, client, shipmentId) => operate(() => rows.clientSees(tenantId, client, shipmentId)),
        documents: (tenantId, ids) => operate(() => documentsIn(ids, (id) => rows.of(tenantId).subscriptions.get(id)?.doc)),
        replay: (tenantId, id, request) => operate((now) => replay(tenantId, id, request, now))
      })
    })
  )
}
