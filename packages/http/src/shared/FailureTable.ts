/** Statuses, codes and details of failures, as each area declares them. */
import type { Problem } from "./ProblemDetails.ts"

type Tagged = { readonly _tag: string }

/** Members of a problem besides the message of its failure. */
export type FailureDetails = Partial<Omit<Problem, "code">>

/** The status, the code, and the details of a failure that has some. */
export type FailureTable<F extends Tagged> = {
  readonly [Tag in F["_tag"]]: readonly [status: number, code: string, details?: (failure: Extract<F, { readonly _tag: Tag }>) => FailureDetails]
}
