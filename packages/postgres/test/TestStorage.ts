/** All storage ports on the test run's Postgres, in their own schema, which is dropped with the layer. */
import type { StoragePorts } from "@waybill/core"
import { Effect, Layer, Redacted } from "effect"
import { randomBytes } from "node:crypto"
import { inject } from "vitest"
import { PgClient, StoragePostgres } from "../src/index.ts"

export const pgLayer = PgClient.layer({ url: Redacted.make(inject("pgUrl")), maxConnections: 12, applicationName: `waybill ${randomBytes(6).toString("hex")}` })

export const freshSchema = (): string => `test_${randomBytes(6).toString("hex")}`

export const testStorage = (schema = freshSchema()): Layer.Layer<StoragePorts | PgClient.PgClientService, unknown> => {
  const dropped = Layer.effectDiscard(Effect.acquireRelease(
    Effect.void,
    () => Effect.orDie(Effect.flatMap(PgClient.PgClient, (sql) => sql.unsafe(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`)))
  ))
  return StoragePostgres.layer({ schema }).pipe(Layer.provideMerge(dropped.pipe(Layer.provideMerge(pgLayer))))
}
