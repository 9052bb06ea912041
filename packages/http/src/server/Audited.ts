/** Records HTTP calls in the audit log. */
import { type AuditCall, AuditLog, type AuditOutcome, isOperator, type Principal, type StorageError } from "@waybill/core"
import { Cause, Effect, Exit } from "effect"
import type { HttpServerResponse } from "effect/http"
import type { AuditSpec } from "../shared/Contract.ts"
import { type Failure, problemOf } from "../shared/ProblemOf.ts"
import type { Exchange } from "./RequestPipeline.ts"

type Params = Readonly<Record<string, string>>

type Actor = Pick<Principal, "client" | "roles" | "tenantId">

/**
 * Runs calls and records them. A call of an operator is recorded before it runs, and refused if that fails. Calls of
 * clients are recorded in batches within a second.
 */
export const makeAudited = Effect.map(AuditLog, (log) =>
  <E extends Failure>(
    principal: Actor,
    exchange: Exchange,
    spec: AuditSpec,
    params: Params,
    call: Effect.Effect<HttpServerResponse.HttpServerResponse, E>
  ): Effect.Effect<HttpServerResponse.HttpServerResponse, E | StorageError> => {
    const recorded = callOf(principal, exchange, spec, params)
    const outcomeOf = (exit: Exit.Exit<HttpServerResponse.HttpServerResponse, Failure>): AuditOutcome => {
      if (Exit.isFailure(exit)) return { status: statusOf(exit.cause, exchange) }
      return { status: exit.value.status, objectId: recorded.object.id === "" && spec.id !== undefined ? memberOf(exit.value, spec.id) : undefined }
    }
    return isOperator(principal)
      ? log.around(recorded, call, outcomeOf)
      : Effect.onExit(call, (exit) => log.later(recorded, outcomeOf(exit)))
  })

const callOf = (principal: Actor, exchange: Exchange, { action, id, object }: AuditSpec, params: Params): AuditCall => ({
  actor: { kind: isOperator(principal) ? "operator" : "client", name: principal.client },
  address: exchange.address(),
  action,
  tenantId: params["tenantId"] ?? principal.tenantId,
  object: { kind: object, id: (id === undefined ? undefined : params[id]) ?? "" },
  requestId: exchange.correlationId
})

/** 0 when the outcome is unknown, because the call was interrupted. */
const statusOf = (cause: Cause.Cause<Failure>, exchange: Exchange): number => {
  const failed = cause.reasons.find(Cause.isFailReason)
  if (cause.reasons.some(Cause.isDieReason)) return 500
  return failed === undefined ? 0 : problemOf(failed.error, exchange.isParameter, exchange.contract?.statuses).status
}

const decoder = new TextDecoder()

/** One member of a JSON response. Reads nothing else, because the response may contain a secret. */
const memberOf = ({ body }: HttpServerResponse.HttpServerResponse, name: string): string | undefined => {
  if (body._tag !== "Uint8Array") return undefined
  const value: unknown = (JSON.parse(decoder.decode(body.body)) as Readonly<Record<string, unknown>>)[name]
  return typeof value === "string" ? value : undefined
}
