/** What a claim found that may not be sent any more: dropped, or taken out of its frozen delivery. */
import type { DestinationLease } from "@waybill/core"
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { int8Array, textArray, uuidArray } from "../client/PgBulk.ts"
import type { PgClient } from "../client/PgClient.ts"
import * as statements from "./DeliveryDropSql.ts"
import type { PayloadSource } from "./PayloadSource.ts"

/** A key of a leased destination with entries that the destination's client may no longer see. */
export interface UnseenKey {
  readonly destination: DestinationLease
  readonly key: string
}

/** A frozen delivery of a leased destination with something that the destination's client may no longer see. */
export interface UnseenDelivery {
  readonly destination: DestinationLease
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
        uuidArray(unseen.map(({ destination }) => destination.destinationId)),
        int8Array(unseen.map(({ destination }) => destination.token)),
        textArray(unseen.map(({ key }) => key))
      ])
      if (gone.length === 0) return 0
      const destinations = uuidArray(gone.map(([destinationId]) => destinationId as string))
      for (const remainder of remainders) yield* sql.bulk(remainder, [tenantId, destinations, int8Array(gone.map(([, ref]) => ref as number))])
      yield* sql.bulk(forgetDrops, [tenantId, uuidArray([...new Set(gone.map(([destinationId]) => destinationId as string))])])
      return gone.length
    }))

  const takeBack = (tenantId: string, unseen: ReadonlyArray<UnseenDelivery>): Effect.Effect<void, SqlError> =>
    Effect.asVoid(sql.bulk(withdraw, [
      tenantId,
      uuidArray(unseen.map(({ destination }) => destination.destinationId)),
      int8Array(unseen.map(({ destination }) => destination.token)),
      uuidArray(unseen.map(({ deliveryId }) => deliveryId)),
      statements.withdrawnReason
    ]))

  return { drop, takeBack }
}
