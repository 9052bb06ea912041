import { assert, describe, inject, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted } from "effect"
import pg from "pg"
import { PgClient } from "../../src/client/index.ts"
import { administer, eventually } from "../client/database.ts"
import { type Migration, migrate, pending, print, quoteSchema } from "../../src/migrations/Migrations.ts"

const database = (options: Partial<PgClient.PgPoolConfig> = {}) =>
  PgClient.layer({ url: Redacted.make(inject("pgUrl")), maxConnections: 2, ...options })

const first: Migration = {
  id: 1,
  name: "trucks",
  breaking: false,
  up: (schema) => `
    CREATE TABLE ${schema}.trucks (id int8 PRIMARY KEY);
    CREATE FUNCTION ${schema}.count_trucks() RETURNS bigint LANGUAGE sql AS $$ SELECT count(*) FROM ${schema}.trucks $$;
  `
}
const second: Migration = {
  id: 2,
  name: "names of trucks",
  breaking: false,
  up: (schema) => `ALTER TABLE ${schema}.trucks ADD COLUMN name text NOT NULL DEFAULT ''`
}
const breaking: Migration = { ...second, id: 3, name: "it's renamed", breaking: true, up: (schema) => `ALTER TABLE ${schema}.trucks RENAME name TO title` }
const migrations = [first, second]

/** A schema name for one test; the schema is dropped when the test ends. */
const schemaName = Effect.acquireRelease(
  Effect.sync(() => `test_${crypto.randomUUID().replaceAll("-", "")}`),
  (schema) => Effect.promise(async () => {
    const client = new pg.Client(inject("pgUrl"))
    await client.connect()
    await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
    await client.end()
  })
)

const ids = (found: ReadonlyArray<Migration>) => found.map(({ id }) => id)

const appliedMigrations = (schema: string) =>
  Effect.flatMap(PgClient.PgClient, (sql) =>
    sql`SELECT id, name, breaking FROM ${sql(schema)}.migrations ORDER BY id`.values)

