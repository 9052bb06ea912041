import { assert, describe, inject, layer } from "@effect/vitest"
import { Effect, Exit } from "effect"
import pg from "pg"
import { type HostClient, type HostExecutor, Sql } from "../../src/client/index.ts"
import { pool, table, withSql } from "./database.ts"

const { byteaArray, int8Array, textArray, timestamptzArray } = Sql

/** The host's own client, as its own program would open it. */
const hostClient = Effect.acquireRelease(
  Effect.promise(() => new pg.Client(inject("pgUrl")).connect() as Promise<pg.Client>),
  (client) => Effect.promise(() => client.end())
)

/** A thin ORM adapter: two arguments in, rows as objects out, with values as its driver decodes them. */
const executor = (client: pg.Client): HostExecutor => ({ executeSql: (text, values) => client.query(text, [...values]) })

/** A driver that decodes more types than pg, like Prisma's and postgres.js. */
const richExecutor = (client: pg.Client): HostExecutor => ({
  executeSql: async (text, values) => {
    const result = await client.query({ text, values: [...values], types: richTypes })
    return { rows: result.rows }
  }
})
const richTypes = {
  getTypeParser: (oid: number, format?: any): any =>
    oid === 20
      ? BigInt
      : oid === 17
      ? (hex: string) => Uint8Array.from(Buffer.from(hex.slice(2), "hex"))
      : pg.types.getTypeParser(oid, format)
}

const hosts: ReadonlyArray<readonly [string, (client: pg.Client) => HostClient | HostExecutor]> = [
  ["a pg client", (client) => client],
  ["an executor", executor],
  ["an executor of a driver with richer values", richExecutor]
]

