/** The transaction of an action. */
import type { Waybill, WaybillWithin } from "@waybill/http"
import type { PostgresTransaction } from "@waybill/postgres"
import { fromDrizzle } from "@waybill/postgres/drizzle"
import type { Database, Transaction } from "../database/connect.ts"
import { carrier } from "./principals.ts"

/** One transaction for the TMS's tables and for Waybill. If `work` rejects, nothing of both is stored, and nothing is sent. */
export type Transact = <A>(work: (tx: Transaction, freight: WaybillWithin) => Promise<A>) => Promise<A>

export const transactOver = (database: Database, waybill: Waybill<PostgresTransaction>): Transact => async (work) => {
  const result = await database.transaction((tx) => work(tx, waybill.within(fromDrizzle(tx))))
  // deliver now; if this fails, the workers find it within a second, and the commit stands
  await waybill.wake(carrier.tenantId).catch(() => {})
  return result
}
