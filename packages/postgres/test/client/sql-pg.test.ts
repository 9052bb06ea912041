/** Waybill over the `PgClient` of `@effect/sql-pg` that a host brings. */
import { PgClient as SqlPg } from "@effect/sql-pg"
import { assert, describe, expectTypeOf, inject, it, layer } from "@effect/vitest"
import { AccessStore, type StorageError, Transaction } from "@waybill/core"
import { Effect, Fiber, Layer, Queue, Redacted, type Scope, Stream } from "effect"
import type { SqlClient } from "effect/sql"
import pg from "pg"
import { type HostExecutor, PgClient, Sql, StoragePostgres } from "../../src/index.ts"
import { freshSchema } from "../TestStorage.ts"
import { pool, table, withSql } from "./database.ts"

const { byteaArray, int8Array, textArray, timestamptzArray } = Sql

const hosts = SqlPg.layer({ url: Redacted.make(inject("pgUrl")), maxConnections: 3 })
const renaming = SqlPg.layer({ url: Redacted.make(inject("pgUrl")), maxConnections: 1, transformResultNames: (name) => name.toUpperCase() })
const overHosts = Layer.provideMerge(PgClient.layerFromSqlPg, hosts)

layer(overHosts, { excludeTestServices: true })("the host's client of @effect/sql-pg", (it) => {
  it.effect("runs bulk statements with the results of Waybill's own pool", withSql(function*(sql) {
    const statement = `
      SELECT i AS id, t AS title, b AS body, at AS due, to_jsonb(t) AS doc, ARRAY[i, NULL] AS ids, i > 0 AS positive,
             $5::int8 AS scalar, '2026-01-02'::date AS day, NULL::text AS missing
      FROM unnest($1::int8[], $2::text[], $3::bytea[], $4::timestamptz[]) WITH ORDINALITY AS u(i, t, b, at, n) ORDER BY n
    `
    const ask = Effect.flatMap(PgClient.PgClient, (sql) =>
      sql.bulk(statement, [
        int8Array([1, -(2 ** 40), null]),
        textArray(["a,\"b\"\\", "ünï😀", null]),
        byteaArray([Buffer.of(0, 255), Buffer.of(), null]),
        timestamptzArray([0, 1_700_000_000_123, null]),
        10
      ], ["int8", "text", "bytea", "timestamptz", "jsonb", "int8[]", "bool", "int8", "date", "text"]))
    const onOwnPool = yield* Effect.provide(ask, Layer.fresh(pool()))
    // the package parses a JSON string into a string, which looks like its JSON text; documents are objects
    const withoutStrings = (rows: ReadonlyArray<ReadonlyArray<unknown>>) => rows.map((row) => row.with(4, null))
    assert.deepStrictEqual(withoutStrings(yield* ask), withoutStrings(onOwnPool))
    const [object] = yield* sql.bulk("SELECT '{\"a\": [1]}'::jsonb AS doc", [])
    assert.deepStrictEqual(JSON.parse(object?.[0] as string), { a: [1] })
    assert.deepStrictEqual(yield* sql.bulk("SELECT 'infinity'::timestamptz AS at", []), [[Infinity]])
  }))

  it.effect("runs ordinary statements with the results of Waybill's own pool", Effect.fnUntraced(function*() {
    const ask = Effect.flatMap(PgClient.PgClient, (sql) =>
      sql`
        SELECT 7::int8 AS a, '\\x00ff'::bytea AS b, '2026-01-02 03:04:05.678+02'::timestamptz AS c, '{"x": [1]}'::jsonb AS d,
               1.50::numeric AS e, '2026-01-02'::date AS f, ARRAY[1, NULL]::int8[] AS g, NULL::int8 AS h, ${3}::int4 + 1 AS i
      `)
    const rows = yield* ask
    assert.deepStrictEqual(rows, yield* Effect.provide(ask, Layer.fresh(pool())))
    assert.deepStrictEqual(Object.values(rows[0]!).slice(0, 2), [7, Buffer.of(0, 255)])
  }))

  it.effect("prepares a bulk statement once and no other, and ignores the names that the host wants", Effect.fnUntraced(function*() {
    const sql = yield* PgClient.PgClient
    for (let time = 0; time < 3; time++) assert.deepStrictEqual(yield* sql.bulk("SELECT 1 AS some_name", []), [[1]])
    const rows = yield* sql`SELECT statement AS some_name FROM pg_prepared_statements WHERE statement LIKE '%some_name%'`
    assert.deepStrictEqual(rows, [{ some_name: "SELECT 1 AS some_name" }])
    const [uses] = yield* sql`SELECT generic_plans + custom_plans AS uses FROM pg_prepared_statements WHERE statement LIKE '%some_name'`
    assert.deepStrictEqual(uses, { uses: 1 })
    assert.deepStrictEqual(yield* sql`SELECT '{"some_name": 1}'::jsonb AS some_name`, [{ some_name: { some_name: 1 } }])
  }, Effect.provide(Layer.fresh(Layer.provide(PgClient.layerFromSqlPg, renaming)))))

  it.effect("shares its open transaction in both directions", Effect.fnUntraced(function*() {
    const ours = yield* PgClient.PgClient
    const theirs = yield* SqlPg.PgClient
    const rows = yield* table("id int8")
    const pid = (sql: SqlClient.SqlClient) => Effect.map(sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`, ([row]) => row?.pid)
    const insert = (sql: SqlClient.SqlClient, id: number) => sql`INSERT INTO ${sql.literal(rows)} VALUES (${id})`
    for (const [outer, inner] of [[theirs, ours], [ours, theirs]] as const) {
      yield* Effect.flip(outer.withTransaction(Effect.gen(function*() {
        assert.strictEqual(yield* pid(outer), yield* pid(inner))
        yield* insert(outer, 1)
        yield* inner.withTransaction(insert(inner, 2))
        yield* ours.bulk(`INSERT INTO ${rows} VALUES ($1)`, [3])
        return yield* Effect.fail("roll back")
      })))
      yield* outer.withTransaction(Effect.gen(function*() {
        yield* insert(outer, 4)
        yield* Effect.flip(inner.withTransaction(Effect.andThen(insert(inner, 5), Effect.fail("savepoint"))))
      }))
    }
    assert.deepStrictEqual(yield* ours.bulk(`SELECT id FROM ${rows} ORDER BY id`, []), [[4], [4]])
  }))

  it.effect("runs afterCommit callbacks of both clients when the transaction of the host commits", Effect.fnUntraced(function*() {
    const ours = yield* PgClient.PgClient
    const theirs = yield* SqlPg.PgClient
    const seen: Array<string> = []
    yield* theirs.withTransaction(Effect.andThen(
      ours.afterCommit(Effect.sync(() => void seen.push("committed"))),
      Effect.sync(() => void seen.push("inside"))
    ))
    assert.deepStrictEqual(seen, ["inside", "committed"])
  }))

  it.effect("joins a pg transaction of the host as Waybill's own pool does", withSql(function*(sql) {
    const rows = yield* table("id int8")
    const client = yield* Effect.acquireRelease(
      Effect.promise(() => new pg.Client(inject("pgUrl")).connect() as Promise<pg.Client>),
      (client) => Effect.promise(() => client.end())
    )
    yield* Effect.promise(() => client.query("BEGIN"))
    yield* sql.joined(client)(sql.withTransaction(sql.bulk(`INSERT INTO ${rows} VALUES (1)`, [])))
    assert.deepStrictEqual(yield* sql.bulk(`SELECT id FROM ${rows}`, []), [])
    yield* Effect.promise(() => client.query("COMMIT"))
    assert.deepStrictEqual(yield* sql.bulk(`SELECT id FROM ${rows}`, []), [[1]])
  }))

  it.effect("names errors as Waybill's own pool does", withSql(function*(sql) {
    const rows = yield* table("id int8 CONSTRAINT only_once UNIQUE")
    const error = yield* Effect.flip(sql.bulk(`INSERT INTO ${rows} VALUES (1), (1)`, []))
    assert.strictEqual(error.reason._tag === "UniqueViolation" && error.reason.constraint, "only_once")
    assert.match(error.message, /duplicate key/)
    assert.strictEqual((yield* Effect.flip(sql.bulk("SELECT 1 / 0", []))).message, "division by zero")
  }))

  it.effect("listens to a channel", withSql(function*(sql) {
    const channel = `Test ${crypto.randomUUID()}`
    const heard = yield* Queue.unbounded<string>()
    const fiber = yield* Effect.forkScoped(Stream.runForEach(sql.listen(channel), (payload) => Queue.offer(heard, payload)))
    assert.strictEqual(yield* Queue.take(heard), "")
    yield* sql.notify(channel, "one")
    assert.strictEqual(yield* Queue.take(heard), "one")
    yield* Fiber.interrupt(fiber)
  }))

  it.effect("carries Waybill's storage, with its migrations", () => {
    const schema = freshSchema()
    return Effect.gen(function*() {
      const store = yield* AccessStore
      assert.deepStrictEqual(yield* store.listTenants, [])
      const transaction = yield* Transaction
      const theirs = yield* SqlPg.PgClient
      const xid = "SELECT pg_current_xact_id()::text AS xid"
      const [ofHandle, ofHost] = yield* transaction.run(Effect.scoped(Effect.gen(function*() {
        const handle = yield* transaction.handle as Effect.Effect<HostExecutor, StorageError, Scope.Scope>
        const { rows } = yield* Effect.promise(() => handle.executeSql(xid, []))
        return [rows[0], ...yield* theirs.unsafe(xid)]
      })))
      assert.deepStrictEqual(ofHandle, ofHost)
      const sql = yield* PgClient.PgClient
      yield* sql.unsafe(`DROP SCHEMA ${schema} CASCADE`)
    }).pipe(Effect.provide(Layer.provideMerge(StoragePostgres.layer({ schema, listen: false }), overHosts)))
  })
})

describe("the types of the layers", () => {
  it("accept the package's layer where its client works, and refuse it elsewhere", () => {
    expectTypeOf(Layer.provide(PgClient.layerFromSqlPg, hosts)).toEqualTypeOf<Layer.Layer<PgClient.PgClientService, Layer.Error<typeof hosts>>>()
    const storage = StoragePostgres.layer()
    expectTypeOf<Layer.Services<typeof storage>>().toEqualTypeOf<PgClient.PgClientService>()
    const unfinished = Layer.provide(storage, hosts)
    expectTypeOf<Layer.Services<typeof unfinished>>().toEqualTypeOf<PgClient.PgClientService>()
  })
})
