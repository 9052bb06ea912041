/** Signing secrets in memory, sealed as everywhere. */
import { SecretStore } from "@waybill/core"
import { Effect, Layer, Option } from "effect"
import { MemoryDatabase } from "../shared/MemoryDatabase.ts"
import { SecretTables } from "./SecretTables.ts"

export const SecretStoreMemory = {
  layer: Layer.effect(
    SecretStore,
    Effect.gen(function*() {
      const { journal, operate } = yield* MemoryDatabase
      const rows = yield* SecretTables
      const find = (tenantId: string, hmacSecretId: string) =>
        operate((now) => Option.fromUndefinedOr(rows.find(tenantId, hmacSecretId, now)))
      return SecretStore.of({
        find,
        findForUpdate: find,
        put: (tenantId, hmacSecretId, secret) => operate(() => journal.put(rows.secrets, rows.nameOf(tenantId, hmacSecretId), secret))
      })
    })
  )
}
