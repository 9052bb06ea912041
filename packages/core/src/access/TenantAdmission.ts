/** Whether a tenant is served, asked at every call: suspending or deleting one works at once on every node. */
import { Effect, Option } from "effect"
import { makeRequestBatcher } from "../shared/RequestBatcher.ts"
import type { StorageError } from "../shared/StorageError.ts"
import { TenantSuspended } from "./AccessErrors.ts"
import { AccessStore, type Tenant } from "./AccessStore.ts"

/** The tenant where it is served; `None` where there is none. Calls that come together are answered by one statement. */
export type AdmitTenant = (tenantId: string) => Effect.Effect<Option.Option<Tenant>, TenantSuspended | StorageError>

export const makeTenantAdmission: Effect.Effect<AdmitTenant, never, AccessStore> = Effect.gen(function*() {
  const store = yield* AccessStore
  const findTenant = yield* makeRequestBatcher((tenantId: string, asked: ReadonlyArray<void>) =>
    Effect.map(store.findTenant(tenantId), (found) => asked.map(() => found)))
  return Effect.fnUntraced(function*(tenantId: string) {
    const found = yield* findTenant(tenantId, undefined)
    if (Option.isSome(found) && found.value.state === "suspended") return yield* new TenantSuspended({ tenantId })
    return found
  })
})
