import { assert, describe, inject, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import pg from "pg"
import { PgClient, Sql } from "../../src/client/index.ts"
import { activity, eventually, table } from "./database.ts"

/** A test on Waybill's client over a pool of the host, whose connections have a name of their own. */
const onHostPool = (
  options: pg.PoolConfig,
  body: (given: { readonly sql: PgClient.PgClient; readonly name: string }) => Generator<Effect.Effect<unknown, unknown, Scope.Scope>, void, never>
) =>
  Effect.fnUntraced(function*() {
    const name = `host-${crypto.randomUUID().slice(0, 8)}`
    const hosts = new pg.Pool({ connectionString: inject("pgUrl"), application_name: name, max: 1, ...options })
    yield* Effect.addFinalizer(() => Effect.promise(() => hosts.end()))
    yield* Effect.flatMap(PgClient.PgClient, (sql) => Effect.fnUntraced(body)({ sql, name })).pipe(Effect.provide(PgClient.layerFromPool(hosts)))
  })

/** As OpenTelemetry's instrumentation with `addSqlCommenterCommentToQueries` does. */
class CommentingClient extends pg.Client {
  override query(...[statement, ...rest]: Array<any>): any {
    return super.query(statement.name === undefined ? { ...statement, text: `${statement.text} /*traceparent='00-1-2-01'*/` } : statement, ...rest)
  }
}

const plain = (rows: ReadonlyArray<object>) => rows.map((row) => ({ ...row }))

describe.concurrent("a pool of the host", () => {
  it.live("with a query_timeout fails a statement without an answer as a lost connection, and cancels it", onHostPool({ query_timeout: 300 }, function*({ sql, name }) {
    const error = yield* Effect.flip(sql.withTransaction(sql`SELECT pg_sleep(30)`))
    assert.deepStrictEqual([error.reason._tag, error.message], ["ConnectionError", "The server did not answer in time"])
    yield* eventually(Effect.map(activity(name), (all) => all.every(({ state }) => state !== "active")))
    assert.deepStrictEqual(plain(yield* sql`SELECT 1::int8 AS n`), [{ n: 1 }])
  }))

  it.live("runs statements of several fibers in one transaction one after the other", onHostPool({}, function*({ sql }) {
    const rows = yield* table("id int8")
    const insert = (id: number) => sql`INSERT INTO ${sql.literal(rows)} VALUES (${id}) RETURNING id`
    const stored = yield* sql.withTransaction(Effect.forEach([1, 2, 3, 4, 5], insert, { concurrency: "unbounded" }))
    assert.deepStrictEqual(stored.flatMap(plain), [1, 2, 3, 4, 5].map((id) => ({ id })))
  }))

  it.live("keeps its connection when a parameter cannot be encoded", onHostPool({}, function*({ sql }) {
    const pid = sql`SELECT pg_backend_pid()`.values
    const before = yield* pid
    for (let time = 0; time < 3; time++) {
      assert.strictEqual((yield* Effect.flip(sql.bulk("SELECT $1::int8[]", [Sql.int8Array([1, 1.5])]))).message, "Element 1 of a int8[] parameter is not a int8.")
    }
    assert.deepStrictEqual(yield* pid, before)
  }))

  it.live("reads bytes whatever its bytea_output", onHostPool({ options: "-c bytea_output=escape" }, function*({ sql }) {
    const every = Buffer.from(Uint8Array.from({ length: 512 }, (_, at) => at & 255))
    const asText = Buffer.from("\\\\x41\\101")
    assert.deepStrictEqual(plain(yield* sql`SELECT ${every}::bytea AS every, ${asText}::bytea AS text, ''::bytea AS none`), [{ every, text: asText, none: Buffer.of() }])
    assert.deepStrictEqual(yield* sql.bulk("SELECT unnest($1::bytea[])", [Sql.byteaArray([every, asText])]), [[every], [asText]])
  }))

  it.live("runs statements on clients whose wrapper copies them", onHostPool({ Client: CommentingClient } as pg.PoolConfig, function*({ sql }) {
    assert.deepStrictEqual(yield* sql.bulk("SELECT $1::int8, unnest($2::text[])", [7, Sql.textArray(["a", "b"])]), [[7, "a"], [7, "b"]])
    assert.deepStrictEqual(yield* sql.withTransaction(sql`SELECT ${"x"}::text AS x`.values), [["x"]])
  }))

  it.live("returns no connection to the host inside a transaction", onHostPool({}, function*({ sql, name }) {
    yield* sql`BEGIN`
    yield* eventually(Effect.map(activity(name), (all) => all.every(({ state }) => state === "idle")))
    assert.match((yield* Effect.flip(sql`SAVEPOINT s`)).message, /transaction block/)
  }))
})

describe("a BEGIN that fails on a pool of the host", () => {
  it.live("is sent again before the next statement, so that nothing is written outside of the transaction", onHostPool({}, function*({ sql }) {
    const rows = yield* table("id int8")
    const insert = sql`INSERT INTO ${sql.literal(rows)} VALUES (1)`
    const caught = Effect.andThen(Effect.ignore(insert), insert)
    const error = yield* Effect.flip(Effect.provideService(sql.withTransaction(caught), SqlClient.BeginTransaction, "BEGIN ISOLATION LEVEL NONE"))
    assert.strictEqual(error.reason._tag, "SqlSyntaxError")
    assert.deepStrictEqual(yield* sql`SELECT id FROM ${sql.literal(rows)}`, [])
  }))
})
