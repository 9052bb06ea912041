/** Applies the numbered migrations of one schema, each exactly once, also when many processes start at the same time. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import { createHash } from "node:crypto"
import { PgClient, type PgClientService } from "../client/PgClient.ts"
import { NoTimeout } from "../client/PgLending.ts"
import { bool, type Decoded, int4, row, text } from "../client/SqlRow.ts"
import { raw, statement } from "../client/SqlStatement.ts"

/**
 * One numbered step, never edited once released.
 *
 * @stability unstable
 */
export interface Migration {
  readonly id: number
  readonly name: string
  /** Versions without this migration must not run on a database that has it. */
  readonly breaking: boolean
  /**
   * Plain SQL, one or more statements. Every name is qualified with `schema`, which is already quoted, because statements run with an
   * empty `search_path`; those of a host's transaction may too.
   */
  readonly up: (schema: string) => string
}

/** The unquoted schema name, and every migration that this version has. */
interface MigrationOptions {
  readonly schema: string
  readonly migrations: ReadonlyArray<Migration>
}

/** The database has a breaking migration that this version does not know. */
export class MigrationRefused extends Schema.TaggedError<MigrationRefused>()("MigrationRefused", {
  schema: Schema.String,
  reason: Schema.Literals(["newer", "different"]),
  /** The newest migration of this version, and the newest of the database. */
  programVersion: Schema.Int,
  databaseVersion: Schema.Int,
  /** The migration of the database that this version does not support. */
  id: Schema.Int,
  name: Schema.String
}) {
  override get message(): string {
    const versions = `Schema ${this.schema} is at version ${this.databaseVersion}, this program knows version ${this.programVersion}`
    return this.reason === "newer"
      ? `${versions}, and migration ${this.id} (${this.name}) is not compatible with older programs. Start the newer program, or restore a backup from before that migration.`
      : `${versions}, and migration ${this.id} is "${this.name}" in the database and has another name in this program. The schema belongs to another program; choose another schema name.`
  }
}

/** A migration failed and was rolled back. */
export class MigrationFailed extends Schema.TaggedError<MigrationFailed>()("MigrationFailed", {
  schema: Schema.String,
  id: Schema.Int,
  name: Schema.String,
  cause: Schema.Defect()
}) {
  override get message(): string {
    const why = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return `Migration ${this.id} (${this.name}) of schema ${this.schema} failed and was rolled back: ${why}. Earlier migrations are applied. Fix the cause and start again.`
  }
}

/** The schema name is invalid. */
export class InvalidSchemaName extends Schema.TaggedError<InvalidSchemaName>()("InvalidSchemaName", {
  schema: Schema.String
}) {
  override get message(): string {
    return `"${this.schema}" is not a valid schema name. Use lower-case letters, digits and underscores, at most 63, not starting with a digit or pg_.`
  }
}

/**
 * The quoted schema name for statements. Throws {@link InvalidSchemaName}.
 *
 * @stability unstable
 */
export const quoteSchema = (schema: string): string => {
  if (!/^(?!pg_|information_schema$)[a-z_][a-z0-9_]{0,62}$/.test(schema)) throw new InvalidSchemaName({ schema })
  return `"${schema}"`
}

/**
 * Applies missing migrations in order and returns them. Each one runs in a transaction with its row in the `migrations` table.
 * Processes that start at the same time wait for each other at each migration. The lock belongs to the transaction,
 * so it works without session state and ends with its connection.
 *
 * A newer database is accepted if its additional migrations are not breaking, and refused otherwise.
 *
 * @stability unstable
 */
export const migrate = Effect.fn("migrate")(function*(options: MigrationOptions) {
  const applied: Array<Migration> = []
  const { length } = yield* pending(options)
  for (let left = length; left > 0; left--) {
    const next = yield* Effect.retry(applyNext(options), { while: isLockConflict, times: maxAttempts, schedule: Schedule.jittered(Schedule.spaced("250 millis")) })
    if (next === undefined) break
    applied.push(next)
  }
  return applied
})

/** Another transaction held a table for longer than a migration waits; nothing was applied. */
const isLockConflict = (error: { readonly _tag: string; readonly cause?: unknown }): boolean =>
  error._tag === "MigrationFailed" && ["55P03", "40P01"].includes((error.cause as { readonly code?: string } | undefined)?.code ?? "")

/** About a minute of attempts. */
const maxAttempts = 100

/**
 * The migrations that {@link migrate} would apply, without changing or locking anything.
 *
 * @stability unstable
 */
export const pending = (
  options: MigrationOptions
): Effect.Effect<ReadonlyArray<Migration>, MigrationRefused | InvalidSchemaName | SqlError, PgClientService> =>
  Effect.flatMap(appliedMigrations(options), (rows) => Effect.fromResult(missing(options, rows)))

