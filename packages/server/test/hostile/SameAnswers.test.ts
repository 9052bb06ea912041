/** The service in memory, which tests of others rely on, beside the one on Postgres. `WAYBILL_SEED=7` starts at another seed. */
import { applyMigrations, postgresStorage } from "@waybill/postgres"
import { memoryStorage } from "@waybill/testkit"
import { randomUUID } from "node:crypto"
import pg from "pg"
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest"

interface Comparison {
  readonly differences: ReadonlyArray<string>
  readonly deliveries: number
  readonly pages: number
  readonly accepted: ReadonlySet<string>
}

// Loaded by path, because another package's tests cannot be imported.
const { compareServices } = await import(new URL("../../../http/test/hostile/SameAnswers.ts", import.meta.url).pathname) as {
  readonly compareServices: (services: { readonly storages: ReadonlyArray<unknown>; readonly seed: number; readonly calls: number }) => Promise<Comparison>
}

const isLong = process.env["WAYBILL_PROOF"] === "long"
const from = Number(process.env["WAYBILL_SEED"] ?? 1)
const seeds = Array.from({ length: isLong ? 40 : 2 }, (_, at) => from + at)

describe("a service in memory and one on Postgres", () => {
  let pool: pg.Pool
  beforeAll(() => {
    pool = new pg.Pool({ connectionString: inject("pgUrl"), max: 4 })
  })
  afterAll(() => pool.end())

  it.each(seeds)("answer any calls alike, and send the same (seed %i)", async (seed) => {
    const schema = `same_${randomUUID().slice(0, 8)}`
    await applyMigrations({ pool, schema })
    try {
      const calls = isLong ? 2000 : 700
      const found = await compareServices({ storages: [memoryStorage(), postgresStorage({ pool, schema, listen: false })], seed, calls })
      if (isLong) process.stdout.write(`storages: ${calls} calls, ${found.deliveries} deliveries, ${found.pages} further pages\n`)
      expect(found.differences.join("\n\n")).toBe("")
      expect(found.deliveries).toBeGreaterThan(50)
      expect(found.pages).toBeGreaterThan(5)
      expect(found.accepted.size).toBeGreaterThan(50)
    } finally {
      await pool.query(`DROP SCHEMA "${schema}" CASCADE`)
    }
  }, 120_000)
})
