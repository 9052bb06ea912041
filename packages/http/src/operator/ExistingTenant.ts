/** Operators type tenant ids; an unknown id must not reach a store. */
import { type StorageError, TenantId, TenantNotFound, type Tenants } from "@waybill/core"
import { Effect, Schema } from "effect"

const isTenantId: (text: string) => boolean = Schema.is(TenantId)

/** Runs an effect only if the tenant exists. */
export const existingTenant = (tenants: Tenants["Service"]) =>
<A, E, R>(tenantId: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | TenantNotFound | StorageError, R> =>
  isTenantId(tenantId)
    ? Effect.andThen(tenants.get(tenantId), effect)
    : Effect.fail(new TenantNotFound({ tenantId: tenantId.slice(0, 100) }))
