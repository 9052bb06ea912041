/** Operator calls on destinations and deliveries, on Postgres. */
import {
  type DeliveryTroubles,
  type AttemptRecord,
  type BacklogPosition,
  DeliveryControl,
  type PurgePosition,
  type PurgeStep,
  type TracedDelivery,
  type TraceSubject
} from "@waybill/core/delivery"
import { Effect } from "effect"
import { bool, type Decoded, int8, timestamptz, uuid } from "../../client/SqlRow.ts"
import type { Statement } from "../../client/SqlStatement.ts"
import { storeLayer } from "../../shared/StoreLayer.ts"
import * as backlogs from "./BacklogSql.ts"
import * as statements from "./DeliveryControlSql.ts"
import { lockDestination, lockFreeDestination } from "../DestinationSql.ts"
import { lockDestinationsOf } from "./DeliveryRetrySql.ts"
import { trimDrops } from "../DropRecordsSql.ts"
import type { PayloadSource } from "../PayloadSource.ts"
import { troubleRow, troubles } from "./TroubleSql.ts"

/** Before every entry: keys are not empty. */
const atStart: PurgePosition = { key: "", sequence: 0, ref: 0 }
const beforeDestinations: BacklogPosition = { destinationId: "00000000-0000-0000-0000-000000000000", ...atStart }

/** Over the tables that hold the bytes of entries. */
export const layer = (sources: ReadonlyArray<PayloadSource>) => storeLayer(DeliveryControl, ({ schema, sql }) => {
  const change = (statement: Statement) =>
    Effect.map(sql.rows(bool, statement), ([isChanged]) => isChanged === undefined ? "unknown" : isChanged ? "changed" : "unchanged")

  /** One step that removes entries of a destination, behind its lock; none if it cannot be locked. */
  const removed = (tenantId: string, destinationId: string, after: PurgePosition, { lock, step }: { readonly lock: typeof lockDestination; readonly step: Statement }) =>
    sql.withTransaction(Effect.gen(function*() {
      const locked = yield* sql.rows(uuid, lock(schema, tenantId, destinationId))
      if (locked.length === 0) return { dropped: 0, next: undefined } satisfies PurgeStep
      const { dropped, key, more, ref, sequence } = yield* sql.one(backlogs.stepRow, step)
      if (dropped > 0) yield* sql.run(trimDrops(schema, tenantId, [destinationId]))
      return { dropped, next: more ? { key: key ?? after.key, sequence: sequence ?? after.sequence, ref: ref ?? after.ref } : undefined } satisfies PurgeStep
    }))

  const countBacklog = Effect.fnUntraced(function*(tenantId: string, widthMillis: number, after = beforeDestinations) {
    const rows = yield* sql.rows(backlogs.countedRow, backlogs.countBacklog(schema, tenantId, widthMillis, after))
    const { key, lastDestinationId, more, now, ref, sequence } = rows[0]!
    return {
      now,
      counts: rows.flatMap(({ client, destinationId, dropped, entries, place }) =>
        destinationId === undefined ? [] : [{ destinationId, client: client!, queuedFrom: place! * widthMillis, entries: entries!, dropped: dropped! }]),
      next: more ? { destinationId: lastDestinationId!, key: key!, sequence: sequence!, ref: ref! } : undefined
    }
  })

  const trace = Effect.fnUntraced(function*(tenantId: string, destinationId: string, subject: TraceSubject) {
    const { behind, droppedAt, dropReason, now, refs, waiting } = yield* sql.one(
      statements.traceRow,
      statements.traceEntries(schema, tenantId, destinationId, subject, sources)
    )
    const traced = yield* sql.rows(statements.tracedRow, statements.tracedDeliveries(schema, tenantId, destinationId, subject.key, refs))
    const recent = yield* sql.rows(timestamptz, statements.recentDeliveries(schema, tenantId, destinationId, now))
    return {
      now,
      waiting,
      behind: waiting && (behind || traced.some(({ state }) => state === "sending" || state === "waiting")),
      deliveries: traced.filter(({ own }) => own).map(tracedOf),
      dropped: dropReason === undefined ? undefined : { reason: dropReason, at: droppedAt! },
      recent: recent.toReversed()
    }
  })

  return {
    pause: (tenantId, destinationId, pause) => change(statements.pauseDestination(schema, tenantId, destinationId, pause)),
    resume: (tenantId, destinationId, pauses) => change(statements.resumeDestination(schema, tenantId, destinationId, pauses)),
    purgeNext: (tenantId, destinationId, after = atStart) =>
      removed(tenantId, destinationId, after, { lock: lockDestination, step: backlogs.purgeNext(schema, tenantId, destinationId, after) }),
    countBacklog,
    dropExcess: (tenantId, destinationId, excess, after = atStart) =>
      removed(tenantId, destinationId, after, { lock: lockFreeDestination, step: backlogs.dropExcess(schema, tenantId, destinationId, excess, after) }),
    // a retry of many locks them in another order
    dismiss: (tenantId, deliveryIds) =>
      sql.withTransaction(Effect.andThen(
        sql.run(lockDestinationsOf(schema, tenantId, deliveryIds)),
        sql.one(int8, statements.dismissDeadLetters(schema, tenantId, deliveryIds))
      )),
    trace,
    health: (tenantId) => sql.one(statements.healthRow, statements.tenantHealth(schema, tenantId)),
    troubles: Effect.map(sql.rows(troubleRow, troubles(schema)), troublesOf)
  }
})

const tracedOf = ({ lastAttempt, own: _, ...delivery }: Decoded<typeof statements.tracedRow>): TracedDelivery => ({
  ...delivery,
  lastAttempt: lastAttempt === undefined ? undefined : JSON.parse(lastAttempt) as AttemptRecord
})

const troublesOf = (rows: ReadonlyArray<Decoded<typeof troubleRow>>): DeliveryTroubles => ({
  now: rows[0]?.now ?? 0,
  sources: rows.flatMap(({ destinationId, now: _now, tenantId: _, ...source }) => destinationId === undefined ? [source] : []),
  destinations: rows.flatMap(({ breakersOpen, destinationId, now: _, paused, tenantId, ...rest }) =>
    tenantId === undefined || destinationId === undefined ? [] : [{ ...rest, tenantId, destinationId, paused: paused > 0, breakerOpen: breakersOpen > 0 }])
})
