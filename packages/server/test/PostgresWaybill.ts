/**
 * All use cases over the test run's Postgres, in a schema that is dropped with the layer, for tests that are shared
 * with other packages.
 */
import { Waybill } from "@waybill/core"
import { DeliveryOptions } from "@waybill/core/delivery"
import { PgClient, StoragePostgres } from "@waybill/postgres"
import { ContentHashNode, HmacNode, SealerNode, WebhookSenderScripted } from "@waybill/testkit"
import { Effect, Layer, Redacted } from "effect"
import { randomUUID } from "node:crypto"
import { inject } from "vitest"

const schema = `whole_${randomUUID().slice(0, 8)}`

const dropped = Layer.effectDiscard(Effect.acquireRelease(
  Effect.void,
  () => Effect.orDie(Effect.flatMap(PgClient.PgClient, (sql) => sql.unsafe(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`)))
))

const storage = StoragePostgres.layer({ schema }).pipe(
  Layer.provideMerge(dropped.pipe(Layer.provideMerge(PgClient.layer({ url: Redacted.make(inject("pgUrl")), maxConnections: 8 }))))
)

export const postgresWaybill = Layer.orDie(Waybill.layer({
  storage,
  transport: Layer.mergeAll(Layer.fresh(WebhookSenderScripted.layer), HmacNode.layer, ContentHashNode.layer, SealerNode.layer())
}).pipe(Layer.provideMerge(DeliveryOptions.layer({ pollMillis: 50 }))))