/** Which migrations are printed, and how. */
export interface PrintOptions {
  /** Print only the migrations after this version, for a database at this version. */
  readonly after?: number
  /** Print BEGIN and COMMIT too. Migration tools run each file in a transaction of their own, so false by default. */
  readonly transaction?: boolean
}

/** SQL that is printed after the migrations. It has no number, so it can be applied again. */
export interface OptionalStep {
  readonly name: string
  readonly sql: string
}

/**
 * All migrations as one SQL text for a database administrator, to run once on a database without migrations, or only those after a
 * version. The text must run in one transaction and fails before any change outside one. Afterwards {@link pending} is empty and programs
 * need no right to create anything.
 *
 * @stability unstable
 */
export const print = (
  options: MigrationOptions,
  { after = 0, transaction = false }: PrintOptions = {},
  optional: ReadonlyArray<OptionalStep> = []
): string => {
  const schema = quoteSchema(options.schema)
  const known = inOrder(options)
  if (after !== 0 && !known.some(({ id }) => id === after)) throw new RangeError(`There is no migration ${after}; the newest is ${known.at(-1)?.id}.`)
  const steps = known.filter(({ id }) => id > after).map((migration) =>
    `-- ${migration.id} ${migration.name}\n${migration.up(schema).trim().replace(/;?$/, ";")}\n${record(schema, migration)};`
  )
  const statements = [
    `${keepSettings};`,
    `${onlyInTransaction(options.schema)};`,
    `${transactionSettings};`,
    `SELECT pg_advisory_xact_lock('${lockKey(options.schema)}');`,
    `-- fails and changes nothing if another transaction uses a table for longer than half a second; run it again\nSELECT ${lockTimeout};`,
    ...(after === 0 ? [`CREATE SCHEMA IF NOT EXISTS ${schema};`, `${createMigrationsTable(schema)};`] : [onlyAt(options.schema, after)]),
    ...steps,
    ...optional.map(({ name, sql }) => `-- ${name}\n${sql}`),
    `${restoreSettings};`
  ]
  return [...(transaction ? ["BEGIN;", ...statements, "COMMIT;"] : statements), ""].join("\n\n")
}

/** Those that the server has: `transaction_timeout` came with Postgres 17. */
const settings = "pg_catalog.pg_settings\nWHERE name IN ('search_path', 'lock_timeout', 'statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')"

/** A migration tool may continue in the same transaction, for example to record the file. */
const keepSettings = `SELECT set_config('waybill.' || name, current_setting(name), true)
FROM ${settings}`

const restoreSettings = `SELECT set_config(name, current_setting('waybill.' || name), true)
FROM ${settings}`

/** Outside a transaction the kept settings have ended with their own statement, and so would the lock. */
const onlyInTransaction = (schema: string): string =>
  `DO $$ BEGIN
  IF coalesce(current_setting('waybill.lock_timeout', true), '') = '' THEN
    RAISE EXCEPTION 'Run the migrations of schema ${schema} in one transaction; nothing was changed.' USING ERRCODE = 'no_active_sql_transaction';
  END IF;
END $$`

const onlyAt = (schema: string, version: number): string =>
  `DO $$ BEGIN
  IF (SELECT max(id) FROM ${quoteSchema(schema)}.migrations) IS DISTINCT FROM ${version} THEN
    RAISE EXCEPTION 'Schema ${schema} is not at version ${version}; nothing was changed.';
  END IF;
END $$;`

const appliedRow = row({ id: int4, name: text, breaking: bool })

type AppliedMigration = Decoded<typeof appliedRow>

/** The missing migrations, or why this version must not use the database. */
const missing = (
  options: MigrationOptions,
  rows: ReadonlyArray<AppliedMigration>
): Result.Result<ReadonlyArray<Migration>, MigrationRefused> => {
  const known = inOrder(options)
  const programVersion = known.at(-1)?.id ?? 0
  const refuse = (reason: "newer" | "different", { id, name }: AppliedMigration) =>
    Result.fail(
      new MigrationRefused({
        schema: options.schema,
        reason,
        programVersion,
        databaseVersion: Math.max(...rows.map((row) => row.id)),
        id,
        name
      })
    )
  const other = rows.find((row) => row.id <= programVersion && known.find(({ id }) => id === row.id)?.name !== row.name)
  if (other !== undefined) return refuse("different", other)
  const newer = rows.find((row) => row.id > programVersion && row.breaking)
  if (newer !== undefined) return refuse("newer", newer)
  const applied = new Set(rows.map((row) => row.id))
  return Result.succeed(known.filter(({ id }) => !applied.has(id)))
}

