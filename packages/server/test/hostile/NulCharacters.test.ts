/** The service on Postgres, whose texts cannot contain U+0000; the service in memory would not notice. */
import { applyMigrations, postgresStorage } from "@waybill/postgres"
import { randomUUID } from "node:crypto"
import pg from "pg"
import { expect, inject, it } from "vitest"

// Loaded by path, because another package's tests cannot be imported.
const { failuresOfNul } = await import(new URL("../../../http/test/hostile/NulCharacters.ts", import.meta.url).pathname) as {
  readonly failuresOfNul: (storage: unknown) => Promise<{ readonly sent: number; readonly failures: ReadonlyArray<string> }>
}

it("a NUL in any text of any call is refused or kept, and never fails the storage", async () => {
  const pool = new pg.Pool({ connectionString: inject("pgUrl"), max: 4 })
  const schema = `nul_${randomUUID().slice(0, 8)}`
  try {
    await applyMigrations({ pool, schema })
    const { failures, sent } = await failuresOfNul(postgresStorage({ pool, schema, listen: false }))
    expect(failures).toEqual([])
    expect(sent).toBeGreaterThan(1000)
  } finally {
    await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`)
    await pool.end()
  }
}, 120_000)
