import { assert, describe, it, layer } from "@effect/vitest"
import { Arbitrary, Effect, Schema } from "effect"
import { Sql } from "../../src/client/index.ts"
import { pool, withSql } from "./database.ts"

const { bool, bytea, int8, nullable, only, optional, row, statement, text, textArray, timestamptz, uuid } = Sql

const pickup = row({ pickupId: uuid, number: optional(text), isTest: bool, createdAt: timestamptz, pros: textArray })

describe("a row", () => {
  it("has the names and the types of its columns", () => {
    assert.strictEqual(pickup.columns("p").text, "p.pickup_id, p.number, p.is_test, p.created_at, p.pros")
    assert.strictEqual(pickup.columns().text, "pickup_id, number, is_test, created_at, pros")
    assert.deepStrictEqual(pickup.hints, ["uuid", "text", "bool", "timestamptz", "text[]"])
  })

  it("is decoded by position", () => {
    const decoded: { readonly pickupId: string; readonly number: string | undefined; readonly isTest: boolean; readonly createdAt: number; readonly pros: ReadonlyArray<string> } =
      pickup.decode(["u", "7", false, 0, ["A"]])
    assert.deepStrictEqual(decoded, { pickupId: "u", number: "7", isTest: false, createdAt: 0, pros: ["A"] })
  })

  it("reads NULL as the column says, and refuses it in any other column", () => {
    assert.deepStrictEqual(row({ a: optional(text), b: nullable(text) }).decode([null, null]), { a: undefined, b: null })
    assert.throws(() => pickup.decode(["u", null, false, null, []]), "The column created_at of a row is NULL, and its type is not nullable.")
    assert.throws(() => text.decode([null]), "The column text of a row is NULL, and its type is not nullable.")
  })

  it("refuses another number of columns", () => {
    assert.throws(() => row({ a: text, b: text }).decode(["1"]), "A row has 1 columns, and 2 are read: a, b.")
    assert.throws(() => text.decode(["1", "2"]), "A row has 2 columns, and 1 is read.")
  })

  it.prop("has each value under its name", { values: Arbitrary.array(Arbitrary.schema(Schema.String)) }, ({ values }) => {
    const names = values.map((_, at) => `n${at}`)
    const decoded = row(Object.fromEntries(names.map((name) => [name, text]))).decode(values)
    assert.deepStrictEqual(decoded, Object.fromEntries(names.map((name, at) => [name, values[at]!])))
  })
})

layer(pool(), { excludeTestServices: true })("a statement's rows", (it) => {
  it.effect("are decoded", withSql(function*(sql) {
    const state = row({ id: int8, state: only<"open" | "closed">(text), body: bytea, at: nullable(timestamptz) })
    const find = statement`SELECT ${int8(7)} AS id, ${"open"}::text AS state, ${bytea(Buffer.of(1))} AS body, ${timestamptz(Infinity)} AS at`
    assert.deepStrictEqual(yield* sql.rows(state, find), [{ id: 7, state: "open", body: Buffer.of(1), at: Infinity }])
    assert.strictEqual(yield* sql.one(int8, statement`SELECT ${int8(7n)} AS id`), 7)
    assert.deepStrictEqual(yield* sql.rows(nullable(text), statement`SELECT unnest(${textArray(["a", null])}) AS name`), ["a", null])
    assert.isUndefined(yield* sql.run(statement`SELECT 1 AS one`))
  }))

  it.effect("fail the statement if they do not fit, and the connection stays usable", withSql(function*(sql) {
    const messageOf = <A>(read: Effect.Effect<A, { readonly message: string }>) => Effect.map(Effect.flip(read), ({ message }) => message)
    assert.match(yield* messageOf(sql.rows(text, statement`SELECT 'a' AS a, 'b' AS b`)), /A row has 2 columns, and 1 is read/)
    assert.match(yield* messageOf(sql.rows(text, statement`SELECT NULL::text AS a`)), /is NULL/)
    assert.match(yield* messageOf(sql.one(text, statement`SELECT 'a' AS a WHERE false`)), /returned 0/)
    assert.match(yield* messageOf(sql.run(statement`SELECT ${timestamptz(NaN)} AS a`)), /is not a timestamptz/)
    assert.strictEqual(yield* sql.one(text, statement`SELECT 'a' AS a`), "a")
  }))
})
