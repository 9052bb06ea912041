/** Shipment statuses in memory. */
import { isOwn } from "@waybill/core"
import { ShipmentStatusStore, type StatusChanges, type StatusRecord, type StoredStatus } from "@waybill/core/shipment-status"
import { AccessTables } from "../access/AccessTables.ts"
import { ShipmentTables } from "../access/ShipmentTables.ts"
import { DestinationTables } from "../delivery/DestinationTables.ts"
import { firstWithin, newestWithin } from "../shared/NewestFirst.ts"
import { storeLayer } from "../shared/StoreLayer.ts"
import { ShipmentStatusTables } from "./ShipmentStatusTables.ts"

/** The maximum number of rows of each kind that one call of `prune` removes. */
const pruneLimit = 2000

export const layer = storeLayer(ShipmentStatusStore, { rows: ShipmentStatusTables, destinations: DestinationTables, access: AccessTables, owners: ShipmentTables }, ({ access, destinations, journal, operate, owners, rows }) => {
  const read = (tenantId: string, shipmentIds: ReadonlyArray<string>): ReadonlyArray<StoredStatus> =>
    [...new Set(shipmentIds)].flatMap((shipmentId) => {
      const row = rows.of(tenantId).statuses.get(shipmentId)
      return row === undefined ? [] : [{ shipmentId, state: row.state, verified: row.verified }]
    })

  const write = (tenantId: string, { history, notices, statuses, traceparent }: StatusChanges, now: number): void => {
    for (const each of statuses) rows.putStatus(tenantId, each)
    for (const each of history) rows.addHistory(tenantId, each)
    for (const each of notices) rows.notify(tenantId, each, traceparent, now)
  }

  const record = (tenantId: string, shipmentId: string, newest: number): StatusRecord | undefined => {
    const own = rows.of(tenantId)
    const row = own.statuses.get(shipmentId)
    if (row === undefined) return undefined
    const { covered, state, verified } = row
    const accounts = owners.accountsOf(tenantId, shipmentId)
    const history = newestWithin((own.history.get(shipmentId) ?? []).toReversed(), newest, ({ doc }) => Buffer.byteLength(doc)).toReversed()
    return { shipmentId, state, verified, accounts, carrier: owners.carrierOf(tenantId, shipmentId), covered, history }
  }

  const prune = (tenantId: string, before: { readonly delivered: number; readonly noticed: number }): number => {
    const own = rows.of(tenantId)
    const old = [...own.statuses.values()]
      .filter(({ deliveredAt }) => deliveredAt !== undefined && deliveredAt < before.delivered)
      .slice(0, pruneLimit)
    for (const each of old) rows.forget(tenantId, each)
    const inUse = destinations.payloadsInUse(tenantId)
    return old.length + journal.dropWhere(own.notices, ({ body, storedAt }) => storedAt < before.noticed && !inUse.has(body), pruneLimit)
  }

  return {
    lock: (tenantId, claims, writer) =>
      operate(() => {
        const own = claims.filter(({ shipmentId }) => owners.mayWrite(tenantId, shipmentId, writer))
        for (const each of own) owners.claim(tenantId, each, writer)
        return read(tenantId, own.map((each) => each.shipmentId))
      }),
    carriers: (tenantId, shipmentIds) => operate(() => owners.carriers(tenantId, shipmentIds)),
    read: (tenantId, shipmentIds) => operate(() => read(tenantId, shipmentIds)),
    write: (tenantId, changes) => operate((now) => write(tenantId, changes, now)),
    resolve: (tenantId, keys, carrier) =>
      operate(() => keys.map((key) => rows.ofKey(tenantId, key).find((each) => isOwn(carrier, owners.carrierOf(tenantId, each.shipmentId)))?.shipmentId)),
    find: (tenantId, lookups) => operate(() => lookups.map((lookup) => rows.find(tenantId, lookup))),
    findPickedUp: (tenantId, { account, carrier, from, to, ...most }) =>
      operate(() => {
        const found = rows.ofAccount(tenantId, account)
          .filter((each) => each.pickupAt >= from && each.pickupAt <= to && isOwn(carrier, owners.carrierOf(tenantId, each.shipmentId)))
          .map((each) => each.verified)
        return firstWithin(found, most, ({ length }) => length)
      }),
    accountKnown: (tenantId, account, carrier) =>
      operate(() => {
        const shipments = [...owners.ofAccount(tenantId, account)]
        if (carrier !== undefined) return shipments.some((shipmentId) => isOwn(carrier, owners.carrierOf(tenantId, shipmentId)))
        return (access.of(tenantId).byAccount.get(account)?.size ?? 0) > 0 || shipments.length > 0
      }),
    search: (tenantId, search, limit) => operate(() => read(tenantId, rows.search(tenantId, search).slice(0, limit).map((each) => each.shipmentId))),
    record: (tenantId, shipmentId, newest = Infinity) => operate(() => record(tenantId, shipmentId, newest)),
    prune: (tenantId, before) => operate(() => prune(tenantId, before))
  }
})
