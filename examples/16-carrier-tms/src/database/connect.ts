/** The pool that the TMS and Waybill share, and Drizzle over it. */
import { drizzle, type NodePgDatabase } from "drizzle-orm/node-postgres"
import pg from "pg"

export type Database = NodePgDatabase
/** What `database.transaction` hands out. */
export type Transaction = Parameters<Parameters<Database["transaction"]>[0]>[0]

export const connect = (databaseUrl: string): { readonly pool: pg.Pool; readonly database: Database } => {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 10 })
  // a broken idle connection is replaced when it is needed
  pool.on("error", () => {})
  return { pool, database: drizzle({ client: pool }) }
}
