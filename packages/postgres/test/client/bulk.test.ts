import { assert, inject, layer } from "@effect/vitest"
import { Arbitrary, Effect, Schema } from "effect"
import pg from "pg"
import { PgArray, type PgArrayType, PgClient, Sql } from "../../src/client/index.ts"
import { pool, table, withSql } from "./database.ts"

const { boolArray, byteaArray, float8Array, int4Array, int8Array, textArray, timestamptzArray, uuidArray } = Sql

/** Well-formed and without NUL, which Postgres does not store. */
const Text = Arbitrary.map(Arbitrary.schema(Schema.String), (text) => Buffer.from(text).toString().replaceAll("\0", ""))
const Bytes = Arbitrary.map(Arbitrary.schema(Schema.Array(Schema.Int)), (ints) => Uint8Array.from(ints))
// without -0, which only float8 has
const Int = Arbitrary.map(Arbitrary.schema(Schema.Int), (int) => int + 0)
const Int4 = Arbitrary.map(Int, (int) => int | 0)
const Float = Arbitrary.schema(Schema.Number)
const Bool = Arbitrary.schema(Schema.Boolean)
const Uuid = Arbitrary.map(Arbitrary.schema(Schema.BigInt), (int) => {
  const hex = BigInt.asUintN(128, int * 0x9e3779b97f4a7c15f39cc0605cedc835n).toString(16).padStart(32, "0")
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")
})
const Time = Arbitrary.map(Int, (int) => int % 8.64e15 < -210_866_803_200_000 ? -(int % 1e14) : int % 8.64e15).pipe(Arbitrary.map((int) => int + 0))

const withNulls = <A>(item: Arbitrary.Arbitrary<A>): Arbitrary.Arbitrary<ReadonlyArray<A | null>> =>
  Arbitrary.array(Arbitrary.flatMap(Bool, (isNull): Arbitrary.Arbitrary<A | null> => isNull ? Arbitrary.Constant(null) : item))

/** `0` and `-0` are two numbers, and a Buffer is its bytes. */
const comparable = (values: ReadonlyArray<unknown>) =>
  values.map((value) => value instanceof Uint8Array ? Buffer.from(value).toString("hex") : Object.is(value, -0) ? "-0" : value)

