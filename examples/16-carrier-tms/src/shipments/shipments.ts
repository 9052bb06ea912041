/** Reads of shipments. A customer's reads name its accounts; what belongs to others does not exist for it. */
import { and, asc, desc, eq, inArray } from "drizzle-orm"
import { alias } from "drizzle-orm/pg-core"
import type { Database, Transaction } from "../database/connect.ts"
import { accounts, type Charge, charges, customers, drivers, shipments, stops } from "../database/schema.ts"
import type { Freight } from "../freight/messages.ts"

const pickup = alias(stops, "pickup")
const delivery = alias(stops, "delivery")

export interface Listed extends Freight {
  readonly driver: typeof drivers.$inferSelect | null
}

/** The freight to read: all of it for dispatchers, or that of some accounts. */
export type Scope = "all" | ReadonlyArray<string>

const inScope = (scope: Scope) => scope === "all" ? undefined : inArray(shipments.account, [...scope])

const selected = (from: Database | Transaction) =>
  from.select({ shipment: shipments, pickup, delivery, customer: customers, driver: drivers })
    .from(shipments)
    .innerJoin(pickup, and(eq(pickup.shipment, shipments.number), eq(pickup.kind, "pickup")))
    .innerJoin(delivery, and(eq(delivery.shipment, shipments.number), eq(delivery.kind, "delivery")))
    .innerJoin(accounts, eq(accounts.number, shipments.account))
    .innerJoin(customers, eq(customers.id, accounts.customerId))
    .leftJoin(drivers, eq(drivers.id, shipments.driverId))

/** The newest first, a page at most. */
export const listShipments = (from: Database, scope: Scope): Promise<ReadonlyArray<Listed>> =>
  selected(from).where(inScope(scope)).orderBy(desc(shipments.number)).limit(100)

export const findShipment = async (from: Database | Transaction, number: number, scope: Scope): Promise<Listed | undefined> =>
  (await selected(from).where(and(eq(shipments.number, number), inScope(scope))))[0]

export const chargesOf = (from: Database | Transaction, number: number): Promise<ReadonlyArray<Charge>> =>
  from.select().from(charges).where(eq(charges.shipment, number)).orderBy(asc(charges.id))
