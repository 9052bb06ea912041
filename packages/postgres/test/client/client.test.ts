import { assert, describe, inject, it, layer } from "@effect/vitest"
import { Effect, Layer, Redacted, Stream } from "effect"
import { SqlClient } from "effect/sql"
import pg from "pg"
import { vi } from "vitest"
import { PgClient } from "../../src/client/index.ts"
import { activity, administer, eventually, meeting, onPool, pool, table, withSql } from "./database.ts"
import { recordingProxy } from "./RecordingProxy.ts"

const plain = (rows: ReadonlyArray<any>) => rows.map((row) => ({ ...row }))

layer(pool({ applicationName: "client-test" }), { excludeTestServices: true })("the client", (it) => {
  it.effect("decodes rows independently of parsers that the host registered with pg", withSql(function*(sql) {
    const int8 = pg.types.getTypeParser(20)
    pg.types.setTypeParser(20, () => "from the host")
    yield* Effect.addFinalizer(() => Effect.sync(() => pg.types.setTypeParser(20, int8)))
    const rows = yield* sql`
      SELECT 7::int8 AS a, '\\x00ff'::bytea AS b, '2026-01-02 03:04:05.678+02'::timestamptz AS c, '{"x": [1]}'::jsonb AS d,
             1.50::numeric AS e, '2026-01-02'::date AS f, ARRAY[1, NULL]::int8[] AS g, ARRAY['a,"b"', NULL] AS h, NULL::int8 AS i,
             true AS j, 1.5::float8 AS k
    `
    assert.deepStrictEqual(plain(rows), [{
      a: 7,
      b: Buffer.of(0, 255),
      c: new Date("2026-01-02T01:04:05.678Z"),
      d: { x: [1] },
      e: "1.50",
      f: "2026-01-02",
      g: [1, null],
      h: ["a,\"b\"", null],
      i: null,
      j: true,
      k: 1.5
    }])
  }))

  it.effect("returns timestamps without a time zone as the text that Postgres writes", withSql(function*(sql) {
    const texts = [
      "2026-01-02 03:04:05", "2026-01-02 03:04:05.6", "2026-01-02 03:04:05.000001", "1999-12-31 23:59:59.999999", "0044-03-15 12:00:00.5 BC",
      "0001-12-31 00:00:00 BC", "20261-01-01 00:00:00", "infinity", "-infinity"
    ]
    for (const text of texts) assert.deepStrictEqual(plain(yield* sql`SELECT ${text}::timestamp AS at, ARRAY[${text}::timestamp, NULL] AS list`), [{ at: text, list: [text, null] }])
  }))

  it.effect("accepts lists and dates as parameters", withSql(function*(sql) {
    const at = new Date("2026-01-02T03:04:05.678Z")
    const rows = yield* sql`SELECT ${[1, null, -3]}::int8[] AS a, ${["a,\"b\"", "NULL", "\\", ""]}::text[] AS b, ${[Buffer.of(0, 255)]}::bytea[] AS c, ${[at]}::timestamptz[] AS d, ${at}::timestamptz AS e`
    assert.deepStrictEqual(plain(rows), [{ a: [1, null, -3], b: ["a,\"b\"", "NULL", "\\", ""], c: [Buffer.of(0, 255)], d: [at], e: at }])
  }))

  it.effect("fails for an int8 beyond the safe integers", withSql(function*(sql) {
    assert.match((yield* Effect.flip(sql`SELECT 9007199254740992::int8 AS n`)).message, /9007199254740992/)
    assert.deepStrictEqual(plain(yield* sql`SELECT 1 AS n`), [{ n: 1 }])
  }))

  it.effect("inserts records, updates from values, finds in lists and accepts JSON", withSql(function*(sql) {
    const rows = yield* table("id int8 PRIMARY KEY, name text, doc jsonb")
    yield* sql`INSERT INTO ${sql.literal(rows)} ${sql.insert([
      { id: 1, name: "one", doc: sql.json({ list: [1, "ü"] }) },
      { id: 2, name: "two", doc: sql.json(["a"]) }
    ])}`
    yield* sql`
      UPDATE ${sql.literal(rows)} AS r SET name = v.name
      FROM ${sql.updateValues([{ id: 1, name: "ONE" }, { id: 2, name: "TWO" }], "v")}
      WHERE r.id = v.id::int8
    `
    const found = yield* sql`SELECT id, name, doc FROM ${sql.literal(rows)} WHERE ${sql.in("id", [1, 2, 3])} ORDER BY id`
    assert.deepStrictEqual(plain(found), [
      { id: 1, name: "ONE", doc: { list: [1, "ü"] } },
      { id: 2, name: "TWO", doc: ["a"] }
    ])
    const streamed = yield* Stream.runCollect(sql`SELECT id FROM ${sql.literal(rows)} ORDER BY id`.stream)
    assert.deepStrictEqual(plain(streamed), [{ id: 1 }, { id: 2 }])
    assert.deepStrictEqual(yield* sql`SELECT id, name FROM ${sql.literal(rows)} ORDER BY id`.values, [[1, "ONE"], [2, "TWO"]])
  }))

  it.effect("quotes identifiers", withSql(function*(sql) {
    assert.deepStrictEqual(sql`SELECT ${1} FROM ${sql("a\"b.c")}`.compile(), ["SELECT $1 FROM \"a\"\"b\".\"c\"", [1]])
  }))

  it.effect("names the error", withSql(function*(sql) {
    const rows = yield* table("id int8 CONSTRAINT only_once UNIQUE, n int8 CHECK (n > 0)")
    const insert = (id: number, n: number) => sql`INSERT INTO ${sql.literal(rows)} VALUES (${id}, ${n})`
    yield* insert(1, 1)
    const twice = yield* Effect.flip(insert(1, 1))
    assert.strictEqual(twice.reason._tag === "UniqueViolation" && twice.reason.constraint, "only_once")
    assert.strictEqual((yield* Effect.flip(insert(2, 0))).reason._tag, "ConstraintError")
    assert.strictEqual((yield* Effect.flip(sql`SELEC`)).reason._tag, "SqlSyntaxError")
    const late = sql`SELECT pg_sleep(5)`.pipe(Effect.tap(() => Effect.void))
    const timedOut = yield* Effect.flip(sql.withTransaction(Effect.andThen(sql`SET LOCAL statement_timeout = 20`, late)))
    assert.strictEqual(timedOut.reason._tag, "StatementTimeoutError")
  }))

  it.effect("names deadlocks and serialization failures as retryable", withSql(function*(sql) {
    const rows = yield* table("id int8, n int8")
    yield* sql`INSERT INTO ${sql.literal(rows)} VALUES (1, 0), (2, 0)`
    const add = (id: number) => sql`UPDATE ${sql.literal(rows)} SET n = n + 1 WHERE id = ${id}`
    const cross = (meet: Effect.Effect<void>, first: number, second: number) =>
      sql.withTransaction(Effect.andThen(Effect.andThen(add(first), meet), add(second)))
    const crossing = yield* meeting(2)
    const exits = yield* Effect.all([cross(crossing, 1, 2), cross(crossing, 2, 1)].map(Effect.result), { concurrency: 2 })

    const read = sql`SELECT n FROM ${sql.literal(rows)} WHERE id = 1`
    const late = Effect.andThen(Effect.andThen(read, yield* meeting(2)), add(1)).pipe(
      sql.withTransaction,
      Effect.provideService(SqlClient.BeginTransaction, "BEGIN ISOLATION LEVEL SERIALIZABLE")
    )
    const serial = yield* Effect.all([late, late].map(Effect.result), { concurrency: 2 })
    const failures = [...exits, ...serial].flatMap((result) => result._tag === "Failure" ? [result.failure] : [])
    assert.deepStrictEqual(failures.map(({ isRetryable, reason }) => [reason._tag, isRetryable]), [
      ["DeadlockError", true],
      ["SerializationError", true]
    ])
  }))

  it.effect("prepares a repeated statement", withSql(function*(sql) {
    yield* Effect.scoped(Effect.gen(function*() {
      const connection = yield* sql.reserve
      const text = `SELECT $1::int AS n -- ${crypto.randomUUID()}`
      const names = () => connection.executeUnprepared("SELECT name FROM pg_prepared_statements WHERE statement LIKE '%" + text.slice(-36) + "'", [], undefined)
      yield* connection.execute(text, [1], undefined)
      assert.strictEqual((yield* names()).length, 0)
      yield* connection.execute(text, [2], undefined)
      assert.deepStrictEqual(plain(yield* connection.execute(text, [3], undefined)), [{ n: 3 }])
      assert.strictEqual((yield* names()).length, 1)
    }))
  }))

  it.effect("plans a prepared statement again after a slow one, when its table has grown", withSql(function*(sql) {
    // no statement is slow by this clock, however busy the machine is
    let [at, step] = [performance.now(), 0]
    const now = vi.spyOn(performance, "now").mockImplementation(() => at += step)
    yield* Effect.addFinalizer(() => Effect.sync(() => now.mockRestore()))
    const isPlannedAgain = Effect.scoped(Effect.gen(function*() {
      const rows = yield* table("id int8 PRIMARY KEY, n int8")
      yield* administer(`VACUUM (ANALYZE) ${rows}`)
      const connection = yield* sql.reserve
      const read = connection.execute(`SELECT n FROM ${rows} WHERE id = $1`, [1], undefined)
      for (let n = 0; n < 8; n++) yield* read
      yield* administer(`INSERT INTO ${rows} SELECT n, n FROM generate_series(1, 20000) AS n`)
      const [{ name }] = yield* connection.executeUnprepared(`SELECT name FROM pg_prepared_statements WHERE statement LIKE '%${rows}%'`, [], undefined)
      const plan = Effect.map(connection.executeUnprepared(`EXPLAIN EXECUTE ${name}(1)`, [], undefined), (lines) => JSON.stringify(lines))
      // Postgres drops all plans itself when other tests create many tables at this moment
      if (!(yield* plan).includes("Seq Scan")) return false
      // in place of the statement that the old plan makes slow
      step = 1100
      yield* connection.execute("SELECT 1", [], undefined)
      step = 0
      assert.deepStrictEqual(plain(yield* read), [{ n: 1 }])
      assert.include(yield* plan, "Index Scan")
      return true
    }))
    let isShown = false
    for (let tables = 0; tables < 10 && !isShown; tables++) isShown = yield* isPlannedAgain
    assert.isTrue(isShown)
  }))

  it.effect("rolls back a failed transaction, and only the savepoint that fails inside one", withSql(function*(sql) {
    const rows = yield* table("id int8")
    const insert = (id: number) => sql`INSERT INTO ${sql.literal(rows)} VALUES (${id})`
    const ids = sql`SELECT id FROM ${sql.literal(rows)} ORDER BY id`.values
    yield* Effect.flip(sql.withTransaction(Effect.andThen(insert(1), Effect.fail("no"))))
    assert.deepStrictEqual(yield* ids, [])
    yield* sql.withTransaction(Effect.gen(function*() {
      yield* insert(2)
      yield* Effect.flip(sql.withTransaction(Effect.andThen(insert(3), sql`SELECT 1 / 0`)))
      yield* sql.withTransaction(Effect.andThen(insert(4), sql.withTransaction(insert(5))))
      yield* insert(6)
    }))
    assert.deepStrictEqual(yield* ids, [[2], [4], [5], [6]])
  }))

  it.effect("fails a commit that Postgres turned into a rollback", withSql(function*(sql) {
    const rows = yield* table("id int8")
    const swallowed = Effect.andThen(sql`INSERT INTO ${sql.literal(rows)} VALUES (1)`, Effect.ignore(sql`SELECT 1 / 0`))
    assert.match((yield* Effect.flip(sql.withTransaction(swallowed))).message, /Nothing was stored/)
    assert.match((yield* Effect.flip(sql.withTransaction(sql.withTransaction(swallowed)))).message, /transaction is aborted/)
  }))

  it.effect("keeps the connection after a deferred constraint refused the commit", Effect.fnUntraced(function*() {
    const sql = yield* SqlClient.SqlClient
    const pid = Effect.map(sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`, ([row]) => row?.pid)
    const rows = yield* table("id int8 UNIQUE DEFERRABLE INITIALLY DEFERRED")
    const before = yield* pid
    const error = yield* Effect.flip(sql.withTransaction(sql`INSERT INTO ${sql.literal(rows)} VALUES (1), (1)`))
    assert.strictEqual(error.reason._tag, "UniqueViolation")
    assert.strictEqual(yield* pid, before)
  }, Effect.provide(Layer.fresh(pool({ maxConnections: 1 })))))

  it.effect("runs afterCommit callbacks after a commit, and not after a rollback", withSql(function*(sql) {
    const seen: Array<string> = []
    const note = (text: string) => sql.afterCommit(Effect.sync(() => void seen.push(text)))
    yield* sql.withTransaction(Effect.andThen(note("kept"), Effect.sync(() => seen.push("before"))))
    yield* Effect.flip(sql.withTransaction(Effect.andThen(note("dropped"), Effect.fail("no"))))
    assert.deepStrictEqual(seen, ["before", "kept"])
  }))

  it.effect("runs statements of several fibers in one transaction one after the other", Effect.fnUntraced(function*() {
    const proxy = yield* recordingProxy
    const sums = yield* Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      return yield* sql.withTransaction(
        Effect.forEach([1, 2, 3, 4, 5], (n) => sql<{ n: number }>`SELECT ${n}::int AS n, pg_sleep(0.01)`, { concurrency: "unbounded" })
      )
    }).pipe(Effect.provide(Layer.fresh(pool({ url: proxy.url }))))
    assert.deepStrictEqual(sums.map(([row]) => row?.n), [1, 2, 3, 4, 5])
    assert.strictEqual(proxy.most(), 1)
  }))

  it.effect("shows its name to the server and returns no connection inside a transaction", withSql(function*(sql) {
    yield* sql`BEGIN`
    assert.match((yield* Effect.flip(sql`SAVEPOINT s`)).message, /transaction block/)
    const states = (yield* activity("client-test")).map(({ state }) => state)
    assert.isAtLeast(states.length, 1)
    assert.notInclude(states, "idle in transaction")
  }))
})

describe("a pool", () => {
  it.live("fails at once without a server", Effect.fnUntraced(function*() {
    const build = Layer.build(pool({ url: Redacted.make("postgres://postgres:secret-word@127.0.0.1:1/postgres") }))
    const error = yield* Effect.flip(build)
    assert.strictEqual(error.reason._tag, "ConnectionError")
    assert.notInclude(JSON.stringify(error) + String(error), "secret-word")
  }))

  it.live("fails at once with a wrong password", Effect.fnUntraced(function*() {
    const url = new URL(inject("pgUrl"))
    const role = `r_${crypto.randomUUID().slice(0, 8)}`
    yield* administer(`CREATE ROLE ${role} LOGIN PASSWORD 'right'`)
    yield* Effect.addFinalizer(() => administer(`DROP ROLE ${role}`))
    Object.assign(url, { username: role, password: "secret-word" })
    const error = yield* Effect.flip(Layer.build(pool({ url: Redacted.make(url.href) })))
    assert.strictEqual(error.reason._tag, "AuthenticationError")
    assert.notInclude(JSON.stringify(error) + String(error), "secret-word")
  }))

  it.live("of the host is used and never ended", Effect.fnUntraced(function*() {
    const hosts = new pg.Pool({ connectionString: inject("pgUrl"), max: 2 })
    yield* Effect.addFinalizer(() => Effect.promise(() => hosts.end()))
    yield* Effect.gen(function*() {
      const sql = yield* PgClient.PgClient
      assert.deepStrictEqual(plain(yield* sql`SELECT 1::int8 AS n`), [{ n: 1 }])
      assert.deepStrictEqual(yield* sql.bulk("SELECT 1::int8, '\\xff'::bytea", []), [[1, Buffer.of(255)]])
      yield* sql.withTransaction(sql`SELECT 1`)
    }).pipe(Effect.provide(PgClient.layerFromPool(hosts)))
    assert.isFalse(hosts.ending)
    assert.strictEqual(hosts.idleCount, hosts.totalCount)
    assert.strictEqual(hosts.listenerCount("error"), 0)
    assert.strictEqual((yield* Effect.promise(() => hosts.query("SELECT 1 AS n"))).rows[0].n, 1)
  }))

  it.live("replaces a connection at its maximum age, also while it is unused", onPool(function*({ name }) {
    const [first] = yield* activity(name)
    yield* eventually(Effect.map(activity(name), ([other]) => other !== undefined && other.pid !== first?.pid))
  }, { connectionTTL: "200 millis", minConnections: 1 }))

  it.live("closes unused connections, but not the minimum", onPool(function*({ sql, name }) {
    const meet = yield* meeting(3)
    const held = sql.withTransaction(Effect.andThen(sql`SELECT 1`, meet))
    yield* Effect.all([held, held, held], { concurrency: 3 })
    assert.lengthOf(yield* activity(name), 3)
    yield* eventually(Effect.map(activity(name), (all) => all.length === 1))
  }, { idleTimeout: "300 millis", minConnections: 1, maxConnections: 4 }))

  it.live("prepares nothing when that is turned off", onPool(function*({ sql }) {
    for (let time = 0; time < 3; time++) yield* sql`SELECT ${time}::int AS n`
    assert.deepStrictEqual(yield* sql`SELECT name FROM pg_prepared_statements`, [])
  }, { maxConnections: 1, prepare: false }))
})
