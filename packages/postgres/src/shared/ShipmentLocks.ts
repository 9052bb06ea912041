/** The row lock that orders writes to a shipment across all areas, with its accounts and carrier. */
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { boolArray, int4Array, int8Array, PgArray, textArray } from "../client/PgBulk.ts"
import type { PgClient } from "../client/PgClient.ts"
import * as statements from "./ShipmentSql.ts"

export interface ShipmentClaim {
  readonly shipmentId: string
  /** The accounts that may see it; `undefined` keeps the stored ones. */
  readonly accounts: ReadonlyArray<string> | undefined
  /** The carrier that owns it. A writer with numbers sets it only for a shipment without earlier writes. */
  readonly carrier?: ReadonlyArray<string> | undefined
  /** Whether this call writes data of the shipment. */
  readonly written?: boolean | undefined
  /** How many event numbers to allocate, and the highest number that a sender gave itself. */
  readonly needed?: number
  readonly highestGiven?: number
}

export interface LockedShipment {
  /** The first allocated event number. */
  readonly first: number
  /** Whether the writer may write to it. */
  readonly own: boolean
}

export const arrayLiteral = (elements: ReadonlyArray<string>): string => new PgArray("text", elements).literal()

const literalOf = (elements: ReadonlyArray<string> | undefined) => elements === undefined ? null : arrayLiteral(elements)

/** Locks the shipments until the transaction ends. `writer`: the numbers of a carrier with DOT or MC. */
export const makeLockShipments = (sql: PgClient, schema: string) => {
  const lock = statements.lockShipments(schema)
  const replaceAccounts = statements.replaceAccounts(schema)

  return (
    tenantId: string,
    claims: ReadonlyArray<ShipmentClaim>,
    writer?: ReadonlyArray<string>
  ): Effect.Effect<ReadonlyMap<string, LockedShipment>, SqlError> =>
    Effect.gen(function*() {
      const rows = (yield* sql.bulk(lock, [
        tenantId,
        textArray(claims.map((each) => each.shipmentId)),
        int4Array(claims.map((each) => each.needed ?? 0)),
        int8Array(claims.map((each) => each.highestGiven ?? 0)),
        textArray(claims.map((each) => literalOf(each.accounts))),
        textArray(claims.map((each) => literalOf(each.carrier))),
        boolArray(claims.map((each) => each.written === true)),
        writer === undefined ? null : textArray(writer)
      ], ["text", "int8", "bool", "bool"])) as ReadonlyArray<[string, number, boolean, boolean]>
      const reassigned = rows.filter(([, , changed, own]) => changed && own).map(([shipmentId]) => shipmentId)
      if (reassigned.length > 0) yield* sql.bulk(replaceAccounts, [tenantId, textArray(reassigned)])
      return new Map(rows.map(([shipmentId, first, , own]) => [shipmentId, { first, own }]))
    })
}

/** The carrier of each shipment that has been written. */
export const makeCarriersOf = (sql: PgClient, schema: string) => {
  const carriersOf = statements.carriersOf(schema)
  return (tenantId: string, shipmentIds: ReadonlyArray<string>): Effect.Effect<ReadonlyMap<string, ReadonlyArray<string>>, SqlError> =>
    Effect.map(
      sql.bulk(carriersOf, [tenantId, textArray(shipmentIds)], ["text", "text[]"]),
      (rows) => new Map(rows as ReadonlyArray<[string, ReadonlyArray<string>]>)
    )
}
