/** Pickups that customers order. The TMS accepts each, in the transaction in which Waybill stores the answer; a dispatcher sends a driver. */
import type { HostPickupDesk } from "@waybill/http"
import type { PostgresTransaction } from "@waybill/postgres"
import { and, asc, eq } from "drizzle-orm"
import { drizzle } from "drizzle-orm/node-postgres"
import type pg from "pg"
import type { Database, Transaction } from "../database/connect.ts"
import { drivers, pickupOrders } from "../database/schema.ts"
import { carrier, tmsPrincipal } from "../freight/principals.ts"
import type { Transact } from "../freight/transact.ts"
import { Refused } from "./dispatch.ts"

export const pickupNumberOf = (number: number): string => `PU-${number}`
const numberOf = (pickupNumber: string): number => Number(pickupNumber.slice("PU-".length))

/** Drizzle over the desk's transaction: the TMS's own, or one that Waybill began on the TMS's pool. */
export const drizzleOver = (transaction: PostgresTransaction): Database | Transaction =>
  "executeSql" in transaction ? transaction.original as Transaction : drizzle({ client: transaction as pg.PoolClient })

/** `over` is another function in tests. */
export const pickupDesk = <Tx>(over: (transaction: Tx) => Database | Transaction): HostPickupDesk<Tx> => ({
  decide: async ({ before, request, requestId }, { transaction }) => {
    const [place] = request.pickupAddress
    const asked = { company: place!.orgAddressName, city: place!.orgCity, state: place!.orgState, readyAt: request.readyTime ?? request.readyDate ?? "not given" }
    // a change keeps its number; the same order again gets the number that it has
    const [stored] = before === undefined
      ? await over(transaction).insert(pickupOrders).values({ requestId, ...asked }).onConflictDoUpdate({ target: pickupOrders.requestId, set: asked }).returning()
      : await over(transaction).update(pickupOrders).set(asked).where(eq(pickupOrders.number, numberOf(before.carrierPickupNumber))).returning()
    if (stored === undefined) return { decision: "reject", messages: ["This pickup is unknown to dispatch."] }
    return { decision: "accept", carrierPickupNumber: pickupNumberOf(stored.number), carrierName: carrier.name, scac: carrier.scac }
  },
  cancelled: async ({ carrierPickupNumber }, { transaction }) => {
    await over(transaction).update(pickupOrders).set({ status: "cancelled" }).where(eq(pickupOrders.number, numberOf(carrierPickupNumber)))
  }
})

/** Those that wait for a driver, the oldest first, a page at most. */
export const waitingPickups = (database: Database): Promise<ReadonlyArray<typeof pickupOrders.$inferSelect>> =>
  database.select().from(pickupOrders).where(eq(pickupOrders.status, "ordered")).orderBy(asc(pickupOrders.number)).limit(100)

export const sendDriver = (transact: Transact, number: number, driverId: number): Promise<void> =>
  transact(async (tx, freight) => {
    const [driver] = await tx.select().from(drivers).where(eq(drivers.id, driverId))
    if (driver === undefined) throw new Refused("There is no such driver.", 404)
    const sent = await tx.update(pickupOrders).set({ status: "sent", driverId }).where(and(eq(pickupOrders.number, number), eq(pickupOrders.status, "ordered"))).returning()
    if (sent.length === 0) throw new Refused(`Pickup ${pickupNumberOf(number)} does not wait for a driver.`)
    await freight.pickups.report(tmsPrincipal, pickupNumberOf(number), { status: "En Route" })
  })
