/** The migrations of both: the TMS's tables in the schema `tms`, Waybill's in `waybill`. Neither writes into the other's schema. */
import { applyMigrations } from "@waybill/postgres"
import { drizzle } from "drizzle-orm/node-postgres"
import { migrate } from "drizzle-orm/node-postgres/migrator"
import { fileURLToPath } from "node:url"
import type pg from "pg"

export const waybillSchema = "waybill"

/** Any number of its own; concurrent migrations of the TMS wait for each other on it. */
const lockKey = 7_716_033

export const migrateBoth = async (pool: pg.Pool): Promise<void> => {
  await migrateTms(pool)
  await applyMigrations({ pool, schema: waybillSchema })
}

export const migrateTms = async (pool: pg.Pool): Promise<void> => {
  const client = await pool.connect()
  try {
    // Drizzle has no lock of its own
    await client.query("SELECT pg_advisory_lock($1)", [lockKey])
    await migrate(drizzle({ client }), { migrationsFolder: fileURLToPath(new URL("../../migrations", import.meta.url)) })
    await client.query("SELECT pg_advisory_unlock($1)", [lockKey])
    client.release()
  } catch (error) {
    // ends the connection, and with it the lock
    client.release(true)
    throw error
  }
}
