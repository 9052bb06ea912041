/** The error that the methods reject with. */
import { hostTransaction } from "@waybill/core"
import { Cause } from "effect"
import { cut, detailsOf, type Problem, type ProblemDetails, type ProblemFault } from "../shared/ProblemDetails.ts"
import { type FailureCode, failureCodes, failureProblemOf, internalProblem, interruptedProblem, type ServiceFailure } from "../shared/ProblemOf.ts"

/** Every code that a method rejects with; `docs/errors.md` explains each. */
export type WaybillErrorCode = FailureCode | "internal_error" | "interrupted" | "stopping"

/** All codes of `WaybillError`. */
export const waybillErrorCodes: ReadonlyArray<WaybillErrorCode> = [...failureCodes, "internal_error", "interrupted", "stopping"]

/** The error of every method of `createWaybill`: `code` and `status` of the same error over HTTP. `docs/errors.md` lists the codes. */
export class WaybillError extends Error {
  override readonly name = "WaybillError"
  /** Stable code to branch on, such as `invalid_input` or `subscription_not_found`. */
  readonly code: WaybillErrorCode
  /** The status of the same error over HTTP. */
  readonly status: number
  /** The error as a problem-details body. */
  readonly problem: ProblemDetails
  /** Every error of the input, each with a JSON pointer; empty when the input was valid. `message` has the first. */
  readonly faults: ReadonlyArray<ProblemFault>

  constructor(problem: Problem<WaybillErrorCode>, cause?: unknown, message = messageOf(problem)) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = problem.code
    this.status = problem.status
    this.problem = detailsOf(problem, `urn:uuid:${crypto.randomUUID()}`)
    this.faults = problem.errors ?? []
  }
}

/** `Invalid input: /events/0/type: …; and 2 more.` A pointer may be as long as the caller's own names. */
const messageOf = ({ code, detail, errors: [first, ...more] = [] }: Problem<WaybillErrorCode>): string => {
  if (code !== "invalid_input" || first === undefined) return detail
  const place = first.pointer === undefined || first.pointer === "" ? "" : `${cut(first.pointer, 100)}: `
  const problem = cut(first.detail, 200)
  return `Invalid input: ${place}${more.length === 0 ? problem : `${problem.replace(/\.$/, "")}; and ${more.length} more.`}`
}

/** Turns a failure into an error for callers in the same process, with the original as `cause`. */
export const errorOf = (cause: Cause.Cause<ServiceFailure>): WaybillError => {
  const died = cause.reasons.find(Cause.isDieReason)
  if (died !== undefined) {
    const detail = died.defect instanceof Error ? died.defect.message : internalProblem.detail
    return new WaybillError({ ...internalProblem, detail }, died.defect)
  }
  const failed = cause.reasons.find(Cause.isFailReason)
  if (failed === undefined) return new WaybillError(interruptedProblem)
  const { error } = failed
  if (error._tag === "StorageError" && error.operation === hostTransaction) {
    return new WaybillError(failureProblemOf(error), error.cause, `The transaction given to within(tx) failed: ${reasonOf(error.cause)} Roll it back, and repeat it from its beginning.`)
  }
  return new WaybillError(failureProblemOf(error), error._tag === "StorageError" || error._tag === "PickupDeskFailed" ? error.cause : error)
}

/**
 * Like `errorOf`, for storage that cannot be opened: `message` has the reason, because the host's own settings are the usual one.
 * `problem` does not have it, because a host may send that to its callers.
 */
export const openingErrorOf = (cause: Cause.Cause<ServiceFailure>): WaybillError => {
  const failed = cause.reasons.find(Cause.isFailReason)?.error
  if (failed?._tag !== "StorageError") return errorOf(cause)
  return new WaybillError(failureProblemOf(failed), failed.cause, `Waybill cannot open its storage: ${reasonOf(failed.cause)}`)
}

/** A connection refused at several addresses has its reasons one level down, and no message. */
const reasonOf = (cause: unknown): string => {
  if (!(cause instanceof Error)) return `${String(cause)}.`
  const { cause: inner, errors: [first] = [], message } = cause as Error & { readonly errors?: ReadonlyArray<unknown> }
  const deeper = inner ?? first
  return message === "" && deeper !== undefined ? reasonOf(deeper) : `${message.replace(/\.$/, "")}.`
}