layer(pool(), { excludeTestServices: true })("a bulk statement", (it) => {
  const both = (make: (elements: ReadonlyArray<any>) => PgArray, type: string) =>
    Effect.fnUntraced(function*({ elements }: { readonly elements: ReadonlyArray<unknown> }) {
      const sql = yield* PgClient.PgClient
      const [whole] = yield* sql.bulk(`SELECT $1::${type}[]`, [make(elements)])
      const rows = yield* sql.bulk(`SELECT e FROM unnest($1::${type}[]) WITH ORDINALITY AS u(e, n) ORDER BY n`, [make(elements)])
      const literal = yield* sql.bulk(`SELECT $1::text::${type}[]`, [make(elements).literal()])
      const sent = comparable(elements)
      assert.deepStrictEqual(comparable(whole?.[0] as Array<unknown>), sent)
      assert.deepStrictEqual(comparable(rows.map(([value]) => value)), sent)
      assert.deepStrictEqual(comparable(literal[0]?.[0] as Array<unknown>), sent)
    })

  it.effect.prop("carries text both ways", { elements: withNulls(Text) }, both(textArray, "text"))
  it.effect.prop("carries bytes both ways", { elements: withNulls(Bytes) }, both(byteaArray, "bytea"))
  it.effect.prop("carries int8 both ways", { elements: withNulls(Int) }, both(int8Array, "int8"))
  it.effect.prop("carries int4 both ways", { elements: withNulls(Int4) }, both(int4Array, "int4"))
  it.effect.prop("carries float8 both ways", { elements: withNulls(Float) }, both(float8Array, "float8"))
  it.effect.prop("carries booleans both ways", { elements: withNulls(Bool) }, both(boolArray, "bool"))
  it.effect.prop("carries UUIDs both ways", { elements: withNulls(Uuid) }, both(uuidArray, "uuid"))
  it.effect.prop("carries milliseconds both ways", { elements: withNulls(Time) }, both(timestamptzArray, "timestamptz"))

  const corners: ReadonlyArray<readonly [string, (elements: ReadonlyArray<any>) => PgArray, ReadonlyArray<unknown>]> = [
    ["int8", int8Array, [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, -1, 0, 2 ** 32, -(2 ** 32) - 1]],
    ["int4", int4Array, [2 ** 31 - 1, -(2 ** 31), -1]],
    ["float8", float8Array, [NaN, Infinity, -Infinity, -0, Number.MIN_VALUE, Number.MAX_VALUE]],
    ["text", textArray, ["", "NULL", "null", "{}", "\"", "\\", "a,b", " ", "\n", "ünï😀", "\u2028"]],
    ["bytea", byteaArray, [Buffer.of(), Buffer.of(0, 255, 92, 34), Buffer.alloc(300_000, 200)]],
    ["timestamptz", timestamptzArray, [
      Infinity, -Infinity, 0, -1, 1, -210_866_803_200_000, 8.64e15, Date.UTC(9999, 11, 31), Date.parse("0000-06-01T00:00:00Z")
    ]],
    ["bool", boolArray, []],
    ["uuid", uuidArray, ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff", "01234567-89ab-cdef-0123-456789abcdef"]]
  ]
  it.effect.each(corners)("carries edge cases of %s, also when rows arrive as text", Effect.fnUntraced(function*([type, make, elements]) {
    yield* both(make, type)({ elements })
    const sql = yield* PgClient.PgClient
    const row = yield* hosted(sql, `SELECT $1::${type}[], ($1::${type}[])[1]`, [make(elements)])
    assert.deepStrictEqual(comparable(row?.[0] as Array<unknown>), comparable(elements))
    assert.deepStrictEqual(comparable([row?.[1]]), comparable([elements[0] ?? null]))
  }))

  it.effect("decodes each column by its type, the same from binary and from text", withSql(function*(sql) {
    const statement = `
      SELECT 7::int2 AS a, -7::int4 AS b, 9007199254740991::int8 AS c, 1.5::float4 AS d, 1e300::float8 AS e, true AS f,
             'ü'::text AS g, 'v'::varchar AS h, 'c'::char(3) AS i, 'n'::name AS j,
             '00000000-0000-4000-8000-0000000000ff'::uuid AS k, '18446744073709551615'::xid8 AS l,
             '{"a": [1, 2]}'::json AS m, '{"a": [1, 2]}'::jsonb AS n, '\\x00ff80'::bytea AS o,
             '2026-01-02 03:04:05.678912+02'::timestamptz AS p, '1969-12-31 23:59:59.999999+00'::timestamptz AS q,
             '2026-01-02'::date AS r, NULL::text AS s, pg_notify('nobody', '') AS t, 4294967295::oid AS u,
             ARRAY['2026-01-01'::date, '0044-03-15 BC', NULL] AS v, ARRAY['{"x":1}'::jsonb] AS w, '{}'::int8[] AS x
    `
    const [row] = yield* sql.bulk(statement, [])
    assert.deepStrictEqual(row, [
      7, -7, 9007199254740991, 1.5, 1e300, true, "ü", "v", "c  ", "n", "00000000-0000-4000-8000-0000000000ff",
      "18446744073709551615", "{\"a\": [1, 2]}", "{\"a\": [1, 2]}", Buffer.of(0, 255, 128),
      Date.UTC(2026, 0, 2, 1, 4, 5, 678), -1, "2026-01-02", null, null, 4294967295,
      ["2026-01-01", "0044-03-15 BC", null], ["{\"x\": 1}"], []
    ])
    assert.deepStrictEqual(yield* hosted(sql, statement, []), row)
  }))

  it.effect("mixes arrays, scalars and bytes, prepared from the second use on", withSql(function*(sql) {
    const rows = yield* table("tenant text, id int8, body bytea, at timestamptz")
    const insert = `INSERT INTO ${rows} SELECT $1, i, b, $4 FROM unnest($2::int8[], $3::bytea[]) AS u(i, b) RETURNING id`
    const at = new Date(1_700_000_000_000)
    for (const base of [0, 10, 20]) {
      const ids = [base, base + 1]
      const stored = yield* sql.bulk(insert, ["acme", int8Array(ids), byteaArray(ids.map((id) => Buffer.of(id, 255))), at])
      assert.deepStrictEqual(stored, ids.map((id) => [id]))
    }
    const read = yield* sql.bulk(`SELECT tenant, id, body, at FROM ${rows} WHERE body = $1::bytea`, [Buffer.of(11, 255)])
    assert.deepStrictEqual(read, [["acme", 11, Buffer.of(11, 255), at.getTime()]])
  }))

  it.effect("keeps read bytes when the socket's buffer is reused", withSql(function*(sql) {
    const bodies = Array.from({ length: 500 }, (_, index) => Buffer.alloc(index * 7, index))
    const echo = () => sql.bulk("SELECT unnest($1::bytea[])", [byteaArray(bodies)])
    const first = yield* echo()
    yield* Effect.forEach(Array.from({ length: 5 }), echo, { concurrency: 2 })
    assert.deepStrictEqual(first.map(([body]) => body), bodies)
  }))

  it.effect("carries a row of 20 MB", withSql(function*(sql) {
    const [row] = yield* sql.bulk("SELECT convert_to(repeat('x', 20000000), 'UTF8')", [])
    assert.strictEqual((row![0] as Buffer).length, 20_000_000)
  }))

  it.effect("accepts arrays in an ordinary statement", withSql(function*(sql) {
    const rows = yield* sql`SELECT unnest(${int8Array([1, null])}::int8[]) AS n, unnest(${textArray(["a", "b"])}::text[]) AS t`
    assert.deepStrictEqual(rows.map((row) => ({ ...row })), [{ n: 1, t: "a" }, { n: null, t: "b" }])
  }))

  it.effect("runs on the connection of its transaction", withSql(function*(sql) {
    const rows = yield* table("id int8")
    yield* sql.bulk(`INSERT INTO ${rows} SELECT unnest($1::int8[])`, [int8Array([1, 2])]).pipe(
      Effect.andThen(sql.bulk(`SELECT count(*) FROM ${rows}`, [])),
      Effect.tap(([count]) => Effect.sync(() => assert.deepStrictEqual(count, [2]))),
      Effect.andThen(Effect.fail("changed my mind")),
      sql.withTransaction,
      Effect.flip
    )
    assert.deepStrictEqual(yield* sql.bulk(`SELECT count(*) FROM ${rows}`, []), [[0]])
  }))

  const refused: ReadonlyArray<readonly [PgArrayType, PgArray]> = [
    ["int8", int8Array([1, 1.5])],
    ["int8", int8Array([0, 2 ** 60])],
    ["int8", int8Array([0, 2n ** 63n])],
    ["int4", int4Array([0, 2 ** 31])],
    ["uuid", uuidArray([null, "not-a-uuid"])],
    ["uuid", uuidArray([null, "0199c5a1-0000-7000-8000-00000000000g"])],
    ["uuid", uuidArray([null, "0199c5a1-0000-7000-8000-0000000000\u0661f"])],
    ["uuid", uuidArray([null, "0199c5a10-000-7000-8000-000000000001"])],
    ["uuid", uuidArray([null, "0199c5a1-0000-7000-8000-0000000000012"])],
    ["uuid", uuidArray([null, 7 as never])],
    ["text", textArray(["", 7 as never])],
    ["bytea", byteaArray([null, "7" as never])],
    ["timestamptz", timestamptzArray([0, NaN])]
  ]
  it.effect.each(refused)("fails with the index of an element that is not a %s, and the connection stays usable", Effect.fnUntraced(function*([type, array]) {
    const sql = yield* PgClient.PgClient
    for (let time = 0; time < 3; time++) {
      const error = yield* Effect.flip(sql.bulk(`SELECT $1::${type}[]`, [array]))
      assert.strictEqual(error.message, `Element 1 of a ${type}[] parameter is not a ${type}.`)
    }
    assert.deepStrictEqual(yield* sql.bulk(`SELECT $1::${type}[]`, [new PgArray(type, [])]), [[[]]])
  }))

  it.effect.each(["1.5::numeric", "'1 day'::interval", "9007199254740992::int8", "ARRAY[[1],[2]]"])(
    "fails for an unsupported %s, and the connection stays usable",
    (value) =>
      Effect.gen(function*() {
        const sql = yield* PgClient.PgClient
        assert.match((yield* Effect.flip(sql.bulk(`SELECT ${value}`, []))).message, /statement|dimension/)
        assert.deepStrictEqual(yield* sql.bulk("SELECT 1", []), [[1]])
      })
  )
})

/** The same through a plain pg client, which reads text only. */
const hosted = Effect.fnUntraced(function*(sql: PgClient.PgClient, statement: string, values: ReadonlyArray<PgArray>) {
  const client = yield* Effect.acquireRelease(
    Effect.promise(() => new pg.Client(inject("pgUrl")).connect() as Promise<pg.Client>),
    (client) => Effect.promise(() => client.end())
  )
  yield* Effect.promise(() => client.query("BEGIN"))
  const [row] = yield* sql.joined(client)(sql.bulk(statement, values))
  return row
})
