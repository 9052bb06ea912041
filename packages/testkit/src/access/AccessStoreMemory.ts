/** Tenants, API keys and what clients may see, in memory. */
import { AccessStore, type Tenant } from "@waybill/core"
import { Effect, Layer, Option } from "effect"
import { compareText } from "../shared/CodePoints.ts"
import { MemoryDatabase } from "../shared/MemoryDatabase.ts"
import { type AccessRows, AccessTables } from "./AccessTables.ts"

export const AccessStoreMemory = {
  layer: Layer.effect(
    AccessStore,
    Effect.gen(function*() {
      const { journal, operate } = yield* MemoryDatabase
      const rows = yield* AccessTables
      return AccessStore.of({
        putTenant: (tenant) => operate(() => journal.put(rows.tenants, tenant.tenantId, tenant)),
        findTenant: (tenantId) => operate(() => Option.fromUndefinedOr(rows.tenants.get(tenantId))),
        pageTenants: ({ after, limit }) =>
          operate(() => allTenants(rows).filter(({ tenantId }) => after === undefined || compareText(tenantId, after) > 0).slice(0, limit)),
        listTenants: operate(() => allTenants(rows)),
        findLimits: (tenantId) => operate(() => limitsOf(rows, tenantId)),
        findLimitsForUpdate: (tenantId) => operate(() => limitsOf(rows, tenantId)),
        putLimits: (tenantId, limits) =>
          operate(() => {
            if (rows.tenants.has(tenantId)) journal.put(rows.limits, tenantId, limits)
          }),
        addKey: (tenantId, key) => operate(() => journal.put(rows.of(tenantId).keys, key.id, key)),
        findKeys: (tenantId, ids) => operate(() => ids.map((id) => Option.fromUndefinedOr(rows.of(tenantId).keys.get(id)))),
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

const limitsOf = ({ limits, tenants }: AccessRows, tenantId: string): Option.Option<string | undefined> =>
  tenants.has(tenantId) ? Option.some(limits.get(tenantId)) : Option.none()

const allTenants = ({ tenants }: AccessRows): ReadonlyArray<Tenant> => [...tenants.values()].sort((a, b) => compareText(a.tenantId, b.tenantId))
