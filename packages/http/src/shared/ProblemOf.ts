/** Maps each failure to its status. The only place that does. */
import type {
  ApiKeyNotFound,
  AuthenticationUnavailable,
  DeliveryNotDismissable,
  ClientNotFound,
  DeliveryNotFound,
  DeliveryNotRetryable,
  Fault,
  InvalidInput,
  DestinationNotFound,
  NotPermitted,
  OperatorReadOnly,
  QuotaExceeded,
  RateExceeded,
  SecretInUse,
  SecretNotFound,
  SecretNotUsable,
  SecretUnreadable,
  StorageError,
  SubscriptionPausedByOperator,
  TenantBeingRemoved,
  TenantNotFound,
  TenantSuspended,
  TooManyCalls,
  Unauthenticated
} from "@waybill/core"
import type {
  AccountsNotPermitted,
  ChargeSubscriptionConflict,
  ChargeSubscriptionNotFound,
  WebhookTestFailed
} from "@waybill/core/freight-charges"
import type {
  DocumentNotFound,
  FileFormatUnknown,
  FileTooLarge,
  InvoiceExists,
  InvoiceNotFound,
  InvoiceNotYours
} from "@waybill/core/invoices"
import type { PickupDecided, PickupDeskFailed, PickupFinal, PickupNotFound } from "@waybill/core/pickups"
import type {
  AccountNotFound,
  AccountNotPermitted,
  ShipmentNotFound,
  StatusSubscriptionNotFound,
  TooManyLookups
} from "@waybill/core/shipment-status"
import type { SubscriptionNotFound } from "@waybill/core/transit-events"
import type { ContractSpec } from "./Contract.ts"
import type { Problem, ProblemFault } from "./ProblemDetails.ts"
import type { Refused } from "./Refused.ts"

/** All failures of a use case. */
export type ServiceFailure =
  | AccountNotFound
  | AccountNotPermitted
  | AccountsNotPermitted
  | ApiKeyNotFound
  | AuthenticationUnavailable
  | ChargeSubscriptionConflict
  | ChargeSubscriptionNotFound
  | DeliveryNotDismissable
  | ClientNotFound
  | DeliveryNotFound
  | DeliveryNotRetryable
  | DocumentNotFound
  | FileFormatUnknown
  | FileTooLarge
  | InvalidInput
  | InvoiceExists
  | InvoiceNotFound
  | InvoiceNotYours
  | DestinationNotFound
  | NotPermitted
  | OperatorReadOnly
  | PickupDecided
  | PickupDeskFailed
  | PickupFinal
  | PickupNotFound
  | QuotaExceeded
  | RateExceeded
  | SecretInUse
  | SecretNotFound
  | SecretNotUsable
  | SecretUnreadable
  | ShipmentNotFound
  | StatusSubscriptionNotFound
  | StorageError
  | SubscriptionNotFound
  | SubscriptionPausedByOperator
  | TenantBeingRemoved
  | TenantNotFound
  | TenantSuspended
  | TooManyCalls
  | TooManyLookups
  | Unauthenticated
  | WebhookTestFailed

/** All failures of a call over HTTP. */
export type Failure = ServiceFailure | Refused

/** SPEC-GAP-X2: the interfaces define no status for credentials outside of area A. */
const kinds = {
  FileFormatUnknown: [400, "file_format_unknown"],
  InvoiceExists: [400, "invoice_exists"],
  PickupFinal: [400, "pickup_final"],
  WebhookTestFailed: [400, "webhook_test_failed"],
  Unauthenticated: [401, "unauthenticated"],
  AccountNotPermitted: [401, "account_not_permitted"],
  NotPermitted: [403, "not_permitted"],
  OperatorReadOnly: [403, "operator_read_only"],
  AccountsNotPermitted: [403, "accounts_not_permitted"],
  InvoiceNotYours: [403, "invoice_not_yours"],
  TenantSuspended: [403, "tenant_suspended"],
  AccountNotFound: [404, "account_not_found"],
  ApiKeyNotFound: [404, "api_key_not_found"],
  ChargeSubscriptionNotFound: [404, "subscription_not_found"],
  ClientNotFound: [404, "client_not_found"],
  DeliveryNotFound: [404, "delivery_not_found"],
  DocumentNotFound: [404, "document_not_found"],
  InvoiceNotFound: [404, "invoice_not_found"],
  DestinationNotFound: [404, "subscription_not_found"],
  PickupNotFound: [404, "pickup_not_found"],
  SecretNotFound: [404, "secret_not_found"],
  ShipmentNotFound: [404, "shipment_not_found"],
  StatusSubscriptionNotFound: [404, "subscription_not_found"],
  SubscriptionNotFound: [404, "subscription_not_found"],
  TenantNotFound: [404, "tenant_not_found"],
  ChargeSubscriptionConflict: [409, "subscription_conflict"],
  DeliveryNotDismissable: [409, "delivery_not_dismissable"],
  TenantBeingRemoved: [409, "tenant_being_removed"],
  DeliveryNotRetryable: [409, "delivery_not_retryable"],
  PickupDecided: [409, "pickup_decided"],
  QuotaExceeded: [409, "quota_exceeded"],
  SecretInUse: [409, "secret_in_use"],
  SecretNotUsable: [409, "secret_not_usable"],
  SubscriptionPausedByOperator: [409, "subscription_paused_by_operator"],
  FileTooLarge: [413, "file_too_large"],
  RateExceeded: [429, "rate_exceeded"],
  TooManyCalls: [429, "too_many_calls"],
  TooManyLookups: [429, "too_many_lookups"],
  AuthenticationUnavailable: [503, "authentication_unavailable"],
  PickupDeskFailed: [503, "pickup_desk_failed"],
  SecretUnreadable: [503, "secret_unreadable"],
  StorageError: [503, "unavailable"]
} as const satisfies Readonly<Record<Exclude<ServiceFailure["_tag"], "InvalidInput">, readonly [status: number, code: string]>>

