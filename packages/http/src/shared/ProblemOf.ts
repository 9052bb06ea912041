/** Maps each failure to its problem: those of the areas by their own tables. */
import type * as core from "@waybill/core"
import type * as delivery from "@waybill/core/delivery"
import type { Fault, InvalidInput } from "@waybill/core"
import { type FreightChargesFailure, freightChargesFailures } from "../freight-charges/FreightChargesFailures.ts"
import { type InvoicesFailure, invoicesFailures } from "../invoices/InvoicesFailures.ts"
import { type PickupsFailure, pickupsFailures } from "../pickups/PickupsFailures.ts"
import { type ShipmentStatusFailure, shipmentStatusFailures } from "../shipment-status/ShipmentStatusFailures.ts"
import { type TransitEventsFailure, transitEventsFailures } from "../transit-events/TransitEventsFailures.ts"
import type { ContractSpec } from "./Contract.ts"
import type { FailureDetails } from "./FailureTable.ts"
import { placed, type Problem, type ProblemFault } from "./ProblemDetails.ts"
import type { Refused } from "./Refused.ts"

/** All failures of a use case. */
export type ServiceFailure =
  | SharedFailure
  | InvalidInput
  | ShipmentStatusFailure
  | InvoicesFailure
  | PickupsFailure
  | TransitEventsFailure
  | FreightChargesFailure

/** All failures of a call over HTTP. */
export type Failure = ServiceFailure | Refused

type Kind = readonly [status: number, code: string, details?: (failure: never) => FailureDetails]

/** SPEC-GAP-X2: the interfaces define no status for credentials outside of area A. */
const sharedFailures = {
  Unauthenticated: [401, "unauthenticated"],
  NotPermitted: [403, "not_permitted"],
  OperatorReadOnly: [403, "operator_read_only"],
  TenantSuspended: [403, "tenant_suspended"],
  ApiKeyNotFound: [404, "api_key_not_found"],
  ClientNotFound: [404, "client_not_found"],
  DeliveryNotFound: [404, "delivery_not_found"],
  DestinationNotFound: [404, "subscription_not_found"],
  SecretNotFound: [404, "secret_not_found"],
  TenantNotFound: [404, "tenant_not_found"],
  DeliveryNotDismissable: [409, "delivery_not_dismissable"],
  DeliveryNotRetryable: [409, "delivery_not_retryable"],
  QuotaExceeded: [409, "quota_exceeded", ({ quota }: core.QuotaExceeded) => ({ about: { resource: "quota", value: quota } })],
  SecretInUse: [409, "secret_in_use"],
  SecretNotUsable: [409, "secret_not_usable"],
  SubscriptionPausedByOperator: [409, "subscription_paused_by_operator", ({ subscriptionId }: delivery.SubscriptionPausedByOperator) => ({ about: { resource: "subscriptionId", value: subscriptionId } })],
  TenantBeingRemoved: [409, "tenant_being_removed"],
  RateExceeded: [429, "rate_exceeded", ({ quota, retryAfterSeconds }: core.RateExceeded) => ({ about: { resource: "quota", value: quota }, headers: { "retry-after": String(retryAfterSeconds) } })],
  TooManyWebhookTests: [429, "too_many_webhook_tests", ({ retryAfterSeconds }: delivery.TooManyWebhookTests) => ({ headers: { "retry-after": String(retryAfterSeconds) } })],
  AuthenticationUnavailable: [503, "authentication_unavailable", () => ({
    // The unavailable dependency is only logged.
    detail: "The credentials could not be checked right now. Try again.",
    headers: { "retry-after": "1" }
  })],
  SecretUnreadable: [503, "secret_unreadable"],
  StorageError: [503, "unavailable", () => ({
    // The failed component is only logged.
    detail: "The service cannot do this right now. Try again.",
    headers: { "retry-after": "1" }
  })]
} as const satisfies Readonly<Record<string, Kind>>

/** Failures that are of no area: the classes of core that the table names. */
type SharedFailure = InstanceType<(typeof core & typeof delivery)[keyof typeof sharedFailures]>

const kinds = { ...sharedFailures, ...shipmentStatusFailures, ...invoicesFailures, ...pickupsFailures, ...transitEventsFailures, ...freightChargesFailures }

/** Codes of the failures of use cases. */
export type FailureCode = (typeof kinds)[keyof typeof kinds][1] | "invalid_input"

export const failureCodes: ReadonlyArray<FailureCode> = [...new Set(["invalid_input" as const, ...Object.values(kinds).map(([, code]) => code)])]

/** `isParameter` says which names are in the path or query; all other errors are in the body. `statuses` are the overrides of an area. */
export const problemOf = (failure: Failure, isParameter?: (name: string) => boolean, statuses?: ContractSpec["statuses"]): Problem =>
  failure._tag === "Refused" ? failure.problem : failureProblemOf(failure, isParameter, statuses)

export const failureProblemOf = (
  failure: ServiceFailure,
  isParameter: (name: string) => boolean = () => false,
  statuses: ContractSpec["statuses"] = {}
): Problem<FailureCode> => {
  if (failure._tag === "InvalidInput") return invalid(failure, isParameter)
  const [usual, code, details]: readonly [number, FailureCode, Kind[2]?] = kinds[failure._tag]
  return { status: statuses[failure._tag] ?? usual, code, detail: failure.message, ...details?.(failure as never) }
}

/** An unexpected error. Its cause is in the log, with the same correlation id. */
export const internalProblem: Problem<"internal_error"> = {
  status: 500,
  code: "internal_error",
  detail: "The service failed. Report the x-request-id of this response to its operator."
}

/** Has its own code, to distinguish it from a missing resource: the URL is valid, but the server is shutting down. */
export const interruptedProblem: Problem<"interrupted"> = {
  status: 503,
  code: "interrupted",
  detail: "The call was broken off before it was done. Send it again.",
  headers: { "retry-after": "1" }
}

const invalid = (failure: InvalidInput, isParameter: (name: string) => boolean): Problem<"invalid_input"> => {
  const errors = failure.faults.map((fault) => problemFaultOf(fault, isParameter))
  const first = errors[0] === undefined ? "The request cannot be used." : placed(errors[0])
  return {
    status: 400,
    code: "invalid_input",
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
