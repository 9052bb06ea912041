/** The row lock that orders writes to a shipment across all areas, with its accounts and carrier. */
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { PgClient } from "../client/PgClient.ts"
import { boolArray, int4Array, int8Array, textArray } from "../client/SqlRow.ts"
import { raw, type Statement, tenant } from "../client/SqlStatement.ts"
import { textLists } from "./GivenRows.ts"
import { documents, invoices, replaceAccountsOf } from "./InvoiceAccountsSql.ts"
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

interface LockedShipment {
  /** The first allocated event number. */
  readonly first: number
  /** Whether the writer may write to it. */
  readonly own: boolean
}

/** Locks the shipments until the transaction ends. `writer`: the numbers of a carrier with DOT or MC. */
export const makeLockShipments = (sql: PgClient, schema: Statement) =>
(
  tenantId: string,
  claims: ReadonlyArray<ShipmentClaim>,
  writer?: ReadonlyArray<string>
): Effect.Effect<ReadonlyMap<string, LockedShipment>, SqlError> =>
  Effect.gen(function*() {
    const locked = yield* sql.rows(
      statements.lockedRow,
      statements.lockShipments(schema, {
        tenant: tenant(tenantId),
        shipmentIds: textArray(claims.map((each) => each.shipmentId)),
        needed: int4Array(claims.map((each) => each.needed ?? 0)),
        highest: int8Array(claims.map((each) => each.highestGiven ?? 0)),
        accounts: textLists(claims.map((each) => each.accounts ?? null)),
        carriers: textLists(claims.map((each) => each.carrier ?? null)),
        written: boolArray(claims.map((each) => each.written === true)),
        writer: textArray(writer),
        anyCarrier: raw(String(writer === undefined))
      })
    )
    const reassigned = locked.filter((each) => each.reassigned && each.own)
    const idsOf = (shipments: typeof reassigned) => textArray(shipments.map((each) => each.shipmentId))
    if (reassigned.length > 0) yield* sql.run(statements.replaceAccounts(schema, tenant(tenantId), idsOf(reassigned)))
    const invoiced = reassigned.filter((each) => each.invoiced)
    for (const rows of invoiced.length > 0 ? [invoices, documents] : []) {
      yield* sql.run(replaceAccountsOf(schema, tenant(tenantId), rows, { shipmentIds: idsOf(invoiced) }))
    }
    return new Map(locked.map(({ first, own, shipmentId }) => [shipmentId, { first, own }]))
  })

/** The carrier of each shipment that has been written. */
export const makeCarriersOf = (sql: PgClient, schema: Statement) =>
(tenantId: string, shipmentIds: ReadonlyArray<string>): Effect.Effect<ReadonlyMap<string, ReadonlyArray<string>>, SqlError> =>
  Effect.map(
    sql.rows(statements.carrierRow, statements.carriersOf(schema, tenant(tenantId), textArray(shipmentIds))),
    (rows) => new Map(rows.map(({ carrier, shipmentId }) => [shipmentId, carrier]))
  )
