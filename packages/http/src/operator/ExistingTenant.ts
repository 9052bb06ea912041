/** Operators and hosts type tenant ids; an unknown id must not reach a store. */
import { type StorageError, type Tenant, TenantId, TenantNotFound, type Tenants } from "@waybill/core"
import { Effect, Schema } from "effect"

const isTenantId: (text: string) => boolean = Schema.is(TenantId)

export const tenantNamed = (tenants: Tenants["Service"], tenantId: string): Effect.Effect<Tenant, TenantNotFound | StorageError> =>
  isTenantId(tenantId) ? tenants.get(tenantId) : Effect.fail(new TenantNotFound({ tenantId: String(tenantId).slice(0, 100) }))

/** Runs an effect only if the tenant exists. */
export const existingTenant = (tenants: Tenants["Service"]) =>
<A, E, R>(tenantId: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | TenantNotFound | StorageError, R> =>
  Effect.andThen(tenantNamed(tenants, tenantId), effect)
