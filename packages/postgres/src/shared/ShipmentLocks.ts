/** The lock that orders what happens to a shipment, whichever area writes, and the accounts that come with it. */
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { int4Array, int8Array, PgArray, textArray } from "../client/PgBulk.ts"
import type { PgClient } from "../client/PgClient.ts"
import * as statements from "./ShipmentSql.ts"

export interface ShipmentClaim {
  readonly shipmentId: string
  /** Who may see it from now on; `undefined` leaves it as it is. */
  readonly accounts: ReadonlyArray<string> | undefined
  /** Event numbers to take, and the highest that a sender gave itself. */
  readonly needed?: number
  readonly highestGiven?: number
}

export const arrayLiteral = (elements: ReadonlyArray<string>): string => new PgArray("text", elements).literal()

/** Locks the shipments until the transaction ends and answers the first event number taken for each. */
export const makeLockShipments = (sql: PgClient, schema: string) => {
  const lock = statements.lockShipments(schema)
  const replaceAccounts = statements.replaceAccounts(schema)

  return (tenantId: string, claims: ReadonlyArray<ShipmentClaim>): Effect.Effect<ReadonlyMap<string, number>, SqlError> =>
    Effect.gen(function*() {
      const rows = (yield* sql.bulk(lock, [
        tenantId,
        textArray(claims.map((each) => each.shipmentId)),
        int4Array(claims.map((each) => each.needed ?? 0)),
        int8Array(claims.map((each) => each.highestGiven ?? 0)),
        textArray(claims.map((each) => each.accounts === undefined ? null : arrayLiteral(each.accounts)))
      ], ["text", "int8", "bool"])) as ReadonlyArray<[string, number, boolean]>
      const reassigned = new Set(rows.filter(([, , changed]) => changed).map(([shipmentId]) => shipmentId))
      if (reassigned.size > 0) {
        const changed = claims.filter((each) => reassigned.has(each.shipmentId))
        yield* sql.bulk(replaceAccounts, [
          tenantId,
          textArray(changed.map((each) => each.shipmentId)),
          textArray(changed.map((each) => arrayLiteral(each.accounts!)))
        ])
      }
      return new Map(rows.map(([shipmentId, first]) => [shipmentId, first]))
    })
}
