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
  const onCitus = Layer.effectDiscard(distributedOverFewShards(schema)).pipe(Layer.provideMerge(storage))
  return (process.env.WAYBILL_TEST_CITUS === "1" ? onCitus : storage).pipe(Layer.provideMerge(dropped.pipe(Layer.provideMerge(pgLayer))))
}

/** For runs against the coordinator of a cluster, by `npm run citus`. Creating and dropping shards takes time, so there are two, one on each of two workers. */
const distributedOverFewShards = (schema: string) =>
  Effect.gen(function*() {
    const sql = yield* PgClient.PgClient
    yield* sql.withTransaction(Effect.andThen(sql.unsafe("SET LOCAL citus.shard_count TO 2").unprepared, distribute(schema)))
  })
