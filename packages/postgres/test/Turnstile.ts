/** Holds a statement in its middle: behind its snapshot, before what it does next. */
import { Effect } from "effect"
import { PgClient } from "../src/index.ts"
import { holding } from "./delivery/Holding.ts"

/**
 * Puts a turnstile in front of a table: the first statement that comes to a row of it from now on waits there, until what this answers
 * is run. Others pass.
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
