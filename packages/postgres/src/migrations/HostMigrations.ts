/** Migrations for hosts that apply them with a tool of their own. */
import { Effect, Redacted } from "effect"
import type pg from "pg"
import * as PgClient from "../client/PgClient.ts"
import { migrations } from "./index.ts"
import { pending, print } from "./Migrations.ts"

/**
 * Every migration as plain SQL in one transaction, for `psql` or a migration tool. `after` prints only those behind a version;
 * run elsewhere than at that version, the text changes nothing and says so.
 */
export const printMigrations = (schema = "waybill", options: { readonly after?: number } = {}): string =>
  print({ schema, migrations }, options.after)

/**
 * The names of the migrations that a database lacks; empty when it is up to date. Nothing is changed or locked. Rejects with
 * `MigrationRefused` when a newer program has been there, or another one.
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