describe("the migrations", () => {
  it.live("build a new schema", Effect.fnUntraced(function*() {
    const sql = yield* PgClient.PgClient
    const schema = yield* schemaName
    assert.deepStrictEqual(ids(yield* pending({ schema, migrations })), [1, 2])
    assert.deepStrictEqual(ids(yield* migrate({ schema, migrations })), [1, 2])
    assert.deepStrictEqual(yield* appliedMigrations(schema), [[1, "trucks", false], [2, "names of trucks", false]])
    yield* sql`INSERT INTO ${sql(schema)}.trucks (id, name) VALUES (1, 'one')`
    assert.deepStrictEqual(yield* pending({ schema, migrations }), [])
  }, Effect.provide(database())))

  it.live("change nothing the second time", Effect.fnUntraced(function*() {
    const schema = yield* schemaName
    yield* migrate({ schema, migrations })
    const applied = yield* appliedMigrations(schema)
    assert.deepStrictEqual(yield* migrate({ schema, migrations }), [])
    assert.deepStrictEqual(yield* appliedMigrations(schema), applied)
  }, Effect.provide(database())))

  it.live("are each applied once by twenty processes that start at the same time", Effect.fnUntraced(function*() {
    const schema = yield* schemaName
    const steps = Array.from({ length: 10 }, (_, index): Migration => ({
      id: index + 1,
      name: `step ${index + 1}`,
      breaking: false,
      up: (quoted) => `CREATE TABLE ${quoted}.step_${index + 1} (id int8)`
    }))
    const applied = yield* Effect.forEach(
      Array.from({ length: 20 }),
      // separate pools, with a default isolation level under which a read of the migrations table may be outdated
      () => migrate({ schema, migrations: steps }).pipe(
        Effect.provide(Layer.fresh(database({ maxConnections: 1, url: Redacted.make(`${inject("pgUrl")}?options=-c%20default_transaction_isolation%3Dserializable`) })))
      ),
      { concurrency: 20 }
    )
    assert.deepStrictEqual(ids(applied.flat()).sort((a, b) => a - b), ids(steps))
  }))

  it.live("continue from version 1", Effect.fnUntraced(function*() {
    const sql = yield* PgClient.PgClient
    const schema = yield* schemaName
    yield* migrate({ schema, migrations: [first] })
    yield* sql`INSERT INTO ${sql(schema)}.trucks (id) VALUES (7)`
    assert.deepStrictEqual(ids(yield* migrate({ schema, migrations })), [2])
    assert.deepStrictEqual(yield* sql`SELECT id, name FROM ${sql(schema)}.trucks`.values, [[7, ""]])
  }, Effect.provide(database())))

  it.live("refuse a database with a breaking newer migration, and accept one with other newer migrations", Effect.fnUntraced(function*() {
    const schema = yield* schemaName
    yield* migrate({ schema, migrations })
    assert.deepStrictEqual(yield* migrate({ schema, migrations: [first] }), [], "newer and not breaking")
    const newest: Migration = { id: 4, name: "more", breaking: false, up: () => "SELECT 1" }
    yield* migrate({ schema, migrations: [...migrations, breaking, newest] })
    for (const attempt of [migrate({ schema, migrations }), pending({ schema, migrations })]) {
      const refused = yield* Effect.flip(attempt as Effect.Effect<unknown, { readonly _tag: string; readonly message: string }, PgClient.PgClientService>)
      assert.strictEqual(refused._tag, "MigrationRefused")
      assert.strictEqual(
        refused.message,
        `Schema ${schema} is at version 4, this program knows version 2, and migration 3 (it's renamed) is not compatible with older programs. Start the newer program, or restore a backup from before that migration.`
      )
    }
  }, Effect.provide(database())))

  it.live("change only their own schema, which may have any valid name", Effect.fnUntraced(function*() {
    const sql = yield* PgClient.PgClient
    const one = yield* schemaName
    const other = yield* schemaName
    yield* Effect.all([migrate({ schema: one, migrations }), migrate({ schema: other, migrations })], { concurrency: 2 })
    yield* sql`INSERT INTO ${sql(one)}.trucks (id) VALUES (1)`
    assert.deepStrictEqual(yield* sql`SELECT ${sql(one)}.count_trucks(), ${sql(other)}.count_trucks()`.values, [[1, 0]])
    for (const name of ["select", "_1", "a".repeat(63)]) assert.strictEqual(quoteSchema(name), `"${name}"`)
    for (const schema of ["", "1a", "Waybill", "a-b", "a\"b", "a.b", "pg_mine", "information_schema", "a".repeat(64)]) {
      assert.strictEqual((yield* Effect.flip(migrate({ schema, migrations })))._tag, "InvalidSchemaName")
    }
  }, Effect.provide(database())))

  it.live("leave nothing of a failed migration, name it, and keep earlier ones", Effect.fnUntraced(function*() {
    const schema = yield* schemaName
    const broken: Migration = { ...second, up: (quoted) => `CREATE TABLE ${quoted}.half (id int8); SELECT 1 / 0;` }
    const failed = yield* Effect.flip(migrate({ schema, migrations: [first, broken] }))
    assert.strictEqual(failed._tag, "MigrationFailed")
    assert.strictEqual(
      failed.message,
      `Migration 2 (names of trucks) of schema ${schema} failed and was rolled back: division by zero. Earlier migrations are applied. Fix the cause and start again.`
    )
    assert.deepStrictEqual(yield* appliedMigrations(schema), [[1, "trucks", false]])
    assert.deepStrictEqual(ids(yield* migrate({ schema, migrations })), [2])
  }, Effect.provide(database())))

  it.live("fail if a statement has a name without a schema", Effect.fnUntraced(function*() {
    const schema = yield* schemaName
    const unqualified: Migration = { ...first, up: () => "CREATE TABLE unqualified (id int8)" }
    assert.match((yield* Effect.flip(migrate({ schema, migrations: [unqualified] }))).message, /no schema has been selected/)
  }, Effect.provide(database())))

  it.live("wait for a table in use without blocking others, and are applied when it is free", Effect.fnUntraced(function*() {
    const schema = yield* schemaName
    yield* migrate({ schema, migrations: [first] })
    const writer = yield* Effect.acquireRelease(
      Effect.promise(() => new pg.Client(inject("pgUrl")).connect() as Promise<pg.Client>),
      (client) => Effect.promise(() => client.end())
    )
    yield* Effect.promise(() => writer.query(`BEGIN; INSERT INTO ${schema}.trucks (id) VALUES (1)`))
    const migrating = yield* Effect.forkChild(migrate({ schema, migrations }))
    const waiting = Effect.map(
      administer(`SELECT 1 FROM pg_locks WHERE relation = '${schema}.trucks'::regclass AND NOT granted`),
      (rows) => rows.length > 0
    )
    yield* eventually(waiting)
    // it gives up its lock request, so that later statements do not wait behind it
    yield* eventually(Effect.map(waiting, (is) => !is))
    yield* eventually(waiting)
    assert.deepStrictEqual(ids(yield* pending({ schema, migrations })), [2])
    yield* Effect.promise(() => writer.query("COMMIT"))
    assert.deepStrictEqual(ids(yield* Fiber.join(migrating)), [2])
  }, Effect.provide(database())))

  it.live("refuse a schema with the migrations of another program", Effect.fnUntraced(function*() {
    const schema = yield* schemaName
    yield* migrate({ schema, migrations })
    const refused = yield* Effect.flip(migrate({ schema, migrations: [{ ...first, name: "other trucks" }, second] }))
    assert.match(refused.message, /migration 1 is "trucks" in the database .* choose another schema name/)
  }, Effect.provide(database())))

  it.live("can be printed and run by an administrator, so that the program needs no right to create", Effect.fnUntraced(function*() {
    const schema = yield* schemaName
    const all = [...migrations, breaking]
    const role = `r_${crypto.randomUUID().slice(0, 8)}`
    const client = yield* Effect.acquireRelease(
      Effect.promise(() => new pg.Client(inject("pgUrl")).connect() as Promise<pg.Client>),
      (client) => Effect.promise(async () => {
        await client.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`)
        await client.end()
      })
    )
    yield* Effect.promise(() => client.query(print({ schema, migrations: all })))
    yield* Effect.promise(() => client.query(`
      CREATE ROLE ${role} LOGIN PASSWORD 'pw'; GRANT USAGE ON SCHEMA ${schema} TO ${role};
      GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ${role}
    `))
    const url = new URL(inject("pgUrl"))
    Object.assign(url, { username: role, password: "pw" })
    assert.deepStrictEqual(yield* migrate({ schema, migrations: all }).pipe(Effect.provide(database({ url: Redacted.make(url.href) }))), [])
    assert.deepStrictEqual(yield* appliedMigrations(schema), all.map(({ breaking, id, name }) => [id, name, breaking]))
  }, Effect.provide(database())))
})
