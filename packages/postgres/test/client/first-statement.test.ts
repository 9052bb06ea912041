/** A transaction begins with its first statement, in one round trip. */
import { assert, describe, inject, it } from "@effect/vitest"
import { Effect, Layer, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import pg from "pg"
import { int4Array } from "../../src/client/Sql.ts"
import { PgClient } from "../../src/client/index.ts"
import { pool, table } from "./database.ts"
import { recordingProxy } from "./RecordingProxy.ts"

/** A test on a pool of one connection. `roundTrips` takes the round trips since it was called last. */
const recorded = (body: (sql: PgClient.PgClient, roundTrips: () => ReadonlyArray<string>) => Generator<Effect.Effect<unknown, unknown, Scope.Scope>, void, never>) => () =>
  Effect.flatMap(recordingProxy, ({ takeRoundTrips, url }) =>
    Effect.flatMap(PgClient.PgClient, (sql) => {
      takeRoundTrips()
      return Effect.fnUntraced(body)(sql, takeRoundTrips)
    }).pipe(Effect.provide(pool({ url, maxConnections: 1 }))))

/** A host's pool of one connection. */
const hostPool = Layer.unwrap(Effect.map(
  Effect.acquireRelease(Effect.sync(() => new pg.Pool({ connectionString: inject("pgUrl"), max: 1 })), (hosts) => Effect.promise(() => hosts.end())),
  (hosts) => PgClient.layerFromPool(hosts)
))

describe("the first statement of a transaction", () => {
  it.live("is sent with BEGIN, prepared or not, and later statements are in the same transaction", recorded(function*(sql, roundTrips) {
    const text = `SELECT $1::int4 AS n, pg_current_xact_id()::text AS xid -- ${crypto.randomUUID()}`
    const xids: Array<unknown> = []
    // unnamed, then parsed under a name, then by that name
    for (const n of [1, 2, 3]) {
      yield* sql.withTransaction(Effect.gen(function*() {
        const first = yield* sql.bulk(text, [n])
        const second = yield* sql.bulk(text, [n + 1])
        assert.deepStrictEqual([first[0]![0], second[0]![0]], [n, n + 1])
        assert.strictEqual(first[0]![1], second[0]![1])
        xids.push(first[0]![1])
      }))
    }
    assert.strictEqual(new Set(xids).size, 3)
    assert.deepStrictEqual(roundTrips(), [1, 2, 3].flatMap(() => [`BEGIN ISOLATION LEVEL READ COMMITTED; ${text}`, text, "COMMIT"]))
  }))

  it.live("leaves the connection usable when it fails: the next transaction prepares and runs", recorded(function*(sql) {
    const rows = yield* table("n int4")
    const text = `INSERT INTO ${rows} SELECT 10 / n FROM unnest($1::int4[]) AS n -- ${crypto.randomUUID()}`
    const insert = (n: number) => sql.withTransaction(sql.bulk(text, [int4Array([n])]))
    // the second and the fourth fail: when the statement gets its name, and when it has one
    for (const n of [1, 0, 2, 0, 5]) {
      assert.strictEqual((yield* Effect.exit(insert(n)))._tag, n === 0 ? "Failure" : "Success")
    }
    const bad = `SELECT nothing_of_this_name -- ${crypto.randomUUID()}`
    for (let time = 0; time < 3; time++) {
      assert.match(String((yield* Effect.flip(sql.withTransaction(sql.bulk(bad, [])))).reason.cause), /nothing_of_this_name/)
    }
    assert.deepStrictEqual(yield* sql`SELECT n FROM ${sql.literal(rows)} ORDER BY n`.values, [[2], [5], [10]])
  }))

  it.live("is rolled back with the transaction", recorded(function*(sql) {
    const rows = yield* table("n int4")
    const text = `INSERT INTO ${rows} SELECT unnest($1::int4[])`
    for (const n of [1, 2, 3]) yield* Effect.flip(sql.withTransaction(Effect.andThen(sql.bulk(text, [int4Array([n])]), Effect.fail("no"))))
    assert.deepStrictEqual(yield* sql`SELECT n FROM ${sql.literal(rows)}`.values, [])
  }))

  it.live("is missing in an empty transaction, which sends neither BEGIN nor COMMIT", recorded(function*(sql, roundTrips) {
    yield* sql.withTransaction(Effect.void)
    yield* Effect.flip(sql.withTransaction(Effect.fail("no")))
    assert.deepStrictEqual(roundTrips(), [])
  }))

  it.live("of any kind is sent with BEGIN", recorded(function*(sql, roundTrips) {
    yield* sql.withTransaction(sql`SELECT 1`)
    yield* sql.withTransaction(sql.withTransaction(sql`SELECT 1`))
    assert.deepStrictEqual(roundTrips(), ["BEGIN ISOLATION LEVEL READ COMMITTED; SELECT 1", "COMMIT", "BEGIN ISOLATION LEVEL READ COMMITTED; SAVEPOINT waybill_1", "SELECT 1", "RELEASE SAVEPOINT waybill_1", "COMMIT"])
  }))

  it.live("is not run when BEGIN fails", recorded(function*(sql) {
    const rows = yield* table("n int4")
    const insert = sql`INSERT INTO ${sql.literal(rows)} VALUES (1)`
    const refused = Effect.provideService(sql.withTransaction(insert), SqlClient.BeginTransaction, "BEGIN ISOLATION LEVEL NONE")
    assert.strictEqual((yield* Effect.flip(refused)).reason._tag, "SqlSyntaxError")
    assert.deepStrictEqual(yield* sql`SELECT n FROM ${sql.literal(rows)}`, [])
  }))

  it.live.each([["Waybill's own pool", pool({ maxConnections: 1 })], ["a host's pool", hostPool]] as const)("is not followed by others outside of a transaction when BEGIN fails and the error is caught, on %s", ([, clients]) =>
    Effect.flatMap(PgClient.PgClient, Effect.fnUntraced(function*(sql) {
      const rows = yield* table("n int4")
      const insert = sql`INSERT INTO ${sql.literal(rows)} VALUES (1)`
      const caught = sql.withTransaction(Effect.andThen(Effect.ignore(insert), insert))
      const refused = Effect.provideService(caught, SqlClient.BeginTransaction, "BEGIN ISOLATION LEVEL NONE")
      assert.strictEqual((yield* Effect.flip(refused)).reason._tag, "SqlSyntaxError")
      assert.deepStrictEqual(yield* sql`SELECT n FROM ${sql.literal(rows)}`, [])
      yield* sql.withTransaction(insert)
      assert.deepStrictEqual(yield* sql`SELECT n FROM ${sql.literal(rows)}`, [{ n: 1 }])
    })).pipe(Effect.provide(clients), Effect.scoped))
})
