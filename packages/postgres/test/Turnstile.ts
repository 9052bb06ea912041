/** Pauses a statement midway: after its snapshot, before its next step. */
import { Effect } from "effect"
import { PgClient } from "../src/index.ts"
import { holding } from "./delivery/Holding.ts"

/**
 * Pauses the next statement that reads a row of the table until the returned effect runs. Other statements pass.
 */
export const haltNextReader = Effect.fnUntraced(function*(schema: string, table: string) {
  const sql = yield* PgClient.PgClient
  yield* sql.unsafe(`
DO $$ BEGIN
  IF to_regclass('"${schema}".${table}_turns') IS NULL THEN
    CREATE SEQUENCE "${schema}".${table}_turns;
    CREATE FUNCTION "${schema}".${table}_turnstile() RETURNS boolean LANGUAGE plpgsql AS $turnstile$ BEGIN
      IF nextval('"${schema}".${table}_turns') = 1 THEN PERFORM pg_advisory_xact_lock_shared(hashtext('${schema} ${table}')); END IF;
      RETURN true;
    END $turnstile$;
    ALTER TABLE "${schema}".${table} RENAME TO ${table}_behind_turnstile;
    CREATE VIEW "${schema}".${table} AS SELECT *, ctid FROM "${schema}".${table}_behind_turnstile WHERE "${schema}".${table}_turnstile();
  END IF;
END $$`).unprepared
  yield* sql.unsafe(`SELECT setval('"${schema}".${table}_turns', 1, false)`).unprepared
  return yield* holding(sql`SELECT pg_advisory_xact_lock(hashtext(${`${schema} ${table}`}))`)
})
