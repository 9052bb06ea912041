/** Which status each failure becomes. The only place that knows. */
import type {
  ApiKeyNotFound,
  DeliveryNotFound,
  DeliveryNotRetryable,
  Fault,
  InvalidInput,
  LaneNotFound,
  NotPermitted,
  SecretUnreadable,
  StorageError,
  SubscriptionNotFound,
  TenantNotFound,
  Unauthenticated
} from "@waybill/core"
import type { Problem, ProblemFault } from "./ProblemDetails.ts"
import type { Refused } from "./Refused.ts"

/** Everything that a call can fail with. */
export type Failure =
  | ApiKeyNotFound
  | DeliveryNotFound
  | DeliveryNotRetryable
  | InvalidInput
  | LaneNotFound
  | NotPermitted
  | Refused
  | SecretUnreadable
  | StorageError
  | SubscriptionNotFound
  | TenantNotFound
  | Unauthenticated

/** `isParameter` tells which names stand in the path or the query; every other fault is in the body. */
export const problemOf = (failure: Failure, isParameter: (name: string) => boolean = () => false): Problem => {
  switch (failure._tag) {
    case "Refused":
      return failure.problem
    case "InvalidInput":
      return invalid(failure, isParameter)
    // SPEC-GAP-X2: the interfaces show no status for credentials outside of area A
    case "Unauthenticated":
      return {
        status: 401,
        code: "unauthenticated",
        title: "Unauthorized",
        detail: failure.message,
        headers: { "www-authenticate": failure.presented ? "Bearer realm=\"waybill\", error=\"invalid_token\"" : "Bearer realm=\"waybill\"" }
      }
    case "NotPermitted":
      return { status: 403, code: "not_permitted", title: "Forbidden", detail: failure.message }
    case "SubscriptionNotFound":
    case "LaneNotFound":
      return { status: 404, code: "subscription_not_found", title: "Not found", detail: failure.message }
    case "TenantNotFound":
      return { status: 404, code: "tenant_not_found", title: "Not found", detail: failure.message }
    case "ApiKeyNotFound":
      return { status: 404, code: "api_key_not_found", title: "Not found", detail: failure.message }
    case "DeliveryNotFound":
      return { status: 404, code: "delivery_not_found", title: "Not found", detail: failure.message }
    case "DeliveryNotRetryable":
      return { status: 409, code: "delivery_not_retryable", title: "Conflict", detail: failure.message }
    case "SecretUnreadable":
      return { status: 503, code: "secret_unreadable", title: "Service unavailable", detail: failure.message }
    case "StorageError":
      return {
        status: 503,
        code: "unavailable",
        title: "Service unavailable",
        // which part of us failed is for the log
        detail: "The service cannot do this right now. Nothing was changed; try again.",
        headers: { "retry-after": "1" }
      }
  }
}

/** A defect of ours. What it was stands in the log, under the same correlation id. */
export const internalProblem: Problem = {
  status: 500,
  code: "internal_error",
  title: "Internal server error",
  detail: "The service failed. Report the instance of this answer to whoever runs it."
}

/** Told apart from a missing resource by its own code: the URL is right, the server is not there for it. */
export const interruptedProblem: Problem = {
  status: 503,
  code: "interrupted",
  title: "Service unavailable",
  detail: "The call was broken off before it was done. Send it again.",
  headers: { "retry-after": "1" }
}

const invalid = (failure: InvalidInput, isParameter: (name: string) => boolean): Problem => {
  const errors = failure.faults.map((fault) => problemFaultOf(fault, isParameter))
  const first = errors[0]?.detail ?? "The request cannot be used."
  return {
    status: 400,
    code: "invalid_input",
    title: "Bad request",
    detail: errors.length > 1 ? `${first} And ${errors.length - 1} more: see errors.` : first,
    errors
  }
}

const problemFaultOf = (fault: Fault, isParameter: (name: string) => boolean): ProblemFault => {
  const parameter = /^\/([^/~]+)(?:\/|$)/.exec(fault.pointer)?.[1]
  return parameter !== undefined && isParameter(parameter)
    ? { detail: fault.detail, parameter, code: fault.code }
    : { detail: fault.detail, pointer: fault.pointer, code: fault.code }
}
