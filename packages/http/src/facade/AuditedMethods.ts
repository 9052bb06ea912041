/** Records operator methods of an embedded host in the audit log, like the same calls over HTTP. */
import { AuditLog } from "@waybill/core"
import { Effect, Exit, Result } from "effect"
import { OperatorContract } from "../operator/OperatorContract.ts"
import type { AuditSpec } from "../shared/Contract.ts"
import { failureProblemOf, type ServiceFailure } from "../shared/ProblemOf.ts"
import type { Groups, Method } from "./Bounds.ts"
import type { Around } from "./Run.ts"
import { WaybillError } from "./WaybillError.ts"

/** The operator in the audit log and in histories, for calls of the host. */
export const hostActor = "host"

const calls = OperatorContract.endpoints

/** The entries of the same calls over HTTP. The first argument is the tenant, the second the object's id, if there is one. */
export const recorded = {
  tenants: { put: calls.putTenant.audit, suspend: calls.suspendTenant.audit, resume: calls.resumeTenant.audit, delete: calls.deleteTenant.audit },
  limits: { put: calls.putLimits.audit },
  apiKeys: { create: calls.createApiKey.audit, revoke: calls.revokeApiKey.audit },
  secrets: { put: calls.putSecret.audit, delete: calls.deleteSecret.audit, reseal: { action: "secrets.reseal", object: "tenant" } },
  portal: { createLink: calls.createPortalLink.audit },
  clients: { delete: calls.removeClient.audit },
  deliveries: {
    get: calls.getDelivery.audit,
    retry: calls.retryDelivery.audit,
    dismiss: calls.dismissDelivery.audit,
    retryDeadLetters: calls.retryDeadLetters.audit,
    dismissDeadLetters: calls.dismissDeadLetters.audit,
    recover: calls.recoverSubscription.audit,
    replay: calls.replaySubscription.audit
  },
  allPickups: { decide: calls.decidePickupForCarrier.audit },
  allSubscriptions: {
    edit: calls.editSubscription.audit,
    pause: calls.pauseSubscription.audit,
    resume: calls.resumeSubscription.audit,
    purge: calls.purgeSubscription.audit,
    purgeMatching: calls.purgeSubscriptions.audit,
    remove: calls.removeSubscription.audit
  }
} satisfies Readonly<Record<string, Readonly<Record<string, AuditSpec>>>>

type Run = <A>(effect: Effect.Effect<A, ServiceFailure, AuditLog>) => Promise<A>

/** Wraps the methods: operator methods write their audit entry before they run. */
export const withAudit = <M extends Groups>(run: Run, methods: M): M =>
  ({ ...methods, ...Object.fromEntries(Object.entries(recorded).flatMap(([group, specs]) => {
    const own = methods[group] as Readonly<Record<string, Method>> | undefined
    if (own === undefined) return []
    const wrapped = Object.entries<AuditSpec>(specs).flatMap(([name, spec]) => own[name] === undefined ? [] : [[name, recordedMethod(run, spec, own[name])] as const])
    return [[group, { ...own, ...Object.fromEntries(wrapped) }]]
  })) })

const callOf = ({ action, object }: AuditSpec, [tenantId, second]: ReadonlyArray<unknown>) => {
  const id = object === "tenant" ? tenantId : second
  return {
    actor: { kind: "operator", name: hostActor } as const,
    address: undefined,
    action,
    tenantId: String(tenantId),
    object: { kind: object, id: typeof id === "string" ? id : "" },
    requestId: crypto.randomUUID()
  }
}

/** The call with its entry. A failure has the status of `statusOf`. */
const recordedCall = <A, E, R>(spec: AuditSpec, given: ReadonlyArray<unknown>, call: Effect.Effect<A, E, R>, statusOf: (error: E) => number) =>
  Effect.flatMap(AuditLog, (log) =>
    log.around(callOf(spec, given), Effect.result(call), (exit) => {
      if (Exit.isFailure(exit)) return { status: 0 }
      const { value: result } = exit
      return Result.isFailure(result) ? { status: statusOf(result.failure) } : { status: 200, objectId: createdId(result.success, spec, given) }
    }))

const recordedMethod = (run: Run, spec: AuditSpec, method: Method): Method => async (...given) => {
  const call = Effect.tryPromise({ try: () => method(...given), catch: (error) => error })
  const result = await run(recordedCall(spec, given, call, (error) => error instanceof WaybillError ? error.status : 500))
  if (Result.isFailure(result)) throw result.failure
  return result.success
}

/** The id of a created object, which the arguments do not name. */
const createdId = (value: unknown, { id: member = "id", object }: AuditSpec, [, second]: ReadonlyArray<unknown>): string | undefined => {
  const made = object === "tenant" || typeof second === "string" ? undefined : (value as Readonly<Record<string, unknown>> | undefined)?.[member]
  return typeof made === "string" ? made : undefined
}

/**
 * A call that joins a transaction of the host is recorded in that transaction: another one would need a second connection, and could record
 * what the host then rolls back. A refusal is recorded too, because it does not end the host's transaction. A failure of the storage does, and
 * fails inside of it, where its reason is found.
 */
export const recordedWithin = <A, E extends ServiceFailure, R>(around: Around, spec: AuditSpec, given: ReadonlyArray<unknown>, effect: Effect.Effect<A, E, R>) => {
  const call = recordedCall(spec, given, effect, (failure) => failureProblemOf(failure).status)
  const failed = Effect.flatMap(call, (result) => Result.isFailure(result) && result.failure._tag === "StorageError" ? Effect.fail(result.failure) : Effect.succeed(result))
  return Effect.flatMap(around(failed), Effect.fromResult)
}
