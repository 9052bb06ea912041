/** Shipment statuses on Postgres. */
import {
  ShipmentStatusStore,
  type StatusChanges,
  type StatusFound,
  type StatusHistoryEntry,
  type StatusLookup,
  type StatusRecord,
  type StatusWrite,
  StorageError,
  type StoredStatus
} from "@waybill/core"
import { Effect, Layer } from "effect"
import { boolArray, type BulkValue, byteaArray, int8Array, textArray, timestamptzArray } from "../client/PgBulk.ts"
import { PgClient } from "../client/PgClient.ts"
import { WaybillSchema } from "../shared/Schema.ts"
import { arrayLiteral, makeCarriersOf, makeLockShipments } from "../shared/ShipmentLocks.ts"
import * as statements from "./ShipmentStatusSql.ts"

export const layer = Layer.effect(
  ShipmentStatusStore,
  Effect.gen(function*() {
    const sql = yield* PgClient
    const { quoted: schema } = yield* WaybillSchema
    const lockShipments = makeLockShipments(sql, schema)
    const carriersOf = makeCarriersOf(sql, schema)
    const findStatuses = statements.findStatuses(schema)
    const resolveKeys = statements.resolveKeys(schema)

    const read = (tenantId: string, shipmentIds: ReadonlyArray<string>) =>
      Effect.map(
        sql.bulk(statements.readStatuses(schema), [tenantId, textArray(shipmentIds)], ["text", "text", "bytea"]),
        (rows) => rows.map(statusOf)
      )

    const write = Effect.fnUntraced(function*(tenantId: string, { history, notices, statuses, traceparent }: StatusChanges) {
      const moved = statuses.length === 0 ? [] : yield* sql.bulk(statements.putStatuses(schema), putValues(tenantId, statuses), ["text"])
      const keyed = statuses.filter((each) => each.keys !== undefined)
      if (keyed.length > 0) yield* sql.bulk(statements.replaceKeys(schema), textsOf(tenantId, keyed, (each) => each.keys!))
      if (moved.length > 0) yield* sql.bulk(statements.placeShipments(schema), [tenantId, textArray(moved.map(([shipmentId]) => shipmentId as string))])
      const referring = statuses.filter((each) => each.references !== undefined)
      if (referring.length > 0) {
        yield* sql.bulk(statements.replaceReferences(schema), textsOf(tenantId, referring, (each) => each.references!))
      }
      if (history.length > 0) {
        yield* sql.bulk(statements.addHistory(schema), [
          tenantId,
          textArray(history.map((each) => each.shipmentId)),
          int8Array(history.map((each) => each.position)),
          timestamptzArray(history.map((each) => each.occurredAt)),
          textArray(history.map((each) => each.doc))
        ])
      }
      if (notices.length > 0) {
        yield* sql.bulk(statements.addNotices(schema), [
          tenantId,
          textArray(notices.map((each) => each.shipmentId)),
          int8Array(notices.map((each) => each.sequence)),
          textArray(notices.map((each) => each.noticeId)),
          byteaArray(notices.map((each) => each.body)),
          traceparent ?? null
        ])
      }
    })

    const record = Effect.fnUntraced(function*(tenantId: string, shipmentId: string, newest: number | undefined) {
      const [row] = yield* sql.bulk(statements.readRecord(schema), [tenantId, shipmentId], ["text", "bytea", "bool", "text[]", "text[]"])
      if (row === undefined) return undefined
      const [state, verified, covered, accounts, carrier] = row as [string, Uint8Array, boolean, ReadonlyArray<string>, ReadonlyArray<string>]
      const history = yield* sql.bulk(statements.readHistory(schema), [tenantId, shipmentId, newest ?? null], ["int8", "timestamptz", "text"])
      return {
        shipmentId,
        state,
        verified,
        covered,
        accounts,
        carrier,
        history: history.map(([position, occurredAt, doc]): StatusHistoryEntry => ({
          shipmentId,
          position: position as number,
          occurredAt: occurredAt as number,
          doc: doc as string
        }))
      } satisfies StatusRecord
    })

    const pruneShipments = Effect.fnUntraced(function*(tenantId: string, deliveredBefore: BulkValue) {
      const locked = yield* sql.bulk(statements.lockOldShipments(schema), [tenantId, deliveredBefore], ["text"])
      if (locked.length === 0) return 0
      const shipmentIds = textArray(locked.map(([shipmentId]) => shipmentId as string))
      const [pruned] = yield* sql.bulk(statements.pruneShipments(schema), [tenantId, deliveredBefore, shipmentIds], ["int8"])
      return pruned![0] as number
    })

    const prune = Effect.fnUntraced(function*(tenantId: string, before: { readonly delivered: number; readonly noticed: number }) {
      const shipments = yield* sql.withTransaction(pruneShipments(tenantId, timestamptzArray([before.delivered])))
      const [notices] = yield* sql.bulk(statements.pruneNotices(schema), [tenantId, timestamptzArray([before.noticed])], ["int8"])
      return shipments + (notices![0] as number)
    })

    return ShipmentStatusStore.of({
      lock: (tenantId, claims, writer) =>
        sql.withTransaction(Effect.flatMap(lockShipments(tenantId, claims, writer), (locked) =>
          read(tenantId, claims.map((each) => each.shipmentId).filter((shipmentId) => locked.get(shipmentId)!.own)))).pipe(
            StorageError.refail("ShipmentStatusStore.lock")
          ),
      carriers: (tenantId, shipmentIds) => StorageError.refail("ShipmentStatusStore.carriers")(carriersOf(tenantId, shipmentIds)),
      read: (tenantId, shipmentIds) => StorageError.refail("ShipmentStatusStore.read")(read(tenantId, shipmentIds)),
      write: (tenantId, changes) => sql.withTransaction(write(tenantId, changes)).pipe(StorageError.refail("ShipmentStatusStore.write")),
      resolve: (tenantId, keys, carrier) =>
        sql.bulk(resolveKeys, [tenantId, textArray(keys), carrier === undefined ? null : textArray(carrier)], ["int8", "text"]).pipe(
          Effect.map((rows) => {
            const resolved = new Map(rows.map(([place, shipmentId]) => [place as number, shipmentId as string]))
            return keys.map((_, at) => resolved.get(at + 1))
          }),
          StorageError.refail("ShipmentStatusStore.resolve")
        ),
      find: (tenantId, lookups) =>
        sql.bulk(findStatuses, findValues(tenantId, lookups), ["int8", "bool", "bytea"]).pipe(
          Effect.map((rows) => {
            const found: Array<StatusFound | undefined> = lookups.map(() => undefined)
            for (const [place, own, body] of rows as ReadonlyArray<[number, boolean, Uint8Array]>) {
              found[place - 1] = own ? { own, verified: body } : { own, public: body }
            }
            return found
          }),
          StorageError.refail("ShipmentStatusStore.find")
        ),
      findPickedUp: (tenantId, { account, carrier, from, limit, to }) =>
        sql.bulk(statements.findPickedUp(schema), [tenantId, account, timestamptzArray([from, to]), limit, carrier === undefined ? null : textArray(carrier)], ["bytea"]).pipe(
          Effect.map((rows) => rows.map(([verified]) => verified as Uint8Array)),
          StorageError.refail("ShipmentStatusStore.findPickedUp")
        ),
      accountKnown: (tenantId, account, carrier) =>
        (carrier === undefined
          ? sql.bulk(statements.accountKnown(schema), [tenantId, account], ["bool"])
          : sql.bulk(statements.accountKnownTo(schema), [tenantId, account, textArray(carrier)], ["bool"])).pipe(
          Effect.map(([row]) => row![0] as boolean),
          StorageError.refail("ShipmentStatusStore.accountKnown")
        ),
      search: (tenantId, { keys, prefixes, shipmentId }, limit) =>
        sql.bulk(statements.searchStatuses(schema), [tenantId, shipmentId, textArray(keys), textArray(prefixes), limit], ["text", "text", "bytea"]).pipe(
          Effect.map((rows) => rows.map(statusOf)),
          StorageError.refail("ShipmentStatusStore.search")
        ),
      record: (tenantId, shipmentId, newest) => StorageError.refail("ShipmentStatusStore.record")(record(tenantId, shipmentId, newest)),
      prune: (tenantId, before) => StorageError.refail("ShipmentStatusStore.prune")(prune(tenantId, before))
    })
  })
)

