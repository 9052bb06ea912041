/** Who may do what, once more with everything kept in Postgres: the matrix itself stands beside the contracts it is made of. */
import { DeliveryOptions, FreightChargeOptions, Waybill } from "@waybill/core"
import { PgClient, StoragePostgres } from "@waybill/postgres"
import { ContentHashNode, HmacNode, SealerNode, WebhookSenderScripted } from "@waybill/testkit"
import { Effect, Layer, Redacted } from "effect"
import { randomUUID } from "node:crypto"
import { inject } from "vitest"

// another package's tests are no module of this one's
const matrix = new URL("../../../http/test/hostile/AccessMatrix.ts", import.meta.url).pathname
const { accessMatrix } = await import(matrix) as {
  readonly accessMatrix: (options: { readonly freshWorlds: boolean; readonly service: { readonly waybill: typeof waybill } }) => void
}

const schema = `matrix_${randomUUID().slice(0, 8)}`

const dropped = Layer.effectDiscard(Effect.acquireRelease(
  Effect.void,
  () => Effect.orDie(Effect.flatMap(PgClient.PgClient, (sql) => sql.unsafe(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`)))
))

const storage = StoragePostgres.layer({ schema }).pipe(
  Layer.provideMerge(dropped.pipe(Layer.provideMerge(PgClient.layer({ url: Redacted.make(inject("pgUrl")), maxConnections: 8 }))))
)

const waybill = Layer.orDie(Waybill.layer.pipe(Layer.provideMerge(Layer.mergeAll(
  storage,
  Layer.fresh(WebhookSenderScripted.layer),
  HmacNode.layer,
  ContentHashNode.layer,
  SealerNode.layer(),
  FreightChargeOptions.layer({}),
  DeliveryOptions.layer({ pollMillis: 50 })
))))

accessMatrix({ freshWorlds: false, service: { waybill } })