layer(pool({ maxConnections: 2 }), { excludeTestServices: true })("joined to the transaction of", (it) => {
  describe.each(hosts)("%s", (_, hostOf) => {
    it.effect("the host, its commit keeps our writes and its rollback leaves nothing", withSql(function*(sql) {
      const rows = yield* table("id int8, by text")
      const client = yield* hostClient
      for (const [id, end] of [[1, "ROLLBACK"], [2, "COMMIT"]] as const) {
        yield* Effect.promise(() => client.query("BEGIN"))
        yield* Effect.promise(() => client.query(`INSERT INTO ${rows} VALUES ($1, 'host')`, [id]))
        yield* sql.joined(hostOf(client))(Effect.gen(function*() {
          yield* sql`INSERT INTO ${sql.literal(rows)} VALUES (${id}, 'us')`
          assert.strictEqual((yield* sql`SELECT id FROM ${sql.literal(rows)} WHERE id = ${id}`).length, 2)
        }))
        assert.deepStrictEqual(yield* sql`SELECT id FROM ${sql.literal(rows)}`, [], "nobody sees it before the commit")
        yield* Effect.promise(() => client.query(end))
      }
      assert.deepStrictEqual(yield* sql.bulk(`SELECT id, by FROM ${rows} ORDER BY by`, []), [[2, "host"], [2, "us"]])
    }))

    it.effect("the host, a transaction of ours is a savepoint that rolls back alone", withSql(function*(sql) {
      const rows = yield* table("id int8")
      const insert = (id: number) => sql`INSERT INTO ${sql.literal(rows)} VALUES (${id})`
      const client = yield* hostClient
      yield* Effect.promise(() => client.query("BEGIN"))
      const exit = yield* sql.joined(hostOf(client))(Effect.gen(function*() {
        yield* sql.withTransaction(Effect.andThen(insert(1), sql.withTransaction(insert(2))))
        yield* Effect.flip(sql.withTransaction(Effect.andThen(insert(3), Effect.fail("no"))))
        yield* Effect.flip(sql.withTransaction(Effect.andThen(insert(4), sql`SELECT 1 / 0`)))
        yield* Effect.forEach([5, 6, 7], (id) => sql.withTransaction(insert(id)), { concurrency: 3 })
        return yield* sql.withTransaction(Effect.andThen(insert(8), sql`SELECT 1 / 0`))
      })).pipe(Effect.exit)
      assert.isTrue(Exit.isFailure(exit))
      yield* Effect.promise(() => client.query(`INSERT INTO ${rows} VALUES (9)`))
      yield* Effect.promise(() => client.query("COMMIT"))
      assert.deepStrictEqual(yield* sql`SELECT id FROM ${sql.literal(rows)} ORDER BY id`.values, [[1], [2], [5], [6], [7], [9]])
    }))

    it.effect("the host, statements of several fibers and calls wait for each other", withSql(function*(sql) {
      const client = yield* hostClient
      yield* Effect.promise(() => client.query("BEGIN"))
      const host = countOverlaps(hostOf(client))
      const join = sql.joined(host.host)
      const three = Effect.forEach([1, 2, 3], (n) => sql<{ n: number }>`SELECT ${n}::int AS n`, { concurrency: "unbounded" })
      const answers = yield* Effect.all([join(three), join(three)], { concurrency: 2 })
      assert.deepStrictEqual(answers.map((three) => three.map(([row]) => row?.n)), [[1, 2, 3], [1, 2, 3]])
      assert.strictEqual(host.most(), 1)
    }))

    it.effect("the host, bulk statements give the same results as on our own pool", withSql(function*(sql) {
      const client = yield* hostClient
      yield* Effect.promise(() => client.query("BEGIN"))
      const statement = `
        SELECT i AS id, t AS title, b AS body, at AS due, to_jsonb(t) AS doc, ARRAY[i, NULL] AS ids, i > 0 AS positive,
               $5::int8 AS scalar
        FROM unnest($1::int8[], $2::text[], $3::bytea[], $4::timestamptz[]) WITH ORDINALITY AS u(i, t, b, at, n) ORDER BY n
      `
      const values = [
        int8Array([1, -(2 ** 40), null]),
        textArray(["a,\"b\"\\", "ünï😀", null]),
        byteaArray([Buffer.of(0, 255), Buffer.of(), null]),
        timestamptzArray([0, 1_700_000_000_123, null]),
        10
      ]
      const ask = sql.bulk(statement, values, ["int8", "text", "bytea", "timestamptz", "jsonb", "int8[]", "bool", "int8"])
      const expected: ReadonlyArray<ReadonlyArray<unknown>> = [
        [1, "a,\"b\"\\", Buffer.of(0, 255), 0, "\"a,\\\"b\\\"\\\\\"", [1, null], true, 10],
        [-(2 ** 40), "ünï😀", Buffer.of(), 1_700_000_000_123, "\"ünï😀\"", [-(2 ** 40), null], false, 10],
        [null, null, null, null, null, [null, null], null, 10]
      ]
      assert.deepStrictEqual(yield* ask, expected)
      // an ORM parses a JSON string into a string, which looks like its JSON text; documents are objects
      const hosted = yield* sql.joined(hostOf(client))(ask).pipe(Effect.map((rows) => rows.map((row) => row.with(4, null))))
      assert.deepStrictEqual(hosted, expected.map((row) => row.with(4, null)))
      const [object] = yield* sql.joined(hostOf(client))(sql.bulk("SELECT '{\"a\": [1]}'::jsonb AS doc", [], ["jsonb"]))
      assert.deepStrictEqual(JSON.parse(object?.[0] as string), { a: [1] })
    }))

    it.effect("the host, failures are named as on our own pool", withSql(function*(sql) {
      const rows = yield* table("id int8 CONSTRAINT only_once UNIQUE")
      const client = yield* hostClient
      yield* Effect.promise(() => client.query("BEGIN"))
      const insert = sql`INSERT INTO ${sql.literal(rows)} VALUES (1)`
      const error = yield* Effect.flip(sql.joined(hostOf(client))(Effect.andThen(insert, insert)))
      assert.strictEqual(error._tag === "SqlError" && error.reason._tag, "UniqueViolation")
    }))

    it.effect("the host, an interruption waits for the running statement and the client stays usable", withSql(function*(sql) {
      const client = yield* hostClient
      yield* Effect.promise(() => client.query("BEGIN"))
      const host = countOverlaps(hostOf(client))
      const slow = sql.joined(host.host)(Effect.andThen(sql`SELECT pg_sleep(0.1)`, sql`SELECT 1 / 0`))
      assert.isTrue(Exit.isFailure(yield* Effect.exit(Effect.timeout(slow, "20 millis"))))
      assert.strictEqual(host.now(), 0)
      assert.strictEqual((yield* Effect.promise(() => client.query("SELECT 1 AS n"))).rows[0].n, 1)
    }))
  })

  it.effect("a host, statements outside of it still use the pool, also those of an outer transaction", withSql(function*(sql) {
    const client = yield* hostClient
    yield* Effect.promise(() => client.query("BEGIN"))
    const pid = Effect.map(sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`, ([row]) => row?.pid)
    const hosts = (yield* Effect.promise(() => client.query("SELECT pg_backend_pid() AS pid"))).rows[0].pid
    assert.notStrictEqual(yield* pid, hosts)
    yield* sql.withTransaction(Effect.gen(function*() {
      const ours = yield* pid
      assert.strictEqual(yield* sql.joined(client)(pid), hosts)
      assert.strictEqual(yield* sql.joined(client)(sql.withTransaction(pid)), hosts)
      assert.strictEqual(yield* pid, ours)
    }))
    let afterwards: number | undefined
    yield* sql.joined(client)(sql.afterCommit(
      Effect.map(Effect.orDie(sql.withTransaction(pid)), (pid) => void (afterwards = pid))
    ))
    assert.isNumber(afterwards)
    assert.notStrictEqual(afterwards, hosts)
  }))

  it.effect("an executor, arrays are sent as text with casts that every driver supports", withSql(function*(sql) {
    const sent: Array<unknown> = []
    const host: HostExecutor = {
      executeSql: async (text, values) => {
        sent.push([text, values])
        return { rows: [] }
      }
    }
    yield* sql.joined(host)(sql.bulk("SELECT $1::int8[], $2, $11, ($1)", [int8Array([1, null]), "$1"]))
    assert.deepStrictEqual(sent, [["SELECT $1::text::int8[], $2, $11, ($1::text)", ["{\"1\",NULL}", "$1"]]])
  }))

  it.effect("a pool or a client without BEGIN is refused with the next step", withSql(function*(sql) {
    const client = yield* hostClient
    yield* Effect.promise(() => client.query("SELECT 1"))
    assert.match((yield* Effect.flip(sql.joined(client)(sql`SELECT 1`))).message, /Send BEGIN/)
    const hosts = new pg.Pool({ connectionString: inject("pgUrl") })
    assert.match((yield* Effect.flip(sql.joined(hosts as never)(sql`SELECT 1`))).message, /Pass the client/)
    yield* Effect.promise(() => hosts.end())
  }))
})

/** A host that detects concurrent statements. */
const countOverlaps = (host: HostClient | HostExecutor) => {
  let now = 0
  let most = 0
  const counted = async <A>(send: () => Promise<A>) => {
    most = Math.max(most, ++now)
    try {
      return await send()
    } finally {
      now--
    }
  }
  return {
    now: () => now,
    most: () => most,
    host: "executeSql" in host
      ? { executeSql: (text: string, values: ReadonlyArray<unknown>) => counted(() => host.executeSql(text, values)) }
      : { query: (config: unknown) => counted(() => host.query(config)), getTypeParser: () => undefined }
  }
}

