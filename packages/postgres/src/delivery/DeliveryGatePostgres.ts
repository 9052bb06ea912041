/** What a claim found that may not be sent any more: dropped, or taken out of its frozen delivery. */
import type { LaneLease } from "@waybill/core"
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { int8Array, textArray, uuidArray } from "../client/PgBulk.ts"
import type { PgClient } from "../client/PgClient.ts"
import * as statements from "./DeliveryDropSql.ts"
import type { PayloadSource } from "./PayloadSource.ts"

/** A key of a leased lane with entries that the lane's client may no longer see. */
export interface UnseenKey {
  readonly lane: LaneLease
  readonly key: string
}

/** A frozen delivery of a leased lane with something that the lane's client may no longer see. */
export interface UnseenDelivery {
  readonly lane: LaneLease
  readonly deliveryId: string
}

export const makeDeliveryGate = (sql: PgClient, schema: string, sources: ReadonlyArray<PayloadSource>) => {
  const dropUnseen = statements.dropUnseen(schema, sources)
  const withdraw = statements.withdraw(schema, sources)
  const forgetDrops = statements.forgetDrops(schema)
  const remainders = sources.flatMap(({ remainder }) => remainder === undefined ? [] : [remainder(schema)])

  /** Answers how many entries went. */
  const drop = (tenantId: string, unseen: ReadonlyArray<UnseenKey>): Effect.Effect<number, SqlError> =>
    sql.withTransaction(Effect.gen(function*() {
      const gone = yield* sql.bulk(dropUnseen, [
        tenantId,
        "not_visible",
        uuidArray(unseen.map(({ lane }) => lane.laneId)),
        int8Array(unseen.map(({ lane }) => lane.token)),
        textArray(unseen.map(({ key }) => key))
      ])
      if (gone.length === 0) return 0
      const lanes = uuidArray(gone.map(([laneId]) => laneId as string))
      for (const remainder of remainders) yield* sql.bulk(remainder, [tenantId, lanes, int8Array(gone.map(([, ref]) => ref as number))])
      yield* sql.bulk(forgetDrops, [tenantId, uuidArray([...new Set(gone.map(([laneId]) => laneId as string))])])
      return gone.length
    }))

  const takeBack = (tenantId: string, unseen: ReadonlyArray<UnseenDelivery>): Effect.Effect<void, SqlError> =>
    Effect.asVoid(sql.bulk(withdraw, [
      tenantId,
      uuidArray(unseen.map(({ lane }) => lane.laneId)),
      int8Array(unseen.map(({ lane }) => lane.token)),
      uuidArray(unseen.map(({ deliveryId }) => deliveryId)),
      statements.withdrawnReason
    ]))

  return { drop, takeBack }
}
