/** Migrations for hosts that apply them with their own tool. */
import { Effect, Redacted } from "effect"
import type pg from "pg"
import * as PgClient from "../client/PgClient.ts"
import { migrations } from "./index.ts"
import { pending, print } from "./Migrations.ts"

/**
 * Every migration as plain SQL in one transaction, for `psql` or a migration tool. `after` returns only the migrations after a version;
 * on a database at another version this SQL fails with a message and changes nothing.
 */
export const printMigrations = (schema = "waybill", options: { readonly after?: number } = {}): string =>
  print({ schema, migrations }, options.after)

/**
 * The names of missing migrations; empty when the database is up to date. Changes and locks nothing. Rejects with
 * `MigrationRefused` when a newer version or another program changed the tables.
 */
export const checkMigrations = async (
  options: { readonly schema?: string } & ({ readonly pool: pg.Pool } | { readonly url: string })
): Promise<ReadonlyArray<string>> => {
  const client = "pool" in options
    ? PgClient.layerFromPool(options.pool)
    : PgClient.layer({ url: Redacted.make(options.url), maxConnections: 1 })
  const missing = await Effect.runPromise(Effect.provide(pending({ schema: options.schema ?? "waybill", migrations }), client))
  return missing.map(({ name }) => name)
}
