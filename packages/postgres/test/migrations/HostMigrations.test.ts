/** Migrations that a host applies: printed, run by psql, checked, refused. */
import { Effect, Exit, Layer, Redacted } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import pg from "pg"
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from "vitest"
import { print } from "../../src/migrations/Migrations.ts"
import { applyMigrations, checkMigrations, migrate, migrations, pending, PgClient, printMigrations, StoragePostgres } from "../../src/index.ts"

const schema = "freight_1"
const made: Array<string> = []

/** The URL of an empty database for one test. */
const database = async (options = ""): Promise<string> => {
  const name = `test_${crypto.randomUUID().replaceAll("-", "")}`
  await query(inject("pgUrl"), `CREATE DATABASE ${name} TEMPLATE template0 ${options}`)
  made.push(name)
  const url = new URL(inject("pgUrl"))
  url.pathname = `/${name}`
  return url.href
}

const query = async (url: string, sql: string): Promise<ReadonlyArray<Record<string, unknown>>> => {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

afterAll(async () => {
  for (const name of made) await query(inject("pgUrl"), `DROP DATABASE ${name} WITH (FORCE)`)
})

const migrated = (url: string, known = migrations) =>
  Effect.runPromise(Effect.provide(migrate({ schema, migrations: known }), PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })))

/** Runs `psql --file`; undefined if psql is not installed. */
const psql = async (url: string, sql: string, options: ReadonlyArray<string> = ["--single-transaction"]): Promise<string | undefined> => {
  const child = spawn("psql", ["--no-psqlrc", "--quiet", ...options, "--set=ON_ERROR_STOP=1", "--dbname", url, "--file=-"], { stdio: ["pipe", "ignore", "pipe"] })
  const missing = once(child, "error").then(() => undefined)
  let errors = ""
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => void (errors += chunk))
  child.stdin.on("error", () => {}).end(sql)
  return Promise.race([missing, once(child, "close").then(([code]) => code === 0 ? "" : errors)])
}

/** All objects in a database except Postgres' own, as lines. */
const catalogue = async (url: string): Promise<ReadonlyArray<unknown>> => {
  const mine = (oid: string) => `(SELECT nspname !~ '^(pg_|information_schema$)' FROM pg_namespace WHERE oid = ${oid})`
  const rows = await query(url, `
    SELECT 'schema ' || nspname || ' ' || coalesce(nspacl::text, '') AS line FROM pg_namespace WHERE nspname !~ '^(pg_|information_schema$)'
    UNION ALL SELECT 'extension ' || extname FROM pg_extension
    UNION ALL SELECT 'event trigger ' || evtname FROM pg_event_trigger
    UNION ALL SELECT 'publication ' || pubname FROM pg_publication
    UNION ALL SELECT concat_ws(' ', 'relation', oid::regclass, relkind, relpersistence, reloptions, relacl, relrowsecurity)
      FROM pg_class WHERE ${mine("relnamespace")}
    UNION ALL SELECT concat_ws(' ', 'column', attrelid::regclass, attnum, attname, format_type(atttypid, atttypmod), attnotnull, attidentity,
        attgenerated, attstorage, attcompression, attcollation::regcollation, attoptions, pg_get_expr(adbin, adrelid))
      FROM pg_attribute JOIN pg_class AS c ON c.oid = attrelid LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
      WHERE attnum > 0 AND NOT attisdropped AND ${mine("c.relnamespace")}
    UNION ALL SELECT concat_ws(' ', 'index', pg_get_indexdef(indexrelid), indisvalid) FROM pg_index JOIN pg_class AS c ON c.oid = indexrelid WHERE ${mine("c.relnamespace")}
    UNION ALL SELECT concat_ws(' ', 'constraint', conrelid::regclass, conname, pg_get_constraintdef(oid), convalidated) FROM pg_constraint WHERE ${mine("connamespace")}
    UNION ALL SELECT concat_ws(' ', 'function', pg_get_functiondef(oid)) FROM pg_proc WHERE ${mine("pronamespace")}
    UNION ALL SELECT concat_ws(' ', 'trigger', pg_get_triggerdef(t.oid)) FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = tgrelid WHERE NOT tgisinternal AND ${mine("c.relnamespace")}
    UNION ALL SELECT concat_ws(' ', 'view', viewname, definition) FROM pg_views WHERE schemaname = '${schema}'
    UNION ALL SELECT concat_ws(' ', 'type', oid::regtype, typtype) FROM pg_type WHERE ${mine("typnamespace")}
    ORDER BY 1`)
  return rows.map(({ line }) => line)
}

const ledger = (url: string) => query(url, `SELECT id, name, breaking FROM ${schema}.migrations ORDER BY id`)

