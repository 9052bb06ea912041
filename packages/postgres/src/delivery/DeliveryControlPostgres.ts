/** What operators do to destinations and deliveries, on Postgres. */
import {
  type AttemptRecord,
  type BacklogExcess,
  type BacklogPosition,
  DeliveryControl,
  type DeliveryState,
  type PurgePosition,
  StorageError,
  type TracedDelivery,
  type TraceSubject
} from "@waybill/core"
import { Effect, Layer, Option } from "effect"
import { int8Array, textArray, uuidArray } from "../client/PgBulk.ts"
import { PgClient } from "../client/PgClient.ts"
import { WaybillSchema } from "../shared/Schema.ts"
import * as statements from "./DeliveryControlSql.ts"
import * as drops from "./DeliveryDropSql.ts"
import { lockDestination } from "./DeliveryQueueSql.ts"
import type { PayloadSource } from "./PayloadSource.ts"

/** Before every entry: keys are not empty. */
const atStart: PurgePosition = { key: "", sequence: 0, ref: 0 }
const beforeDestinations: BacklogPosition = { destinationId: "00000000-0000-0000-0000-000000000000", ...atStart }

type CountedRow = readonly [number, boolean, string | null, string | null, number | null, number | null, string | null, number, number, number]

/** Over the tables that hold the bytes of entries. */
export const layer = (sources: ReadonlyArray<PayloadSource>) =>
  Layer.effect(
    DeliveryControl,
    Effect.gen(function*() {
      const sql = yield* PgClient
      const { quoted: schema } = yield* WaybillSchema
      const traceDestination = statements.traceDestination(schema, sources)

      /** Whether the statement answered the destination. */
      const found = (statement: string, values: ReadonlyArray<string>, operation: string) =>
        sql.bulk(statement, values, ["uuid"]).pipe(Effect.map((rows) => rows.length > 0), StorageError.refail(`DeliveryControl.${operation}`))

      const purgeNext = (tenantId: string, destinationId: string, after = atStart) =>
        sql.withTransaction(Effect.gen(function*() {
          yield* sql.bulk(lockDestination(schema), [tenantId, destinationId], ["uuid"])
          const [row] = yield* sql.bulk(statements.purgeNext(schema), [tenantId, destinationId, after.key, after.sequence, after.ref], ["int8", "bool", "text", "int8", "int8"])
          const [dropped, more, key, sequence, ref] = row as [number, boolean, string, number, number]
          if (dropped > 0) yield* sql.bulk(statements.trimDrops(schema), [tenantId, destinationId])
          return { dropped, next: more ? { key, sequence, ref } : undefined }
        })).pipe(StorageError.refail("DeliveryControl.purgeNext"))

      const countBacklog = Effect.fnUntraced(function*(tenantId: string, widthMillis: number, after = beforeDestinations) {
        const rows = (yield* sql.bulk(
          drops.countBacklog(schema),
          [tenantId, widthMillis, after.destinationId, after.key, after.sequence, after.ref],
          ["float8", "bool", "uuid", "text", "int8", "int8", "uuid", "int8", "int8", "int8"]
        )) as ReadonlyArray<ReadonlyArray<unknown>> as ReadonlyArray<CountedRow>
        const [now, more, lastDestination, key, sequence, ref] = rows[0]!
        return {
          now,
          counts: rows.flatMap(([, , , , , , destinationId, place, entries, dropped]) =>
            destinationId === null ? [] : [{ destinationId, queuedFrom: place * widthMillis, entries, dropped }]),
          next: more ? { destinationId: lastDestination!, key: key!, sequence: sequence!, ref: ref! } : undefined
        }
      }, StorageError.refail("DeliveryControl.countBacklog"))

      const dropExcess = (tenantId: string, destinationId: string, excess: BacklogExcess, after = atStart) =>
        sql.withTransaction(Effect.gen(function*() {
          yield* sql.bulk(lockDestination(schema), [tenantId, destinationId], ["uuid"])
          const [row] = yield* sql.bulk(
            drops.dropExcess(schema),
            [tenantId, excess.reason, destinationId, after.key, after.sequence, after.ref, excess.queuedBefore, excess.limit, excess.dropped],
            ["int8", "bool", "text", "int8", "int8"]
          )
          const [dropped, more, key, sequence, ref] = row as [number, boolean, string, number, number]
          if (dropped > 0) yield* sql.bulk(drops.forgetDrops(schema), [tenantId, uuidArray([destinationId])])
          return { dropped, next: more ? { key, sequence, ref } : undefined }
        })).pipe(StorageError.refail("DeliveryControl.dropExcess"))

      const trace = Effect.fnUntraced(function*(tenantId: string, destinationId: string, { key, orderIds }: TraceSubject) {
        const [row] = yield* sql.bulk(traceDestination, [tenantId, destinationId, key, orderIds === undefined ? null : textArray(orderIds)])
        const [now, waiting, behind, dropped, refs] = row as [number, boolean, boolean, readonly [string, string] | null, ReadonlyArray<number> | null]
        const rows = yield* sql.bulk(statements.traceDeliveriesOf(schema), [tenantId, destinationId, key, refs === null ? null : int8Array(refs)])
        const deliveries = rows.map((each) => ({ delivery: tracedOf(each), own: each[5] === true }))
        return {
          now,
          waiting,
          behind: waiting && (behind || deliveries.some(({ delivery: { state } }) => state === "sending" || state === "waiting")),
          deliveries: deliveries.filter(({ own }) => own).map(({ delivery }) => delivery),
          dropped: dropped === null ? undefined : { reason: dropped[0], at: Number(dropped[1]) }
        }
      }, StorageError.refail("DeliveryControl.trace"))

      return DeliveryControl.of({
        pause: (tenantId, destinationId, reason) => found(statements.pauseDestination(schema), [tenantId, destinationId, reason], "pause"),
        resume: (tenantId, destinationId) => found(statements.resumeDestination(schema), [tenantId, destinationId], "resume"),
        resumeOwn: (tenantId, destinationId) => found(statements.resumeOwnDestination(schema), [tenantId, destinationId], "resumeOwn"),
        beginPurge: (tenantId, destinationId) => found(statements.beginPurge(schema), [tenantId, destinationId], "beginPurge"),
        purgeNext,
        endPurge: (tenantId, destinationId) =>
          sql.bulk(statements.endPurge(schema), [tenantId, destinationId]).pipe(Effect.asVoid, StorageError.refail("DeliveryControl.endPurge")),
        countBacklog,
        dropExcess,
        dismiss: (tenantId, deliveryId) =>
          sql.bulk(statements.dismiss(schema), [tenantId, deliveryId], ["text"]).pipe(
            Effect.map(([row]) => Option.map(Option.fromUndefinedOr(row), ([state]) => state as DeliveryState)),
            StorageError.refail("DeliveryControl.dismiss")
          ),
        trace,
        health: (tenantId) =>
          sql.bulk(statements.health(schema), [tenantId], ["int8", "int8", "int8", "timestamptz", "int8"]).pipe(
            Effect.map(([row]) => {
              const [subscriptions, inTrouble, waiting, oldest, dead] = row as [number, number, number, number | null, number]
              return { subscriptions, inTrouble, waiting, oldestWaitingAt: oldest ?? undefined, dead }
            }),
            StorageError.refail("DeliveryControl.health")
          )
      })
    })
  )

const tracedOf = ([deliveryId, state, attempt, last, sentAt]: ReadonlyArray<unknown>): TracedDelivery => ({
  deliveryId: deliveryId as string,
  state: state as DeliveryState,
  attempt: attempt as number,
  lastAttempt: last === null ? undefined : JSON.parse(last as string) as AttemptRecord,
  sentAt: sentAt as number
})