type Row = ReadonlyArray<unknown>

const statusOf = ([shipmentId, state, verified]: Row): StoredStatus => ({
  shipmentId: shipmentId as string,
  state: state as string,
  verified: verified as Uint8Array
})

const putValues = (tenantId: string, statuses: ReadonlyArray<StatusWrite>) => [
  tenantId,
  textArray(statuses.map((each) => each.shipmentId)),
  textArray(statuses.map((each) => each.state)),
  byteaArray(statuses.map((each) => each.verified)),
  byteaArray(statuses.map((each) => each.public)),
  boolArray(statuses.map((each) => each.covered)),
  timestamptzArray(statuses.map((each) => each.pickupAt)),
  timestamptzArray(statuses.map((each) => each.deliveredAt ?? null))
]

const textsOf = (tenantId: string, statuses: ReadonlyArray<StatusWrite>, texts: (status: StatusWrite) => ReadonlyArray<string>) => [
  tenantId,
  textArray(statuses.map((each) => each.shipmentId)),
  textArray(statuses.map((each) => arrayLiteral(texts(each))))
]

const findValues = (tenantId: string, lookups: ReadonlyArray<StatusLookup>) => [
  tenantId,
  textArray(lookups.map((each) => each.key)),
  textArray(lookups.map((each) => each.own === "all" ? null : arrayLiteral(each.own)))
]
