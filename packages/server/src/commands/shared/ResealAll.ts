/** Seals the secrets of every tenant again, with the sealing keys of this process. */
import { Tenants } from "@waybill/core"
import { Sealer, SigningSecrets } from "@waybill/core/delivery"
import { StoragePostgres } from "@waybill/postgres"
import { Effect, Layer } from "effect"
import type { ServerConfig } from "../../config/ServerConfig.ts"
import type { SealingKeys } from "../../config/Variables.ts"
import { openDatabase, poolLayer } from "../../database/Database.ts"

export const resealAll = Effect.fnUntraced(function*(config: ServerConfig, keys: SealingKeys) {
  const url = yield* openDatabase(config)
  const storage = StoragePostgres.layer({ schema: config.schema, migrate: false, listen: false }).pipe(Layer.provide(poolLayer(config, url)))
  const services = SigningSecrets.layer.pipe(Layer.provideMerge(Tenants.layer), Layer.provide(Layer.merge(storage, Sealer.layer(keys))))
  return yield* Effect.gen(function*() {
    const secrets = yield* SigningSecrets
    const total = { resealed: 0, unchanged: 0 }
    const unreadable: Array<{ readonly tenantId: string; readonly hmacSecretId: string }> = []
    for (const { tenantId } of yield* (yield* Tenants).list) {
      // a tenant that was deleted meanwhile has no secrets left
      const done = yield* Effect.catchTag(secrets.reseal(tenantId), "TenantNotFound", () => Effect.succeed(undefined))
      if (done === undefined) continue
      total.resealed += done.resealed
      total.unchanged += done.unchanged
      for (const hmacSecretId of done.unreadable) unreadable.push({ tenantId, hmacSecretId })
    }
    return { ...total, unreadable }
  }).pipe(Effect.provide(services))
})