const existsRow = row({ schema: bool, table: bool })

/** One transaction: waits for the lock, checks again, applies the first missing migration. */
const applyNext = (
  options: MigrationOptions
): Effect.Effect<
  Migration | undefined,
  MigrationRefused | MigrationFailed | InvalidSchemaName | SqlError,
  PgClientService
> =>
  lockedForMigration(options.schema, Effect.gen(function*() {
    const sql = yield* PgClient
    const run = (text: string) => sql.unsafe(text).unprepared
    const schema = yield* quoted(options.schema)
    const exists = yield* sql.one(
      existsRow,
      statement`SELECT to_regnamespace(${schema}) IS NOT NULL AS schema, to_regclass(${`${schema}.migrations`}) IS NOT NULL AS "table"`
    )
    // check first: IF NOT EXISTS needs the CREATE right even if the object exists
    if (!exists.schema) yield* run(`CREATE SCHEMA ${schema}`)
    if (!exists.table) yield* run(createMigrationsTable(schema))
    const [next] = yield* pending(options)
    if (next === undefined) return undefined
    const { id, name } = next
    yield* Effect.andThen(run(asOneStatement(next.up(schema))), run(record(schema, next))).pipe(
      Effect.mapError((error) => new MigrationFailed({ schema: options.schema, id, name, cause: error.reason.cause }))
    )
    return next
  }))

/** Runs an effect in a transaction that holds the schema's migration lock. */
export const lockedForMigration = <A, E>(
  schema: string,
  effect: Effect.Effect<A, E, PgClientService>
): Effect.Effect<A, E | SqlError, PgClientService> =>
  Effect.gen(function*() {
    const sql = yield* PgClient
    const run = (text: string) => sql.unsafe(text).unprepared
    return yield* sql.withTransaction(Effect.gen(function*() {
      yield* run(transactionSettings)
      yield* run(`SELECT pg_advisory_xact_lock('${lockKey(schema)}')`)
      yield* run(`SELECT ${lockTimeout}`)
      return yield* effect
    }))
  }).pipe(
    // other processes may be migrating, and a large table takes long
    Effect.provideService(NoTimeout, true)
  )

const appliedMigrations = (options: MigrationOptions) =>
  Effect.gen(function*() {
    const sql = yield* PgClient
    const schema = yield* quoted(options.schema)
    const hasTable = yield* sql.one(bool, statement`SELECT to_regclass(${`${schema}.migrations`}) IS NOT NULL AS "table"`)
    if (!hasTable) return []
    return yield* sql.rows(appliedRow, statement`SELECT ${appliedRow.columns()} FROM ${raw(schema)}.migrations ORDER BY id`)
  })

/**
 * A connection of `@effect/sql-pg` sends one statement at a time; a DO block carries several. Between dollar signs backslashes stand for themselves, also with
 * `standard_conforming_strings` off.
 */
export const asOneStatement = (script: string): string => `DO $migration$ BEGIN EXECUTE $script$${script}$script$; END $migration$`

/** An empty search path, and none of the timeouts for ordinary statements. */
const transactionSettings = `SELECT set_config(name, CASE name WHEN 'search_path' THEN '' ELSE '0' END, true)
FROM ${settings}`

/**
 * A migration that waits for a table lock blocks all later statements on the table, and could deadlock with writers of several tables.
 * It gives up before Postgres checks for deadlocks, after a second.
 */
const lockTimeout = "set_config('lock_timeout', '500ms', true)"

const createMigrationsTable = (schema: string): string =>
  `CREATE TABLE IF NOT EXISTS ${schema}.migrations (
  id integer PRIMARY KEY,
  name text NOT NULL,
  breaking boolean NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT now()
)`

const record = (schema: string, { breaking, id, name }: Migration): string =>
  `INSERT INTO ${schema}.migrations (id, name, breaking) VALUES (${id}, '${name.replaceAll("'", "''")}', ${breaking})`

/** One lock per schema, with the same number in every process. */
const lockKey = (schema: string): bigint =>
  createHash("sha256").update(`waybill migrations of ${schema}`).digest().readBigInt64BE(0)

const quoted = (schema: string): Effect.Effect<string, InvalidSchemaName> =>
  Effect.try({ try: () => quoteSchema(schema), catch: (error) => error as InvalidSchemaName })

const inOrder = ({ migrations }: MigrationOptions): ReadonlyArray<Migration> => {
  const sorted = migrations.toSorted((a, b) => a.id - b.id)
  if (sorted.some(({ id }, index) => !Number.isInteger(id) || id < 1 || id === sorted[index - 1]?.id)) {
    throw new Error("Migrations are numbered with whole numbers from 1, each used once.")
  }
  return sorted
}