/** Codes of the failures of use cases. */
export type FailureCode = (typeof kinds)[keyof typeof kinds][1] | "invalid_input"

export const failureCodes: ReadonlyArray<FailureCode> = [...new Set(["invalid_input" as const, ...Object.values(kinds).map(([, code]) => code)])]

const titles: Readonly<Record<number, string>> = {
  400: "Bad request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not found",
  409: "Conflict",
  413: "Content too large",
  429: "Too many requests",
  503: "Service unavailable"
}

/** `isParameter` says which names are in the path or query; all other errors are in the body. `statuses` are the overrides of an area. */
export const problemOf = (failure: Failure, isParameter?: (name: string) => boolean, statuses?: ContractSpec["statuses"]): Problem =>
  failure._tag === "Refused" ? failure.problem : failureProblemOf(failure, isParameter, statuses)

export const failureProblemOf = (
  failure: ServiceFailure,
  isParameter: (name: string) => boolean = () => false,
  statuses: ContractSpec["statuses"] = {}
): Problem<FailureCode> => {
  if (failure._tag === "InvalidInput") return invalid(failure, isParameter)
  const [usual, code] = kinds[failure._tag]
  const status = statuses[failure._tag] ?? usual
  return {
    status,
    code,
    title: titles[status]!,
    detail: failure.message,
    ...moreOf(failure)
  }
}

/** Details of some failures besides their message. */
const moreOf = (failure: ServiceFailure): Partial<Omit<Problem, "code">> => {
  switch (failure._tag) {
    case "ChargeSubscriptionNotFound":
    case "SubscriptionPausedByOperator":
      return { about: { resource: "subscriptionId", value: failure.subscriptionId } }
    case "ChargeSubscriptionConflict":
      return { about: { accountId: failure.accountId } }
    case "WebhookTestFailed":
      return { errors: [{ detail: failure.detail, pointer: "/webhookUrl", code: "not_allowed" }] }
    case "FileFormatUnknown":
      return { errors: [{ detail: failure.message, pointer: failure.pointer, code: "invalid" }] }
    case "FileTooLarge":
      return { errors: [{ detail: failure.message, pointer: failure.pointer, code: "out_of_bounds" }] }
    case "AuthenticationUnavailable":
      // The unavailable dependency is only logged.
      return { detail: "The credentials could not be checked right now. Try again.", headers: { "retry-after": "1" } }
    case "PickupDeskFailed":
      return { headers: { "retry-after": "1" } }
    case "QuotaExceeded":
      return { about: { resource: "quota", value: failure.quota } }
    case "RateExceeded":
      return { about: { resource: "quota", value: failure.quota }, headers: { "retry-after": String(failure.retryAfterSeconds) } }
    case "TooManyCalls":
    case "TooManyLookups":
      return { headers: { "retry-after": String(failure.retryAfterSeconds) } }
    case "StorageError":
      return {
        // The failed component is only logged.
        detail: "The service cannot do this right now. Try again. A write without a response may have been carried out.",
        headers: { "retry-after": "1" }
      }
    default:
      return {}
  }
}

/** An unexpected error. Its cause is in the log, with the same correlation id. */
export const internalProblem: Problem<"internal_error"> = {
  status: 500,
  code: "internal_error",
  title: "Internal server error",
  detail: "The service failed. Report the x-request-id of this response to its operator."
}

/** Has its own code, to distinguish it from a missing resource: the URL is valid, but the server is shutting down. */
export const interruptedProblem: Problem<"interrupted"> = {
  status: 503,
  code: "interrupted",
  title: "Service unavailable",
  detail: "The call was broken off before it was done. Send it again.",
  headers: { "retry-after": "1" }
}

const invalid = (failure: InvalidInput, isParameter: (name: string) => boolean): Problem<"invalid_input"> => {
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
