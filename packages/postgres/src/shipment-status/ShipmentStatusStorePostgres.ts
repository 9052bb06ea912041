/** Shipment statuses on Postgres. */
import { maxHistoryBytes } from "@waybill/core"
import {
  ShipmentStatusStore,
  type StatusChanges,
  type StatusFound,
  type StatusRecord,
  type StatusWrite
} from "@waybill/core/shipment-status"
import { Effect } from "effect"
import { bool, bytea, int8, type StatementRunner, text } from "../client/SqlRow.ts"
import { storeLayer } from "../shared/StoreLayer.ts"
import { makeCarriersOf, makeLockShipments } from "../shared/ShipmentLocks.ts"
import { accountKnownTo } from "./CarrierShipmentSql.ts"
import * as statements from "./ShipmentStatusSql.ts"

export const layer = storeLayer(ShipmentStatusStore, ({ lookup, schema, sql }) => {
  const lockShipments = makeLockShipments(sql, schema)
  const carriers = makeCarriersOf(sql, schema)

  const read = (tenantId: string, shipmentIds: ReadonlyArray<string>) =>
    sql.rows(statements.statusRow, statements.readStatuses(schema, tenantId, shipmentIds))

  const write = Effect.fnUntraced(function*(tenantId: string, { history, notices, statuses, traceparent }: StatusChanges) {
    const moved = statuses.length === 0 ? [] : yield* sql.rows(text, statements.putStatuses(schema, tenantId, statuses))
    const keys = textsOf(statuses, (status) => status.keys)
    if (keys.length > 0) yield* sql.run(statements.replaceKeys(schema, tenantId, keys))
    if (moved.length > 0) yield* sql.run(statements.placeShipments(schema, tenantId, moved))
    const references = textsOf(statuses, (status) => status.references)
    if (references.length > 0) yield* sql.run(statements.replaceReferences(schema, tenantId, references))
    if (history.length > 0) yield* sql.run(statements.addHistory(schema, tenantId, history))
    if (notices.length > 0) yield* sql.run(statements.addNotices(schema, tenantId, notices, traceparent))
  })

  const record = Effect.fnUntraced(function*(sql: StatementRunner, tenantId: string, shipmentId: string, newest: number | undefined) {
    const [stored] = yield* sql.rows(statements.recordRow, statements.readRecord(schema, tenantId, shipmentId))
    if (stored === undefined) return undefined
    const history = yield* sql.rows(statements.historyRow, statements.readHistory(schema, tenantId, shipmentId, { entries: newest, bytes: maxHistoryBytes }))
    return { ...stored, shipmentId, history: history.map((entry) => ({ ...entry, shipmentId })) } satisfies StatusRecord
  })

  const pruneShipments = Effect.fnUntraced(function*(tenantId: string, deliveredBefore: number) {
    const locked = yield* sql.rows(text, statements.lockOldShipments(schema, tenantId, deliveredBefore))
    return locked.length === 0 ? 0 : yield* sql.one(int8, statements.pruneShipments(schema, tenantId, deliveredBefore, locked))
  })

  const prune = Effect.fnUntraced(function*(tenantId: string, before: { readonly delivered: number; readonly noticed: number }) {
    const shipments = yield* sql.withTransaction(pruneShipments(tenantId, before.delivered))
    return shipments + (yield* sql.one(int8, statements.pruneNotices(schema, tenantId, before.noticed)))
  })

  return {
    lock: (tenantId, claims, writer) =>
      sql.withTransaction(Effect.flatMap(lockShipments(tenantId, claims, writer), (locked) =>
        read(tenantId, claims.map((each) => each.shipmentId).filter((shipmentId) => locked.get(shipmentId)!.own)))),
    carriers,
    read,
    write: (tenantId, changes) => sql.withTransaction(write(tenantId, changes)),
    resolve: (tenantId, keys, carrier) =>
      Effect.map(sql.rows(statements.resolvedRow, statements.resolveKeys(schema, tenantId, keys, carrier)), (rows) => {
        const resolved = new Map(rows.map(({ place, shipmentId }) => [place, shipmentId]))
        return keys.map((_, at) => resolved.get(at + 1))
      }),
    find: (tenantId, lookups) =>
      Effect.map(lookup((sql) => sql.rows(statements.foundRow, statements.findStatuses(schema, tenantId, lookups))), (rows) => {
        const found: Array<StatusFound | undefined> = lookups.map(() => undefined)
        for (const { body, own, place } of rows) {
          if (body !== undefined) found[place - 1] = own ? { own, verified: body } : { own, public: body }
        }
        return found
      }),
    findPickedUp: (tenantId, range) => lookup((sql) => sql.rows(bytea, statements.findPickedUp(schema, tenantId, range))),
    accountKnown: (tenantId, account, carrier) =>
      lookup((sql) =>
        sql.one(bool, carrier === undefined ? statements.accountKnown(schema, tenantId, account) : accountKnownTo(schema, tenantId, account, carrier))),
    search: (tenantId, search, limit) => lookup((sql) => sql.rows(statements.statusRow, statements.searchStatuses(schema, tenantId, search, limit))),
    record: (tenantId, shipmentId, newest) => lookup((sql) => record(sql, tenantId, shipmentId, newest)),
    prune
  }
})

const textsOf = (
  statuses: ReadonlyArray<StatusWrite>,
  of: (status: StatusWrite) => ReadonlyArray<string> | undefined
): ReadonlyArray<statements.ShipmentTexts> =>
  statuses.flatMap((status) => {
    const texts = of(status)
    return texts === undefined ? [] : [{ shipmentId: status.shipmentId, texts }]
  })
