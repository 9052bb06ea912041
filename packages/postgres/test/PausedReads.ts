/** Pauses a statement after its snapshot, before it continues. */
import { Effect } from "effect"
import { PgClient } from "../src/index.ts"
import { openTransaction } from "./OpenTransaction.ts"

/**
 * Pauses the next statement that reads a row of the table, until the returned effect runs. Later statements are not paused.
 *
 * Replaces the table by a view whose filter counts reads: the first read waits for an advisory lock.
 */
export const pauseNextRead = Effect.fnUntraced(function*(schema: string, table: string) {
  const sql = yield* PgClient.PgClient
  yield* sql.unsafe(`
DO $$ BEGIN
  IF to_regclass('"${schema}".${table}_reads') IS NULL THEN
    CREATE SEQUENCE "${schema}".${table}_reads;
    CREATE FUNCTION "${schema}".${table}_pause() RETURNS boolean LANGUAGE plpgsql AS $pause$ BEGIN
      IF nextval('"${schema}".${table}_reads') = 1 THEN PERFORM pg_advisory_xact_lock_shared(hashtext('${schema} ${table}')); END IF;
      RETURN true;
    END $pause$;
    ALTER TABLE "${schema}".${table} RENAME TO ${table}_paused;
    CREATE VIEW "${schema}".${table} AS SELECT *, ctid FROM "${schema}".${table}_paused WHERE "${schema}".${table}_pause();
  END IF;
END $$`).unprepared
  yield* sql.unsafe(`SELECT setval('"${schema}".${table}_reads', 1, false)`).unprepared
  return yield* openTransaction(sql`SELECT pg_advisory_xact_lock(hashtext(${`${schema} ${table}`}))`)
})
