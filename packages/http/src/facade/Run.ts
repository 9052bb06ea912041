/** Runs a use case of core as a promise, for a principal from the host. */
import {
  CallingClient,
  decodeInput,
  fault,
  type IntakeOptions,
  type IntakeResults,
  InvalidInput,
  type ItemResult,
  maxItemsPerCall,
  type NotPermitted,
  type Principal,
  type StorageError,
  type TenantNotFound,
  Tenants,
  TenantSuspended,
  type Waybill
} from "@waybill/core"
import { type Context, Effect, Schema } from "effect"
import { type HostPrincipal, isHostOperator, principalOf } from "../access/AuthenticatorHost.ts"
import { clientKeyOf } from "../access/ClientKey.ts"
import { existingTenant, tenantNamed } from "../operator/ExistingTenant.ts"
import type { ServiceFailure } from "../shared/ProblemOf.ts"
import { plain, plainItems } from "./Plain.ts"

/** All use cases that a host can call. */
type CallServices = Waybill.Services

export type Run = <A>(effect: Effect.Effect<A, ServiceFailure, CallServices>) => Promise<A>

/** Makes a call join a transaction, or leaves it unchanged. */
export type Around = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

export const as = <I extends CallServices, S, A, E extends ServiceFailure>(
  given: HostPrincipal,
  service: Context.Key<I, S>,
  call: (service: S, principal: Principal) => Effect.Effect<A, E>
): Effect.Effect<A, E | InvalidInput | TenantNotFound | TenantSuspended | StorageError, I | Tenants> =>
  Effect.flatMap(service, (found) => Effect.flatMap(servedPrincipal(given), (principal) =>
    Effect.provideService(call(found, principal), CallingClient, clientKeyOf(principal))))

/** Calls of one service. */
export const callsOf = <I extends CallServices, S>(run: Run, service: Context.Key<I, S>, around: Around) =>
  <A, E extends ServiceFailure>(caller: HostPrincipal, call: (service: S, principal: Principal) => Effect.Effect<A, E>): Promise<A> =>
    run(around(as(caller, service, call)))

/** Signature of all intake calls of core. */
interface Intake<Item, Key> {
  readonly report: (
    principal: Principal,
    items: ReadonlyArray<Item>,
    options?: IntakeOptions
  ) => Effect.Effect<IntakeResults<Key>, InvalidInput | NotPermitted | StorageError>
}

export const reportOf = <I extends CallServices, Item, Key>(run: Run, intake: Context.Key<I, Intake<Item, Key>>, around: Around) =>
  (caller: HostPrincipal, items: ReadonlyArray<unknown>, options: IntakeOptions = {}): Promise<ReadonlyArray<ItemResult<Key>>> =>
    run(around(Effect.map(
      as(caller, intake, (found, principal) => Effect.flatMap(decodeIntakeOptions(plain(options), ["options"]), (decoded) =>
        Effect.flatMap(plainItems<Item>(items, maxItemsPerCall), (list) => found.report(principal, list, decoded)))),
      ({ results }) => results
    )))

/** SPEC-GAP-X7 */
const decodeIntakeOptions = decodeInput(Schema.Struct({ partial: Schema.optionalKey(Schema.Boolean) }), { closed: true })

/** A call of an operator for a tenant, which must exist. */
export const ofTenant = <I, S, A, E, R>(tenantId: string, service: Context.Key<I, S>, call: (service: S) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(Tenants, (tenants) => existingTenant(tenants)(tenantId, Effect.flatMap(service, call)))

/** The principal, if its tenant exists and is not suspended. Read in the transaction that the call joins. */
const servedPrincipal = Effect.fnUntraced(function*(given: HostPrincipal) {
  if (typeof given !== "object" || given === null || typeof given.tenantId !== "string" && !isHostOperator(given)) return yield* noPrincipal
  if (isHostOperator(given)) return yield* operatorPrincipal
  yield* served(given.tenantId)
  return yield* principalOf(given)
})

/** For hosts without types: arguments in another order, or a session without a user. */
const noPrincipal = InvalidInput.of(fault(
  ["principal"],
  "The first argument is who calls, such as { tenantId: \"acme\", client: \"tms\", roles: [\"carrier\"] }.",
  "invalid"
))

const operatorPrincipal = InvalidInput.of(fault(
  ["principal", "roles"],
  "An operator belongs to no tenant. Give a carrier or a customer, or use a method for operators, which takes no principal.",
  "not_allowed"
))

export const served = Effect.fnUntraced(function*(tenantId: string) {
  const { state } = yield* tenantNamed(yield* Tenants, tenantId)
  if (state === "suspended") return yield* new TenantSuspended({ tenantId })
})
