/** Records operator methods of an embedded host in the audit log, like the same calls over HTTP. */
import { AuditLog } from "@waybill/core"
import { Effect, Exit } from "effect"
import type { AuditSpec } from "../shared/Contract.ts"
import type { ServiceFailure } from "../shared/ProblemOf.ts"
import { WaybillError } from "./WaybillError.ts"

/** The operator in the audit log and in histories, for calls of the host. */
export const hostActor = "host"

type Method = (...given: ReadonlyArray<never>) => Promise<unknown>
type Groups = Readonly<Record<string, unknown>>

const tenant = (action: string): AuditSpec => ({ action, object: "tenant" })
const subscription = (action: string): AuditSpec => ({ action: `subscription.${action}`, object: "subscription" })

/** The first argument is the tenant, the second the object's id, if there is one. */
const recorded: Readonly<Record<string, Readonly<Record<string, AuditSpec>>>> = {
  tenants: {
    put: tenant("tenant.put"),
    suspend: tenant("tenant.suspend"),
    resume: tenant("tenant.resume"),
    delete: tenant("tenant.delete")
  },
  limits: { put: tenant("limits.put") },
  apiKeys: { create: { action: "api-key.create", object: "api-key" }, revoke: { action: "api-key.revoke", object: "api-key" } },
  secrets: { put: { action: "secret.put", object: "secret" }, delete: { action: "secret.delete", object: "secret" }, reseal: tenant("secrets.reseal") },
  portal: { createLink: { action: "portal-link.create", object: "client", id: "client" } },
  clients: { delete: { action: "client.delete", object: "client" } },
  deliveries: {
    get: { action: "delivery.read-body", object: "delivery" },
    retry: { action: "delivery.retry", object: "delivery" },
    dismiss: { action: "delivery.dismiss", object: "delivery" },
    retryDeadLetters: tenant("dead-letters.retry"),
    dismissDeadLetters: tenant("dead-letters.dismiss"),
    recover: subscription("recover"),
    replay: subscription("replay")
  },
  allPickups: { decide: { action: "pickup.decide-for-carrier", object: "pickup" } },
  allSubscriptions: {
    edit: subscription("edit"),
    pause: subscription("pause"),
    resume: subscription("resume"),
    purge: subscription("purge"),
    purgeMatching: tenant("subscriptions.purge"),
    remove: subscription("delete")
  }
}

type Run = <A>(effect: Effect.Effect<A, ServiceFailure, AuditLog>) => Promise<A>

/** Wraps the methods: operator methods write their audit entry before they run. */
export const withAudit = <M extends Groups>(run: Run, methods: M): M =>
  ({ ...methods, ...Object.fromEntries(Object.entries(recorded).flatMap(([group, specs]) => {
    const own = methods[group] as Readonly<Record<string, Method>> | undefined
    if (own === undefined) return []
    const wrapped = Object.entries(specs).flatMap(([name, spec]) => own[name] === undefined ? [] : [[name, recordedMethod(run, spec, own[name])] as const])
    return [[group, { ...own, ...Object.fromEntries(wrapped) }]]
  })) })

type Settled = { readonly value: unknown } | { readonly error: unknown }

const recordedMethod = (run: Run, { action, id: member = "id", object }: AuditSpec, method: Method): Method => async (...given) => {
  const [tenantId, second] = given as ReadonlyArray<unknown>
  const id = object === "tenant" ? tenantId : second
  const call = {
    actor: { kind: "operator", name: hostActor } as const,
    address: undefined,
    action,
    tenantId: String(tenantId),
    object: { kind: object, id: typeof id === "string" ? id : "" },
    requestId: crypto.randomUUID()
  }
  const settled = await run(Effect.flatMap(AuditLog, (log) =>
    log.around(call, Effect.promise((): Promise<Settled> => method(...given).then((value) => ({ value }), (error: unknown) => ({ error }))), (exit) =>
      Exit.isFailure(exit) ? { status: 0 } : outcomeOf(exit.value, call.object.id === "" ? member : undefined))))
  if ("error" in settled) throw settled.error
  return settled.value
}

/** `member`: where the result names the object, if the arguments did not. */
const outcomeOf = (settled: Settled, member: string | undefined) => {
  if ("error" in settled) return { status: settled.error instanceof WaybillError ? settled.error.status : 500 }
  const made = member === undefined ? undefined : (settled.value as Readonly<Record<string, unknown>> | undefined)?.[member]
  return { status: 200, objectId: typeof made === "string" ? made : undefined }
}
