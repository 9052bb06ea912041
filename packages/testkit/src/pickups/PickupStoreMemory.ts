/** Pickups in memory. */
import { type PickupChange, type PickupHistoryEntry, PickupNumberTaken, type PickupRow, PickupStore } from "@waybill/core/pickups"
import { Effect, Option } from "effect"
import { storeLayer } from "../shared/StoreLayer.ts"
import { maySeePickup, PickupTables } from "./PickupTables.ts"

export const layer = storeLayer(PickupStore, { tables: PickupTables }, ({ operate, tables }) => {
  const write = (tenantId: string, row: PickupRow, history: PickupHistoryEntry, change: PickupChange | undefined) =>
    Effect.flatten(operate((now) => {
      const holder = row.number === undefined ? undefined : tables.numbered(tenantId, row.number, row.isTest)
      if (holder !== undefined && holder.pickupId !== row.pickupId) return Effect.fail(new PickupNumberTaken({ number: row.number! }))
      tables.put(tenantId, row)
      tables.append(tenantId, history)
      tables.use(tenantId, row.client, Buffer.byteLength(history.doc) + (change?.body.length ?? 0))
      if (change !== undefined) tables.list(tenantId, history, change, now)
      return Effect.void
    }))

  return {
    // transactions are serialised, so a second call for the key waits for the first
    answered: (tenantId, client, key) => operate(() => Option.fromUndefinedOr(tables.answer(tenantId, client, key))),
    remember: (tenantId, client, key, answered) => operate((now) => tables.remember(tenantId, client, key, answered, now)),
    nextNumber: (tenantId, isTest) => operate(() => tables.next(tenantId, isTest)),
    insert: write,
    update: (tenantId, pickup, history, change) =>
      Effect.flatMap(operate(() => tables.of(tenantId).rows.get(pickup.pickupId)), (before) =>
        before === undefined
          ? Effect.die(new Error(`No pickup ${pickup.pickupId} to update.`))
          : write(tenantId, { ...pickup, client: before.client, isTest: before.isTest, createdAt: before.createdAt }, history, change)),
    changes: (tenantId, range) => operate(() => tables.listed(tenantId, range)),
    find: (tenantId, viewer, { isTest, number }) =>
      operate(() => Option.filter(Option.fromUndefinedOr(tables.numbered(tenantId, number, isTest)), (row) => maySeePickup(viewer, row))),
    findByPro: (tenantId, viewer, { isTest, pro }) =>
      operate(() => Option.fromUndefinedOr(tables.carrying(tenantId, pro, isTest).find((row) => maySeePickup(viewer, row)))),
    findById: (tenantId, viewer, pickupId) =>
      operate(() => Option.filter(Option.fromUndefinedOr(tables.of(tenantId).rows.get(pickupId)), (row) => maySeePickup(viewer, row))),
    ofPros: (tenantId, pros, limit) =>
      operate(() => {
        const found = tables.ofPros(tenantId, pros, false).slice(0, limit)
        const histories = tables.newestHistories(tenantId, found.map(({ pickupId }) => pickupId))
        return found.map((pickup) => ({ pickup, history: histories.filter(({ pickupId }) => pickupId === pickup.pickupId) }))
      }),
    list: (tenantId, range) => operate(() => tables.inOrder(tenantId, range)),
    history: (tenantId, pickupId) => operate(() => tables.newestHistories(tenantId, [pickupId])),
    storedBytes: (tenantId, client) => operate(() => tables.of(tenantId).usage.get(client) ?? 0),
    prune: (tenantId, before) => operate(() => tables.prune(tenantId, before))
  }
})
