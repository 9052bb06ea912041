/** How a plain method of the service rejects. */
import { Cause } from "effect"
import { detailsOf, type Problem, type ProblemDetails, type ProblemFault } from "../shared/ProblemDetails.ts"
import { type Failure, internalProblem, interruptedProblem, problemOf } from "../shared/ProblemOf.ts"

export class WaybillError extends Error {
  override readonly name = "WaybillError"
  /** Stable text to branch on, such as `invalid_input` or `subscription_not_found`. */
  readonly code: string
  /** The HTTP status that the same call gets over HTTP. */
  readonly status: number
  /** The same as a problem-details body. */
  readonly problem: ProblemDetails
  /** Every fault of the input, with a JSON pointer each; empty when the input was not at fault. */
  readonly faults: ReadonlyArray<ProblemFault>

  constructor(problem: Problem, cause?: unknown) {
    super(problem.detail, cause === undefined ? undefined : { cause })
    this.code = problem.code
    this.status = problem.status
    this.problem = detailsOf(problem, `urn:uuid:${crypto.randomUUID()}`)
    this.faults = problem.errors ?? []
  }
}

/** A failure as callers in the same process meet it: with what lies behind it as `cause`. */
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
