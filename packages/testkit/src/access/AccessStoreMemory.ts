/** Tenants, API keys and what clients may see, in memory. */
import { AccessStore } from "@waybill/core"
import { Effect, Layer, Option } from "effect"
import { compareText } from "../shared/CodePoints.ts"
import { MemoryDatabase } from "../shared/MemoryDatabase.ts"
import { AccessTables } from "./AccessTables.ts"

export const AccessStoreMemory = {
  layer: Layer.effect(
    AccessStore,
    Effect.gen(function*() {
      const { journal, operate } = yield* MemoryDatabase
      const rows = yield* AccessTables
      return AccessStore.of({
        putTenant: (tenant) => operate(() => journal.put(rows.tenants, tenant.tenantId, tenant)),
        findTenant: (tenantId) => operate(() => Option.fromUndefinedOr(rows.tenants.get(tenantId))),
        listTenants: operate(() => [...rows.tenants.values()].sort((a, b) => compareText(a.tenantId, b.tenantId))),
        addKey: (tenantId, key) => operate(() => journal.put(rows.of(tenantId).keys, key.id, key)),
        findKey: (tenantId, id) => operate(() => Option.fromUndefinedOr(rows.of(tenantId).keys.get(id))),
        revokeKey: (tenantId, id) =>
          operate(() => {
            const { keys } = rows.of(tenantId)
            const revoked = keys.get(id)
            journal.drop(keys, id)
            return Option.fromUndefinedOr(revoked)
          }),
        keysOf: (tenantId, name) => operate(() => [...rows.of(tenantId).keys.values()].filter((key) => key.name === name)),
        putClientAccess: (tenantId, access) => operate(() => rows.putClient(tenantId, access))
      })
    })
  )
}
