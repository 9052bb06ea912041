/** Parameters and results of each library. */
import { Effect, ManagedRuntime, Redacted } from "effect"
import knexOf from "knex"
import { afterAll, describe, expect, inject, it, onTestFinished } from "vitest"
import { type HostExecutor, PgClient, Sql } from "../../src/client/index.ts"
import { fromDrizzle } from "../../src/host/drizzle.ts"
import { fromKnex } from "../../src/host/knex.ts"
import { fromKysely } from "../../src/host/kysely.ts"
import { fromMikroOrm } from "../../src/host/mikro-orm.ts"
import { fromPostgresJs } from "../../src/host/postgres-js.ts"
import { fromPrisma } from "../../src/host/prisma.ts"
import { fromTypeOrm } from "../../src/host/typeorm.ts"
import { hosts, pgHost } from "./Hosts.ts"

const { byteaArray, int8Array, textArray, timestamptzArray } = Sql

const adapted = hosts.filter((host) => host !== pgHost).map((hostOf) => ({ host: hostOf({ url: inject("pgUrl"), max: 2 }) }))

describe.each(adapted)("the adapter for $host.name", ({ host }) => {
  const runtime = ManagedRuntime.make(PgClient.layer({ url: Redacted.make(inject("pgUrl")), maxConnections: 1 }))
  afterAll(async () => {
    await runtime.dispose()
    await host.close()
  })

  it("keeps placeholders unchanged: used twice, out of order, beside question marks and dollar signs", async () => {
    const { rows } = await host.transaction(({ within }) =>
      (within as HostExecutor).executeSql(
        "SELECT $2::text AS zulu, $1::int4 + 1 AS alpha, $1::int4 * 2 AS mike, '{\"k\": 1}'::jsonb ? 'k' AS has_key, 'why? $1' AS words_of_text, $3::text AS missing",
        [20, "it's $1? \\ \"so\"", null]
      ))
    expect(Object.entries(rows[0] as object)).toEqual([
      ["zulu", "it's $1? \\ \"so\""],
      ["alpha", 21],
      ["mike", 40],
      ["has_key", true],
      ["words_of_text", "why? $1"],
      ["missing", null]
    ])
  })

  it("carries arrays, bytes, numbers beyond 32 bits, timestamps and JSON like our own pool", async () => {
    const statement = `
      SELECT i AS id, t AS title, b AS body, at AS due, jsonb_build_object('of_title', t) AS doc, ARRAY[n, coalesce(i, 0)] AS ids, i > 0 AS positive,
             $5::int8 AS whole, $6::bytea AS file, $7::bool AS yes, $8::float8 AS part, $9::jsonb AS given
      FROM unnest($1::int8[], $2::text[], $3::bytea[], $4::timestamptz[]) WITH ORDINALITY AS u(i, t, b, at, n) ORDER BY n`
    const ask = Effect.flatMap(PgClient.PgClient, (sql) =>
      sql.bulk(
        statement,
        [
          int8Array([1, -(2 ** 40), null]),
          textArray(["a,\"b\"\\", "ünï😀", null]),
          byteaArray([Buffer.of(0, 255), Buffer.of(), null]),
          timestamptzArray([0, 1_700_000_000_123, null]),
          2 ** 45,
          new Uint8Array([1, 0, 255]),
          true,
          0.5,
          "{\"a\": [1, null]}"
        ],
        ["int8", "text", "bytea", "timestamptz", "jsonb", "int8[]", "bool", "int8", "bytea", "bool", "float8", "jsonb"]
      ))
    const read = (rows: ReadonlyArray<ReadonlyArray<unknown>>) =>
      rows.map((row) => row.with(4, JSON.parse(row[4] as string)).with(11, JSON.parse(row[11] as string)))
    const expected = read(await runtime.runPromise(ask))
    expect(expected).toHaveLength(3)
    const hosted = await host.transaction(({ within }) =>
      runtime.runPromise(Effect.flatMap(PgClient.PgClient, (sql) => sql.joined(within as HostExecutor)(ask))))
    expect(read(hosted)).toEqual(expected)
  })

  it("names a violated key as a constraint error", async () => {
    let reason: string | undefined
    const transaction = host.transaction(async ({ within }) => {
      const error = await runtime.runPromise(Effect.flatMap(PgClient.PgClient, (sql) =>
        sql.joined(within as HostExecutor)(Effect.flip(sql.withTransaction(Effect.andThen(
          sql`CREATE TEMPORARY TABLE once (id int4 PRIMARY KEY) ON COMMIT DROP`,
          Effect.andThen(sql`INSERT INTO once VALUES (1)`, sql`INSERT INTO once VALUES (1)`)
        ))))))
      reason = error.reason._tag
    })
    // which rolls back after any failed statement, also one in a savepoint
    if (host.name === "postgres.js") await expect(transaction).rejects.toThrow("duplicate key")
    else await transaction
    expect(reason).toBe("UniqueViolation")
  })
})

describe("adapters", () => {
  it.each([
    ["fromDrizzle(tx)", fromDrizzle],
    ["fromKysely(trx)", fromKysely],
    ["fromKnex(trx)", fromKnex],
    ["fromPrisma(tx)", fromPrisma],
    ["fromTypeOrm(manager)", fromTypeOrm],
    ["fromMikroOrm(em)", fromMikroOrm],
    ["fromPostgresJs(tx)", fromPostgresJs]
  ] as const)("%s says where its transaction comes from when it is given anything else", (name, from) => {
    for (const wrong of [undefined, null, 1, "tx", {}, [], () => {}]) {
      expect(() => from(wrong as never)).toThrow(TypeError)
      expect(() => from(wrong as never)).toThrow(`${name} takes the `)
    }
  })

  it("give the same executor for the same transaction, so that calls can wait for each other", () => {
    const tx = { $queryRawUnsafe: async () => [] }
    expect(fromPrisma(tx)).toBe(fromPrisma(tx))
    expect(fromPrisma(tx)).not.toBe(fromPrisma({ ...tx }))
  })

  it("keep the library's own transaction", () => {
    const tx = { $queryRawUnsafe: async () => [] }
    expect(fromPrisma(tx).original).toBe(tx)
  })

  it("accept the list of rows that postProcessResponse of Knex may return", async () => {
    const db = knexOf({ client: "pg", connection: inject("pgUrl"), postProcessResponse: (result) => result.rows ?? result })
    onTestFinished(() => db.destroy())
    expect((await db.transaction((trx) => fromKnex(trx).executeSql("SELECT $1::int4 AS id", [1]))).rows).toEqual([{ id: 1 }])
  })

  it("accept the list of rows that some drivers of Drizzle return", async () => {
    const rows = [{ id: 1 }]
    const executor = fromDrizzle({ execute: async () => Object.assign(rows, { count: 1 }), rollback: () => { throw new Error() } })
    expect((await executor.executeSql("SELECT 1 AS id", [])).rows).toBe(rows)
  })
})
