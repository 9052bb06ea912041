/** Checks at every call whether a tenant is active. Suspending or deleting a tenant takes effect at once on every node. */
import { Effect, Option } from "effect"
import { makeRequestBatcher } from "../shared/RequestBatcher.ts"
import type { StorageError } from "../shared/StoragePort.ts"
import { TenantSuspended } from "./AccessErrors.ts"
import { AccessStore, type Tenant } from "./AccessStore.ts"

/** The tenant if it is active; `None` if it does not exist. One statement answers concurrent calls. `client`: the caller, if it is known. */
export type AdmitTenant = (tenantId: string, client?: string) => Effect.Effect<Option.Option<Tenant>, TenantSuspended | StorageError>

/** Makes the check of a call's tenant. Concurrent checks of one tenant share a read. Fails for a suspended tenant. */
export const makeTenantAdmission: Effect.Effect<AdmitTenant, never, AccessStore> = Effect.gen(function*() {
  const store = yield* AccessStore
  const findTenant = yield* makeRequestBatcher((tenantId: string, asked: ReadonlyArray<void>) =>
    Effect.map(store.findTenant(tenantId), (found) => asked.map(() => found)))
  return Effect.fnUntraced(function*(tenantId: string, client?: string) {
    const found = yield* findTenant(tenantId, undefined)
    if (Option.isSome(found) && found.value.state === "suspended") return yield* new TenantSuspended(client === undefined ? { tenantId } : { tenantId, client })
    return found
  })
})
