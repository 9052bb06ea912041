/** All storage ports on the test run's Postgres, in their own schema, which is dropped with the layer. */
import type { StoragePorts } from "@waybill/core"
import { Effect, Layer, Redacted } from "effect"
import { randomBytes } from "node:crypto"
import { inject } from "vitest"
import { PgClient, StoragePostgres } from "../src/index.ts"
import { distribute } from "../src/migrations/Distribution.ts"

export const pgLayer = PgClient.layer({ url: Redacted.make(inject("pgUrl")), maxConnections: 12, applicationName: `waybill ${randomBytes(6).toString("hex")}` })

export const freshSchema = (): string => `test_${randomBytes(6).toString("hex")}`

export interface TestStorageOptions {
  /** A client over that of the test, for example one that records. */
  readonly over?: Layer.Layer<PgClient.PgClientService, never, PgClient.PgClientService>
  /** Leaves the schema to the next layer of it. */
  readonly keep?: boolean
}

export const testStorage = (
  schema = freshSchema(),
  { keep = false, over = Layer.effect(PgClient.PgClient, PgClient.PgClient) }: TestStorageOptions = {}
): Layer.Layer<StoragePorts | PgClient.PgClientService, unknown> => {
  const dropped = keep ? Layer.empty : Layer.effectDiscard(Effect.acquireRelease(
    Effect.void,
    () => Effect.orDie(Effect.flatMap(PgClient.PgClient, (sql) => sql.unsafe(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`)))
  ))
  const storage = StoragePostgres.layer({ schema }).pipe(Layer.provideMerge(over))
  const prepared = Layer.effectDiscard(process.env.WAYBILL_TEST_CITUS === "1" ? distributedOverFewShards(schema) : checkTenants(schema))
  return prepared.pipe(Layer.provideMerge(storage)).pipe(Layer.provideMerge(dropped.pipe(Layer.provideMerge(pgLayer))))
}

/** For runs against the coordinator of a cluster, by `npm run citus`. Creating and dropping shards takes time, so there are two, one on each of two workers. */
const distributedOverFewShards = (schema: string) =>
  Effect.gen(function*() {
    const sql = yield* PgClient.PgClient
    yield* sql.withTransaction(Effect.andThen(sql.unsafe("SET LOCAL citus.shard_count TO 2").unprepared, distribute(schema)))
  })

/**
 * Makes every statement fail that changes or deletes rows of several tenants. The tests of a schema use the same ids in many tenants, so a
 * statement that lacks a condition for the tenant finds rows of others.
 */
const checkTenants = (schema: string) =>
  Effect.gen(function*() {
    const sql = yield* PgClient.PgClient
    yield* sql.unsafe(`
CREATE OR REPLACE FUNCTION "${schema}".test_one_tenant() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM changed HAVING min(tenant_id) <> max(tenant_id)) THEN
    RAISE EXCEPTION 'One statement changed rows of several tenants in %.', TG_TABLE_NAME;
  END IF;
  RETURN NULL;
END $$`).unprepared
    yield* sql.unsafe(`
DO $$
DECLARE changed_table regclass; change text;
BEGIN
  FOR changed_table IN
    SELECT c.oid FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
    WHERE c.relnamespace = '"${schema}"'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
  LOOP
    FOREACH change IN ARRAY ARRAY['update', 'delete'] LOOP
      EXECUTE format(
        'CREATE OR REPLACE TRIGGER test_one_tenant_%1$s AFTER %1$s ON %2$s REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION "${schema}".test_one_tenant()',
        change, changed_table
      );
    END LOOP;
  END LOOP;
END $$`).unprepared
  })
