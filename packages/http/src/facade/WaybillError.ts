/** The error that the methods reject with. */
import { Cause } from "effect"
import { detailsOf, type Problem, type ProblemDetails, type ProblemFault } from "../shared/ProblemDetails.ts"
import { type Failure, internalProblem, interruptedProblem, problemOf } from "../shared/ProblemOf.ts"

export class WaybillError extends Error {
  override readonly name = "WaybillError"
  /** Stable code to branch on, such as `invalid_input` or `subscription_not_found`. */
  readonly code: string
  /** The status of the same error over HTTP. */
  readonly status: number
  /** The error as a problem-details body. */
  readonly problem: ProblemDetails
  /** Every error of the input, each with a JSON pointer; empty when the input was valid. */
  readonly faults: ReadonlyArray<ProblemFault>

  constructor(problem: Problem, cause?: unknown) {
    super(problem.detail, cause === undefined ? undefined : { cause })
    this.code = problem.code
    this.status = problem.status
    this.problem = detailsOf(problem, `urn:uuid:${crypto.randomUUID()}`)
    this.faults = problem.errors ?? []
  }
}

/** Turns a failure into an error for callers in the same process, with the original as `cause`. */
export const errorOf = (cause: Cause.Cause<Failure>): WaybillError => {
  const died = cause.reasons.find(Cause.isDieReason)
  if (died !== undefined) {
    const detail = died.defect instanceof Error ? died.defect.message : internalProblem.detail
    return new WaybillError({ ...internalProblem, detail }, died.defect)
  }
  const failed = cause.reasons.find(Cause.isFailReason)
  if (failed === undefined) return new WaybillError(interruptedProblem)
  const { error } = failed
  return new WaybillError(problemOf(error), error._tag === "StorageError" ? error.cause : error)
}
