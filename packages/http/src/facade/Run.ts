/** Runs a use case of core as a promise, for a principal from the host. */
import type {
  ChargeSubscriptions,
  Explanations,
  FreightChargeIntake,
  InvoiceDocuments,
  Invoices,
  Pickups,
  Principal,
  ShipmentIntake,
  ShipmentStatuses,
  StatusSubscriptions,
  StatusUpdateIntake,
  StorageError,
  Subscriptions,
  TenantNotFound,
  TransitEventIntake,
  TransitSubscriptions
} from "@waybill/core"
import { isOperator, Tenants, TenantSuspended } from "@waybill/core"
import { type Context, Effect } from "effect"
import { type HostPrincipal, principalOf } from "../access/AuthenticatorHost.ts"
import type { Failure } from "../shared/ProblemOf.ts"

/** All use cases that a host can call. */
export type CallServices =
  | ChargeSubscriptions
  | Explanations
  | FreightChargeIntake
  | InvoiceDocuments
  | Invoices
  | Pickups
  | ShipmentIntake
  | ShipmentStatuses
  | StatusSubscriptions
  | StatusUpdateIntake
  | Subscriptions
  | Tenants
  | TransitEventIntake
  | TransitSubscriptions

export type Run = <A>(effect: Effect.Effect<A, Failure, CallServices>) => Promise<A>

/** Makes a call join a transaction, or leaves it unchanged. */
export type Around = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

export const as = <I extends CallServices, S, A, E extends Failure>(
  said: HostPrincipal,
  service: Context.Key<I, S>,
  call: (service: S, principal: Principal) => Effect.Effect<A, E>
): Effect.Effect<A, E | TenantNotFound | TenantSuspended | StorageError, I | Tenants> =>
  Effect.flatMap(service, (found) => Effect.flatMap(servedPrincipal(said), (principal) => call(found, principal)))

/** The principal, if its tenant exists and is not suspended. Read in the transaction that the call joins. */
export const servedPrincipal = (said: HostPrincipal) =>
  Effect.gen(function*() {
    const principal = yield* principalOf(said)
    if (!isOperator(principal)) yield* served(principal.tenantId)
    return principal
  })

export const served = Effect.fnUntraced(function*(tenantId: string) {
  const { state } = yield* (yield* Tenants).get(tenantId)
  if (state === "suspended") return yield* new TenantSuspended({ tenantId })
})
