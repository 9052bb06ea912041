/** Runs a use case of core as a promise, for a principal from the host. */
import { fault, InvalidInput, type Principal, type StorageError, type TenantNotFound, Tenants, TenantSuspended, type Waybill } from "@waybill/core"
import { type Context, Effect } from "effect"
import { type HostPrincipal, isHostOperator, principalOf } from "../access/AuthenticatorHost.ts"
import { tenantNamed } from "../operator/ExistingTenant.ts"
import type { ServiceFailure } from "../shared/ProblemOf.ts"

/** All use cases that a host can call. */
export type CallServices = Waybill.Services

export type Run = <A>(effect: Effect.Effect<A, ServiceFailure, CallServices>) => Promise<A>

/** Makes a call join a transaction, or leaves it unchanged. */
export type Around = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

export const as = <I extends CallServices, S, A, E extends ServiceFailure>(
  given: HostPrincipal,
  service: Context.Key<I, S>,
  call: (service: S, principal: Principal) => Effect.Effect<A, E>
): Effect.Effect<A, E | InvalidInput | TenantNotFound | TenantSuspended | StorageError, I | Tenants> =>
  Effect.flatMap(service, (found) => Effect.flatMap(servedPrincipal(given), (principal) => call(found, principal)))

/** The principal, if its tenant exists and is not suspended. Read in the transaction that the call joins. */
export const servedPrincipal = Effect.fnUntraced(function*(given: HostPrincipal) {
  if (isHostOperator(given)) return yield* operatorPrincipal
  yield* served(given.tenantId)
  return yield* principalOf(given)
})

const operatorPrincipal = InvalidInput.of(fault(
  ["principal", "roles"],
  "An operator belongs to no tenant. Give a carrier or a customer, or use a method for operators, which takes no principal.",
  "not_allowed"
))

export const served = Effect.fnUntraced(function*(tenantId: string) {
  const { state } = yield* tenantNamed(yield* Tenants, tenantId)
  if (state === "suspended") return yield* new TenantSuspended({ tenantId })
})
