/** Statuses, codes and details of failures, as each area declares them. */
import type { Problem } from "./ProblemDetails.ts"

type Tagged = { readonly _tag: string }

/** The status and the code of each failure. */
export type FailureTable<F extends Tagged> = Readonly<Record<F["_tag"], readonly [status: number, code: string]>>

/** Details of some failures besides their message. */
export type FailureDetails<F extends Tagged> = { readonly [Tag in F["_tag"]]?: (failure: Extract<F, { readonly _tag: Tag }>) => Partial<Omit<Problem, "code">> }
