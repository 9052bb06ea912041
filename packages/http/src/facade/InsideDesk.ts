/** Finds calls of the service by the pickup desk that the service waits for: such a call could wait forever. */
import { AsyncLocalStorage } from "node:async_hooks"
import type { Problem } from "../shared/ProblemDetails.ts"
import { internalProblem } from "../shared/ProblemOf.ts"

interface DeskCall {
  readonly desk: unknown
  answered: boolean
}

const current = new AsyncLocalStorage<DeskCall>()

/** Calls the desk. What the desk starts and does not await may call the service after the desk has answered. */
export const insideDesk = async <A>(desk: unknown, call: () => Promise<A>): Promise<A> => {
  const deskCall: DeskCall = { desk, answered: false }
  try {
    return await current.run(deskCall, call)
  } finally {
    deskCall.answered = true
  }
}

/** Whether this desk is calling. */
export const isInsideDesk = (desk: unknown): boolean => {
  const deskCall = current.getStore()
  return deskCall !== undefined && deskCall.desk === desk && !deskCall.answered
}

export const calledByDesk: Problem<"internal_error"> = {
  ...internalProblem,
  detail: "The pickup desk called Waybill, which waits for the desk's answer. Send the desk's statements on its transaction, and call Waybill from elsewhere."
}
