/** Migrations for hosts that apply them with their own tool. */
import { checkOptions, type OptionKinds, optionKinds } from "@waybill/core"
import { Effect, Redacted, Schema } from "effect"
import type pg from "pg"
import * as PgClient from "../client/PgClient.ts"
import { checkDatabase, type HostDatabase } from "../client/PgDatabase.ts"
import { installSqlPublishing, lacksSqlPublishing, sqlPublishing, sqlPublishingName } from "../sql-publishing/SqlPublishing.ts"
import { citusName, distributeMissing, lacksDistribution } from "./Distribution.ts"
import { migrations } from "./index.ts"
import { migrate, pending, print, type PrintOptions } from "./Migrations.ts"

const { boolean, list, object, text } = optionKinds

const printKinds: OptionKinds<HostPrintOptions> = {
  include: list,
  after: { what: "the number of a migration", accepts: (value) => Number.isSafeInteger(value) && (value as number) >= 0 },
  transaction: boolean
}

const targetKinds: OptionKinds<{ pool: unknown; url: unknown; schema: unknown; sqlPublishing: unknown; citus: unknown }> = {
  pool: object,
  url: text,
  schema: text,
  sqlPublishing: boolean,
  citus: boolean
}

/** Which migrations are printed, and how. */
export interface HostPrintOptions extends PrintOptions {
  /** Optional parts: `sql-publishing` prints the function `publish_transit_events`. Print it again after each upgrade of this package. */
  readonly include?: ReadonlyArray<typeof sqlPublishingName>
}

/**
 * Every migration as plain SQL, for a migration tool or `psql --single-transaction`. It runs in one transaction, which the caller begins
 * and commits; outside one it fails and changes nothing. `after` returns only the migrations after a version; on a database at another
 * version this SQL fails with a message and changes nothing.
 */
export const printMigrations = (schema = "waybill", printed: HostPrintOptions = {}): string => {
  checkOptions("printMigrations", printed, printKinds)
  const { include = [], ...options } = printed
  const unknown = include.find((name) => name !== sqlPublishingName)
  if (unknown !== undefined) throw new RangeError(`There is no optional part ${String(unknown)}. The only one is ${sqlPublishingName}.`)
  return print({ schema, migrations }, options, include.length === 0 ? [] : [{ name: sqlPublishingName, sql: sqlPublishing(schema) }])
}

/** The database of a host, and what belongs in it. */
export type MigrationTarget = {
  readonly schema?: string
  /** True includes the function for publishing from SQL, `sql-publishing`. An older version of it is always included. */
  readonly sqlPublishing?: boolean
  /** True includes the distribution of the tables by Citus, `citus`. In a schema that is distributed, new tables are always included. */
  readonly citus?: boolean
} & ({ readonly pool: pg.Pool } | { readonly url: string })

/**
 * The names of missing migrations; empty when the database is up to date. Changes and locks nothing. Rejects with
 * `MigrationRefused` when a newer version or another program changed the tables.
 */
export const checkMigrations = (target: MigrationTarget): Promise<ReadonlyArray<string>> => onTarget("checkMigrations", target, missingMigrations)

/**
 * Applies missing migrations, under a lock, and returns their names; for a step of a deploy before processes with `migrate: false`
 * start. Rejects with `MigrationRefused` when a newer version or another program changed the tables.
 */
export const applyMigrations = (target: MigrationTarget): Promise<ReadonlyArray<string>> => onTarget("applyMigrations", target, applyMissingMigrations)

const onTarget = async <E>(
  name: string,
  target: MigrationTarget,
  work: (schema: string, wanted: Wanted) => Effect.Effect<ReadonlyArray<string>, E, PgClient.PgClientService>
): Promise<ReadonlyArray<string>> => {
  checkOptions(name, target, targetKinds)
  const { pool, url }: HostDatabase = target
  checkDatabase(name, { pool, url })
  const client = pool === undefined
    ? PgClient.layer({ url: Redacted.make(url!), maxConnections: 1 })
    : PgClient.layerFromPool(pool)
  return Effect.runPromise(Effect.provide(work(target.schema ?? "waybill", { sqlPublishing: target.sqlPublishing === true, citus: target.citus === true }), client))
}

/** The database lacks migrations, and this process may not apply them. */
export class MigrationsMissing extends Schema.TaggedError<MigrationsMissing>()("MigrationsMissing", {
  schema: Schema.String,
  names: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return `Schema ${this.schema} lacks the migrations ${this.names.join(", ")}. Apply them with applyMigrations or waybill migrate, or open the storage without migrate: false.`
  }
}

/** Optional parts that count as missing if they are not there. */
export interface Wanted {
  readonly sqlPublishing?: boolean
  readonly citus?: boolean
}

export const missingMigrations = (schema: string, { citus = false, sqlPublishing = false }: Wanted) =>
  Effect.gen(function*() {
    const missing = yield* pending({ schema, migrations })
    return [
      ...missing.map(({ name }) => name),
      ...((yield* lacksSqlPublishing(schema, sqlPublishing)) ? [sqlPublishingName] : []),
      ...((yield* lacksDistribution(schema, citus)) ? [citusName] : [])
    ]
  })

/** Applies missing migrations and returns their names. Upgrades optional parts that are there, and installs those that are wanted. */
export const applyMissingMigrations = (schema: string, { citus = false, sqlPublishing = false }: Wanted) =>
  Effect.gen(function*() {
    const applied = yield* migrate({ schema, migrations })
    return [
      ...applied.map(({ name }) => name),
      ...((yield* installSqlPublishing(schema, sqlPublishing)) ? [sqlPublishingName] : []),
      ...((yield* distributeMissing(schema, citus)) ? [citusName] : [])
    ]
  })