describe("migrations that a host owns", () => {
  let url: string
  let expected: ReadonlyArray<unknown>

  beforeAll(async () => {
    url = await database()
    const empty = await catalogue(url)
    await migrated(url)
    expected = await catalogue(url)
    expect(expected.filter((line) => !empty.includes(line) && !String(line).includes(schema)), "nothing outside the schema").toEqual([])
    expect(empty.filter((line) => !expected.includes(line)), "nothing taken away").toEqual([])
  })

  it.each(["psql", "one text in one message"])("are printed as SQL that gives the same schema and migrations table, run as %s", async (way) => {
    const other = await database()
    const failure = way === "psql" ? await psql(other, printMigrations(schema)) : undefined
    if (failure === undefined) await query(other, printMigrations(schema))
    else expect(failure).toBe("")
    expect(await catalogue(other)).toEqual(expected)
    expect(await ledger(other)).toEqual(await ledger(url))
    expect(await checkMigrations({ url: other, schema })).toEqual([])
    expect(await migrated(other)).toEqual([])
  })

  it("contain no psql command and no psql variable", () => expect(printMigrations(schema)).not.toMatch(/^\\|(^|[^:]):['"{a-z]/im))

  it("are printed for a database at any version, and refused by a database at another version", async () => {
    for (const { id } of migrations.slice(0, -1)) {
      const other = await database()
      await migrated(other, migrations.slice(0, id))
      const rest = printMigrations(schema, { after: id })
      await query(other, rest)
      expect(await catalogue(other)).toEqual(expected)
      expect(await ledger(other)).toEqual(await ledger(url))
      await expect(query(other, rest)).rejects.toThrow(`Schema ${schema} is not at version ${id}; nothing was changed.`)
      expect(await catalogue(other)).toEqual(expected)
    }
    expect(() => printMigrations(schema, { after: 99 })).toThrow(`There is no migration 99; the newest is ${migrations.at(-1)!.id}.`)
  })

  it("are printed without BEGIN and COMMIT, and with them on request", async () => {
    expect(printMigrations(schema)).not.toMatch(/^(BEGIN|COMMIT);$/m)
    expect(printMigrations(schema, { transaction: true })).toMatch(/^BEGIN;$[^]*^COMMIT;$/m)
    const other = await database()
    const failure = await psql(other, printMigrations(schema, { transaction: true }), [])
    if (failure === undefined) return
    expect(failure).toBe("")
    expect(await catalogue(other)).toEqual(expected)
  })

  it("change nothing outside a transaction, and say so", async () => {
    const other = await database()
    const before = await catalogue(other)
    const failure = await psql(other, printMigrations(schema), [])
    if (failure === undefined) return
    expect(failure).toContain(`Run the migrations of schema ${schema} in one transaction; nothing was changed.`)
    expect(await catalogue(other)).toEqual(before)
  })

  it("leave the settings of the transaction as they were", async () => {
    const other = await database()
    const [settings] = await query(other, "SELECT current_setting('search_path') AS search_path, current_setting('lock_timeout') AS lock_timeout, current_setting('statement_timeout') AS statement_timeout")
    const client = new pg.Client(other)
    await client.connect()
    await client.query("CREATE TABLE tool_migrations (name text); BEGIN")
    await client.query(printMigrations(schema))
    await client.query("INSERT INTO tool_migrations VALUES ('waybill')")
    const { rows } = await client.query("SELECT current_setting('search_path') AS search_path, current_setting('lock_timeout') AS lock_timeout, current_setting('statement_timeout') AS statement_timeout")
    await client.query("COMMIT")
    await client.end()
    expect(rows).toEqual([settings])
    expect(await checkMigrations({ url: other, schema })).toEqual([])
  })

  it("take longer than the timeouts of the host's sessions", async () => {
    const other = await database()
    const timeouts = await query(other, "SELECT name FROM pg_settings WHERE name IN ('statement_timeout', 'transaction_timeout')")
    const pool = new pg.Pool({ connectionString: other, max: 1, options: timeouts.map(({ name }) => `-c ${name}=100ms`).join(" ") })
    onTestFinished(() => pool.end())
    const slow = [{ id: 1, name: "slow", breaking: false, up: () => "DO $$ BEGIN PERFORM pg_sleep(0.3); END $$" }]
    expect(await Effect.runPromise(Effect.provide(migrate({ schema, migrations: slow }), PgClient.layerFromPool(pool)))).toEqual(slow)
    await pool.query(print({ schema: "printed", migrations: slow }, { transaction: true }))
    expect(await query(other, "SELECT name FROM printed.migrations")).toEqual([{ name: "slow" }])
  })

  it("are refused in a database without UTF-8, and nothing is created", async () => {
    const [server] = await query(inject("pgUrl"), "SELECT current_setting('server_version_num')::int >= 150000 AS providers")
    const other = await database(`ENCODING 'LATIN1' LOCALE 'C' ${server!["providers"] === true ? "LOCALE_PROVIDER libc" : ""}`)
    await expect(applyMigrations({ url: other, schema })).rejects.toThrow(/^Migration 1 .* failed and was rolled back: Database test_\w+ has the encoding LATIN1, and Waybill needs UTF8\. Create one WITH ENCODING 'UTF8' TEMPLATE template0, and use that\. /)
    expect(await query(other, `SELECT to_regnamespace('${schema}') AS schema`)).toEqual([{ schema: null }])
  })

  it("run twice change nothing and fail", async () => {
    await expect(query(url, printMigrations(schema))).rejects.toThrow(/already exists/)
    expect(await catalogue(url)).toEqual(expected)
  })

  it("are listed by name when they are missing, with a pool or a URL, and nothing is created", async () => {
    const other = await database()
    const names = migrations.map(({ name }) => name)
    expect(await checkMigrations({ url: other, schema })).toEqual(names)
    const pool = new pg.Pool({ connectionString: other, max: 1 })
    expect(await checkMigrations({ pool, schema })).toEqual(names)
    expect((await pool.query("SELECT 1 FROM pg_namespace WHERE nspname = $1", [schema])).rows).toEqual([])
    await migrated(other, migrations.slice(0, 2))
    expect(await checkMigrations({ pool, schema })).toEqual(names.slice(2))
    await pool.end()
    await expect(checkMigrations({ url: other, schema: "Bad Name" })).rejects.toThrow(/is not a valid schema name/)
  })

  it("are applied without opening the service, with a pool or a URL, once for concurrent callers", async () => {
    const other = await database()
    const names = migrations.map(({ name }) => name)
    const pool = new pg.Pool({ connectionString: other, max: 1 })
    onTestFinished(() => pool.end())
    const applied = await Promise.all([applyMigrations({ pool, schema }), applyMigrations({ url: other, schema })])
    expect(applied.flat().toSorted()).toEqual(names.toSorted())
    expect(await checkMigrations({ pool, schema })).toEqual([])
    expect(await applyMigrations({ pool, schema, sqlPublishing: true })).toEqual(["sql-publishing"])
    await expect(applyMigrations({ url: other, schema: "Bad Name" })).rejects.toThrow(/is not a valid schema name/)
  })

  it.each([
    ["by a variable that is not set", { url: undefined }, "needs either a pool or a url, and got neither."],
    ["in two ways", { pool: new pg.Pool(), url: "postgres://db" }, "needs either a pool or a url, and got both."],
    ["by a URL without a scheme", { url: "localhost:5432/freight" }, "is not a Postgres address."],
    ["by a client in place of a pool", { pool: new pg.Client() }, "needs a pool of pg"]
  ])("are neither checked nor applied on a database that is given %s", async (_what, target, said) => {
    for (const call of [checkMigrations, applyMigrations]) {
      const error: unknown = await call(target as never).catch((error: unknown) => error)
      expect(error).toBeInstanceOf(TypeError)
      expect(String(error)).toContain(call.name)
      expect(String(error)).toContain(said)
    }
  })

  it("refuse every older version after a breaking migration, saying what to do", async () => {
    const database = { url: Redacted.make(url), maxConnections: 1 }
    for (const { id } of migrations.slice(0, -1)) {
      const known = migrations.slice(0, id)
      const broken = migrations.slice(id).find(({ breaking }) => breaking)
      const exit = await Effect.runPromiseExit(Effect.provide(pending({ schema, migrations: known }), PgClient.layer(database)))
      if (broken === undefined) {
        expect(Exit.isSuccess(exit) && exit.value, "merely newer").toEqual([])
        continue
      }
      expect(String(exit)).toContain(
        `Schema ${schema} is at version ${migrations.length}, this program knows version ${id}, and migration ${broken.id} (${broken.name}) is not compatible with older programs. Start the newer program, or restore a backup from before that migration.`
      )
    }
  })

  it("of a newer version are refused by this one before any change", async () => {
    const other = await database()
    await migrated(other, [...migrations, { id: migrations.length + 1, name: "of_tomorrow", breaking: true, up: () => "SELECT 1" }])
    const before = await catalogue(other)
    const sentence = `Schema ${schema} is at version ${migrations.length + 1}, this program knows version ${migrations.length}, and migration ${migrations.length + 1} (of_tomorrow) is not compatible with`
    await expect(checkMigrations({ url: other, schema })).rejects.toThrow(sentence)
    for (const options of [{ schema }, { schema, migrate: false }]) {
      const storage = StoragePostgres.layer(options).pipe(Layer.provide(PgClient.layer({ url: Redacted.make(other), maxConnections: 2 })))
      expect(String(await Effect.runPromiseExit(Effect.scoped(Layer.build(storage))))).toContain(sentence)
    }
    expect(await catalogue(other)).toEqual(before)
  })
})
